"""Ways to break the rules of reports, guesses, platform events and holds."""

import datetime as dt
from functools import partial

from annotation.choices import TextState
from completions.choices import HoldState
from tests.heart_site.constraints.rules import Case, breaks, limit, once, twice, ways
from tests.helpers.factories import (
    NOW,
    make_completion,
    make_context,
    make_judgment,
    make_rater,
    make_study,
)
from tests.helpers.factories_of_calls import make_scan
from tests.helpers.factories_of_people import make_audit, make_event, make_report, make_submission

DAY = dt.timedelta(days=1)
DECIDED = {"state": HoldState.RELEASED, "decided_at": NOW, "decision_reason": "a saying"}

CASES = [
    once("RationaleScan.judgment", judgment=make_judgment, but="judgment"),
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
    breaks("rationalescan_says_what_read_what", "no rules", rules=""),
    breaks("rationalescan_says_what_read_what", "no hash", text_hash=""),
    breaks("rationaledecision_outcome_known", outcome="CLEAN"),
    once(
        "report_once_per_rater_and_context", rater=make_rater, context=make_context, but="context"
    ),
    breaks("report_kind_known", kind="OTHER"),
    once("ReportAlert.report", report=make_report),
    breaks("reportdecision_outcome_known", outcome="OTHER"),
    breaks("reportdecision_reason_given", reason=""),
    once(
        "sourceguess_once_per_completion",
        rater=make_rater,
        completion=make_completion,
        but="completion",
    ),
    breaks("sourceguess_known", guess="OTHER"),
    once("platformsubmission_once_per_number", rater=make_rater, but={"number": 2}),
    Case(
        "platformsubmission_once_per_session",
        twice(make_submission, rater=make_rater, session_id="x-1", changed={"number": 2}),
        twice(make_submission, rater=make_rater, changed={"number": 2}),
    ),
    breaks("platformsubmission_state_known", state="OTHER"),
    breaks("platformsubmission_number_from_one", number=0),
    Case("platformevent_once", twice(make_event, event_id="one"), twice(make_event)),
    breaks("platformevent_platform_known", platform="OTHER"),
    breaks("platformevent_id_given", event_id=""),
    once("PlatformStudy.key", key="same"),
    once("PlatformStudy.study", study=make_study),
    breaks("platformstudy_key_given", key=""),
    breaks("platformstudy_has_places", n_places=0),
    once("failedarrival_once_per_hour", study=make_study, but="study"),
    breaks("failedarrival_platform_known", platform="OTHER"),
    breaks("failedarrival_counts_one_at_least", n=0),
    *ways(
        "failedarrival_times_in_order",
        ({}, "the last before the first", {"last_at": NOW - DAY}),
        ({}, "the first before the hour", {"hour": NOW, "first_at": NOW - DAY}),
    ),
    once("blindingaudit_one_under_way", study=make_study),
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
    once("Hold.completion", completion=make_completion),
    breaks("hold_state_known", of=DECIDED, state="OTHER"),
    breaks("hold_decided_with_time_and_reason", "without a reason", of=DECIDED, decision_reason=""),
    breaks("hold_decided_with_time_and_reason", "decided and held", decided_at=NOW),
]
