"""Ways to break the rules of studies, raters, comparisons and leases."""

from functools import partial

from annotation.choices import Platform, RaterState, StudyState
from annotation.models import Comparison
from completions.choices import LeaseOutcome
from tests.heart_site.constraints.rules import Case, twice
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_lease,
    make_quality_check,
    make_rater,
    make_study,
)
from tests.helpers.factories_written_once import make_consent

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


def make_alone_twice(*, in_one_study):
    """Rate one completion alone in one study twice, or in two."""
    stored = make_comparison()
    alone = {"context": stored.context, "first": stored.first, "second": None}
    other = stored.study if in_one_study else make_study(dataset=stored.study.dataset)
    Comparison.objects.create(study=stored.study, key="1", position=1, slots_left=1, **alone)
    return Comparison.objects.create(study=other, key="2", position=2, slots_left=1, **alone)


def make_repeats(*, of_one_lease):
    """Repeat one lease twice, or two leases once each."""
    earlier = make_lease(**CLOSED)
    other = earlier if of_one_lease else make_lease(**CLOSED)
    return [
        make_lease(comparison=one.comparison, rater=one.rater, repeats=one, **CLOSED)
        for one in (earlier, other)
    ]


def make_skipped_lease(**fields):
    skipped = {"closed_at": NOW, "outcome": LeaseOutcome.SKIPPED, "skip_reason": "upsetting"}
    return make_lease(**skipped | fields)


def make_shown_twice(*, as_check):
    """Show one comparison twice to one rater, the second time as a quality check perhaps."""
    check = make_quality_check() if as_check else None
    comparison = check.comparison if check else make_comparison()
    rater = make_rater(study=comparison.study)
    make_lease(comparison=comparison, rater=rater, **CLOSED)
    return make_lease(comparison=comparison, rater=rater, quality_check=check, **CLOSED)


def make_check_shown_twice(*, to_one_rater):
    """Show one check to two raters, or twice to one."""
    check = make_quality_check()
    rater = make_rater()
    other = rater if to_one_rater else make_rater()
    make_lease(comparison=check.comparison, rater=rater, quality_check=check, **CLOSED)
    return make_lease(comparison=check.comparison, rater=other, quality_check=check, **CLOSED)


STUDIES = [
    Case("study_plan_known", partial(make_study, plan="OTHER")),
    Case(
        "study_version_once",
        twice(make_study, name="winter"),
        twice(make_study, name="winter", changed={"version": 2}),
    ),
    Case("study_version_from_one", partial(make_study, version=0)),
    Case(
        "study_simulated_says_so",
        partial(make_study, is_simulated=True),
        partial(make_study, is_simulated=True, title="A simulated study"),
    ),
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
        "rater_once_per_form",
        twice(make_rater, study=make_study, bound_by="form"),
        twice(make_rater, bound_by="form"),
    ),
    Case("rater_stage_known", partial(make_rater, stage="OTHER")),
    Case(
        "rater_data_kept_unless_withdrawn",
        partial(make_rater, data_kept=False),
        partial(make_rater, data_kept=False, state=RaterState.WITHDRAWN, ended_at=NOW),
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
        "comparison_completion_alone_once",
        partial(make_alone_twice, in_one_study=True),
        partial(make_alone_twice, in_one_study=False),
    ),
    Case(
        "comparison_weight_positive",
        partial(make_comparison, weight=0),
        partial(make_comparison, weight=0.001),
    ),
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
    Case(
        "lease_number_once_per_rater",
        twice(make_lease, rater=make_rater, number=1, changed=CLOSED),
        twice(make_lease, rater=make_rater, number=1, changed=CLOSED | {"number": 2}),
    ),
    Case(
        "lease_repeated_once",
        partial(make_repeats, of_one_lease=True),
        partial(make_repeats, of_one_lease=False),
    ),
    Case(
        "lease_check_or_repeat",
        lambda: make_lease(quality_check=make_quality_check(), repeats=make_lease(**CLOSED)),
    ),
    Case(
        "lease_screens_with_a_check",
        partial(make_lease, is_screening=True),
        lambda: make_lease(quality_check=make_quality_check(), is_screening=True),
    ),
    Case(
        "lease_probability_range",
        partial(make_lease, sampling_probability=0),
        partial(make_lease, sampling_probability=1),
        "never",
    ),
    Case(
        "lease_probability_range",
        partial(make_lease, sampling_probability=1.1),
        label="more than certain",
    ),
    Case("lease_side_known", partial(make_lease, first_side="C")),
]

CASES = [*STUDIES, *PEOPLE, *COMPARISONS, *LEASES]
