"""Ways to break the rules of studies, raters, comparisons, leases, and of what raters report."""

import datetime as dt
from functools import partial

from annotation.choices import Platform, RaterState, StudyState, TextState
from annotation.models import Comparison
from completions.choices import HoldState, LeaseOutcome
from tests.heart_site.constraints.rules import (
    Case,
    breaks,
    given,
    known,
    limit,
    once,
    once_within,
    ways,
)
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
from tests.helpers.factories_of_calls import make_scan
from tests.helpers.factories_of_people import make_audit

CLOSED = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}
GENERIC = {"platform": Platform.GENERIC}
CHECK = {"quality_check": make_quality_check}
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


DAY = dt.timedelta(days=1)
DECIDED = {"state": HoldState.RELEASED, "decided_at": NOW, "decision_reason": "a saying"}


CASES = [
    # Studies
    *known("study_plan", "study_protocol", "study_state"),
    once("study_version_once", name="winter", but={"version": 2}),
    breaks("study_version_from_one", version=0),
    breaks("study_simulated_says_so", is_simulated=True, but={"title": "A simulated study"}),
    once("Study.slug", slug="demo"),
    limit("study_judgments_range", "none", judgments_per_pair=(0, 1)),
    limit("study_judgments_range", "too many", judgments_per_pair=(1001, 1000)),
    breaks("study_session_not_empty", session_length=0),
    breaks("study_lease_not_empty", lease_minutes=0),
    breaks("study_locked_with_hash", "locked without a hash", protocol_hash=""),
    breaks(
        "study_locked_with_hash", "a hash without being locked", of=UNLOCKED, protocol_hash="a1"
    ),
    *(
        breaks("study_runs_only_when_locked", state.lower(), of=UNLOCKED, state=state)
        for state in (StudyState.OPEN, StudyState.PAUSED, StudyState.CLOSED)
    ),
    breaks("study_seed_given", seed=""),
    # Raters
    once("Rater.code", code="R1"),
    breaks("rater_platform_known", platform="OTHER", external_id="p1"),
    breaks("rater_state_known", state="OTHER", ended_at=NOW),
    *ways(
        "rater_ended_with_time",
        ({}, "ended without a time", {"state": RaterState.FINISHED}, {"ended_at": NOW}),
        ({}, "active with a time", {"ended_at": NOW}),
    ),
    breaks("rater_external_id_unless_guest", "a guest with one", external_id="p1"),
    breaks(
        "rater_external_id_unless_guest",
        "from a platform without one",
        platform=Platform.PROLIFIC,
        but={"state": RaterState.WITHDRAWN, "ended_at": NOW},
    ),
    once("rater_once_per_external_id", "study", **PROLIFIC, but=GENERIC),
    once("rater_once_per_external_id", "study", label="but in each study", **PROLIFIC, but="study"),
    once("rater_once_per_form", "study", bound_by="form", but="study"),
    *known("rater_stage"),
    breaks(
        "rater_data_kept_unless_withdrawn",
        data_kept=False,
        but={"state": RaterState.WITHDRAWN, "ended_at": NOW},
    ),
    limit("rater_utc_offset_range", "east", utc_offset_minutes=(841, 840)),
    limit("rater_utc_offset_range", "west", utc_offset_minutes=(-841, -840)),
    once("consent_once_per_text", "rater", but={"text_hash": "other"}),
    # Comparisons
    limit("comparison_completion_alone_once", of=make_alone_twice, in_one_study=(True, False)),
    limit("comparison_weight_positive", weight=(0, 0.001)),
    limit("comparison_pair_once", of=make_same_pair, in_one_study=(True, False)),
    Case("comparison_canonical_order", make_swapped_comparison, make_comparison, "swapped"),
    Case("comparison_canonical_order", make_comparison_with_itself, label="with itself"),
    *known("comparison_purpose"),
    limit("comparison_slots_not_negative", slots_left=(-1, 0)),
    breaks("comparison_shown_not_negative", "A", shown_first_as_a=-1),
    breaks("comparison_shown_not_negative", "B", shown_first_as_b=-1),
    # Leases
    once("Lease.token", token="0" * 32),
    limit("lease_positive_length", expires_at=(NOW, NOW + HOUR / 3600)),
    *ways(
        "lease_closed_with_outcome",
        (CLOSED, "closed without an outcome", {"outcome": ""}),
        ({}, "open with an outcome", {"outcome": LeaseOutcome.EXPIRED}),
        ({}, "of an unknown outcome", {"closed_at": NOW, "outcome": "OTHER"}),
    ),
    breaks("lease_reason_only_when_skipped", of=make_skipped_lease, outcome=LeaseOutcome.EXPIRED),
    once("lease_one_open_per_rater", "rater", but=CLOSED),
    limit("lease_comparison_once_per_rater", of=make_shown_twice, as_check=(False, True)),
    limit("lease_check_once_per_rater", of=make_check_shown_twice, to_one_rater=(True, False)),
    once("lease_number_once_per_rater", "rater", of=CLOSED, number=1, but={"number": 2}),
    limit("lease_repeated_once", of=make_repeats, of_one_lease=(True, False)),
    breaks(
        "lease_check_or_repeat",
        quality_check=make_quality_check,
        repeats=partial(make_lease, **CLOSED),
    ),
    breaks("lease_screens_with_a_check", is_screening=True, but=CHECK),
    limit("lease_probability_range", "never", sampling_probability=(0, 1)),
    breaks("lease_probability_range", "more than certain", sampling_probability=1.1),
    breaks("lease_side_known", first_side="C"),
    # What raters report, and what is done about it
    once("RationaleScan.judgment", "judgment", but="judgment"),
    Case(
        "rationalescan_state_known",
        partial(make_scan, state="OTHER", n_passages=1),
        or_says="rationalescan_state_fits_passages",
    ),
    breaks(
        "rationalescan_state_fits_passages",
        "clean with passages",
        n_passages=1,
        but={"state": TextState.WAITING},
    ),
    limit(
        "rationalescan_state_fits_passages",
        "nothing to remove",
        state=(TextState.MASKED, TextState.WITHHELD),
    ),
    *given("rationalescan_says_what_read_what", "rules", "text_hash"),
    breaks("rationaledecision_outcome_known", outcome="CLEAN"),
    once("report_once_per_rater_and_context", "rater", "context", but="context"),
    *known("report_kind", "reportdecision_outcome"),
    once("ReportAlert.report", "report"),
    breaks("reportdecision_reason_given", reason=""),
    once("sourceguess_once_per_completion", "rater", "completion", but="completion"),
    breaks("sourceguess_known", guess="OTHER"),
    once("platformsubmission_once_per_number", "rater", but={"number": 2}),
    once_within(
        "platformsubmission_once_per_session", {"session_id": "x-1"}, "rater", changed={"number": 2}
    ),
    *known("platformsubmission_state", "platformevent_platform", "failedarrival_platform"),
    breaks("platformsubmission_number_from_one", number=0),
    once_within("platformevent_once", {"event_id": "one"}),
    breaks("platformevent_id_given", event_id=""),
    once("PlatformStudy.key", key="same"),
    once("PlatformStudy.study", "study"),
    breaks("platformstudy_key_given", key=""),
    breaks("platformstudy_has_places", n_places=0),
    once("failedarrival_once_per_hour", "study", but="study"),
    breaks("failedarrival_counts_one_at_least", n=0),
    *ways(
        "failedarrival_times_in_order",
        ({}, "the last before the first", {"last_at": NOW - DAY}),
        ({}, "the first before the hour", {"hour": NOW, "first_at": NOW - DAY}),
    ),
    once("blindingaudit_one_under_way", "study"),
    breaks("blindingaudit_pages_wanted", n_pages=0),
    breaks("blindingaudit_progress_within_total", n_done=2, n_total=1),
    Case(
        "blindingaudit_state_known",
        partial(make_audit, state="OTHER"),
        or_says="blindingaudit_ended_by_state",
    ),
    *ways(
        "blindingaudit_ended_by_state",
        ({}, "ended while under way", {"ended_at": NOW}),
        ({}, "found while under way", {"holds": True}),
        ({}, "failed while under way", {"error": "lost"}),
        ({}, "done without a finding", {"state": "DONE", "ended_at": NOW}),
        ({}, "done without a time", {"state": "DONE", "holds": True}),
        ({}, "failed without a reason", {"state": "FAILED", "ended_at": NOW}),
    ),
    once("Hold.completion", "completion"),
    breaks("hold_state_known", of=DECIDED, state="OTHER"),
    breaks("hold_decided_with_time_and_reason", "without a reason", of=DECIDED, decision_reason=""),
    breaks("hold_decided_with_time_and_reason", "decided and held", decided_at=NOW),
]
