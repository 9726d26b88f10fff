"""Ways to break the rules of studies, raters, comparisons and leases."""

from functools import partial

from annotation.choices import CheckKind, Platform, RaterState, StudyState
from completions.choices import LeaseOutcome
from tests.db.constraints.rules import Case, twice
from tests.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_lease,
    make_quality_check,
    make_rater,
    make_study,
)
from tests.factories_written_once import make_consent

CLOSED = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}
UNLOCKED = {"state": StudyState.DRAFT, "locked_at": None, "protocol_hash": ""}
PROLIFIC = {"platform": Platform.PROLIFIC, "external_id": "60d0fe4f5311236168a109ca"}


def make_same_pair(*, in_one_study):
    stored = make_comparison()
    study = stored.study if in_one_study else make_study(dataset=stored.study.dataset)
    return make_comparison(study=study, first=stored.first, second=stored.second)


def make_swapped_comparison():
    first = make_completion()
    second = make_completion(context=first.context)
    return make_comparison(first=second, second=first)


def make_comparison_with_itself():
    only = make_completion()
    return make_comparison(first=only, second=only)


def make_skipped_lease(**fields):
    skipped = {"closed_at": NOW, "outcome": LeaseOutcome.SKIPPED, "skip_reason": "upsetting"}
    return make_lease(**skipped | fields)


def make_shown_twice(*, as_check):
    """Show one comparison twice to one rater, the second time as a quality check perhaps."""
    check = make_quality_check(kind=CheckKind.REPEAT, expected="") if as_check else None
    comparison = check.comparison if check else make_comparison()
    rater = make_rater(study=comparison.study)
    make_lease(comparison=comparison, rater=rater, **CLOSED)
    return make_lease(comparison=comparison, rater=rater, quality_check=check, **CLOSED)


def make_check_shown_twice(*, to_one_rater):
    """Two kinds of check may be planted on a comparison; each is shown to a rater once."""
    check = make_quality_check()
    rater = make_rater()
    other = rater if to_one_rater else make_rater()
    make_lease(comparison=check.comparison, rater=rater, quality_check=check, **CLOSED)
    return make_lease(comparison=check.comparison, rater=other, quality_check=check, **CLOSED)


STUDIES = [
    Case("Study.slug", twice(make_study, slug="demo")),
    Case("study_protocol_known", partial(make_study, protocol="OTHER")),
    Case("study_state_known", partial(make_study, state="OTHER")),
    Case(
        "study_judgments_range",
        partial(make_study, judgments_per_pair=0),
        partial(make_study, judgments_per_pair=1),
        "none",
    ),
    Case(
        "study_judgments_range",
        partial(make_study, judgments_per_pair=1001),
        partial(make_study, judgments_per_pair=1000),
        "too many",
    ),
    Case("study_session_not_empty", partial(make_study, session_length=0)),
    Case("study_lease_not_empty", partial(make_study, lease_minutes=0)),
    Case(
        "study_locked_with_hash",
        partial(make_study, protocol_hash=""),
        make_study,
        "locked without a hash",
    ),
    Case(
        "study_locked_with_hash",
        partial(make_study, **UNLOCKED | {"protocol_hash": "a1"}),
        partial(make_study, **UNLOCKED),
        "a hash without being locked",
    ),
    *(
        Case(
            "study_runs_only_when_locked",
            partial(make_study, **UNLOCKED | {"state": state}),
            label=state.lower(),
        )
        for state in (StudyState.OPEN, StudyState.PAUSED, StudyState.CLOSED)
    ),
    Case("study_seed_given", partial(make_study, seed="")),
]

PEOPLE = [
    Case("Rater.code", twice(make_rater, code="R1")),
    Case("rater_platform_known", partial(make_rater, platform="OTHER", external_id="p1")),
    Case("rater_state_known", partial(make_rater, state="OTHER", ended_at=NOW)),
    Case(
        "rater_ended_with_time",
        partial(make_rater, state=RaterState.FINISHED),
        partial(make_rater, state=RaterState.FINISHED, ended_at=NOW),
        "ended without a time",
    ),
    Case("rater_ended_with_time", partial(make_rater, ended_at=NOW), label="active with a time"),
    Case(
        "rater_external_id_unless_guest",
        partial(make_rater, external_id="p1"),
        make_rater,
        "a guest with one",
    ),
    Case(
        "rater_external_id_unless_guest",
        partial(make_rater, platform=Platform.PROLIFIC),
        partial(make_rater, platform=Platform.PROLIFIC, state=RaterState.WITHDRAWN, ended_at=NOW),
        "from a platform without one",
    ),
    Case(
        "rater_once_per_external_id",
        twice(make_rater, study=make_study, **PROLIFIC),
        twice(make_rater, study=make_study, **PROLIFIC, changed={"platform": Platform.GENERIC}),
    ),
    Case(
        "rater_once_per_external_id",
        twice(make_rater, study=make_study, **PROLIFIC),
        twice(make_rater, **PROLIFIC),
        "but in each study",
    ),
    Case(
        "rater_utc_offset_range",
        partial(make_rater, utc_offset_minutes=841),
        partial(make_rater, utc_offset_minutes=840),
        "east",
    ),
    Case(
        "rater_utc_offset_range",
        partial(make_rater, utc_offset_minutes=-841),
        partial(make_rater, utc_offset_minutes=-840),
        "west",
    ),
    Case(
        "consent_once_per_text",
        twice(make_consent, rater=make_rater),
        twice(make_consent, rater=make_rater, changed={"text_hash": "other"}),
    ),
]

COMPARISONS = [
    Case(
        "comparison_pair_once",
        partial(make_same_pair, in_one_study=True),
        partial(make_same_pair, in_one_study=False),
    ),
    Case("comparison_canonical_order", make_swapped_comparison, make_comparison, "swapped"),
    Case("comparison_canonical_order", make_comparison_with_itself, label="with itself"),
    Case("comparison_purpose_known", partial(make_comparison, purpose="OTHER")),
    Case(
        "comparison_slots_not_negative",
        partial(make_comparison, slots_left=-1),
        partial(make_comparison, slots_left=0),
    ),
    Case("comparison_shown_not_negative", partial(make_comparison, shown_first_as_a=-1), label="A"),
    Case("comparison_shown_not_negative", partial(make_comparison, shown_first_as_b=-1), label="B"),
]

LEASES = [
    Case("Lease.token", twice(make_lease, token="0" * 32)),
    Case(
        "lease_positive_length",
        partial(make_lease, expires_at=NOW),
        partial(make_lease, expires_at=NOW + HOUR / 3600),
    ),
    Case(
        "lease_closed_with_outcome",
        partial(make_lease, closed_at=NOW),
        partial(make_lease, **CLOSED),
        "closed without an outcome",
    ),
    Case(
        "lease_closed_with_outcome",
        partial(make_lease, outcome=LeaseOutcome.EXPIRED),
        label="open with an outcome",
    ),
    Case(
        "lease_closed_with_outcome",
        partial(make_lease, closed_at=NOW, outcome="OTHER"),
        label="of an unknown outcome",
    ),
    Case(
        "lease_reason_only_when_skipped",
        partial(make_skipped_lease, outcome=LeaseOutcome.EXPIRED),
        make_skipped_lease,
    ),
    Case(
        "lease_one_open_per_rater",
        twice(make_lease, rater=make_rater),
        twice(make_lease, rater=make_rater, changed=CLOSED),
    ),
    Case(
        "lease_comparison_once_per_rater",
        partial(make_shown_twice, as_check=False),
        partial(make_shown_twice, as_check=True),
    ),
    Case(
        "lease_check_once_per_rater",
        partial(make_check_shown_twice, to_one_rater=True),
        partial(make_check_shown_twice, to_one_rater=False),
    ),
    Case("lease_side_known", partial(make_lease, first_side="C")),
]

CASES = [*STUDIES, *PEOPLE, *COMPARISONS, *LEASES]
