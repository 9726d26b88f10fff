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
from tests.helpers.factories_of_calls import make_scan, make_text_decision
from tests.helpers.factories_of_people import (
    make_alert,
    make_audit,
    make_decision,
    make_event,
    make_failed_arrival,
    make_guess,
    make_hold,
    make_platform_study,
    make_report,
    make_submission,
)

DAY = dt.timedelta(days=1)
DECIDED = {"state": HoldState.RELEASED, "decided_at": NOW, "decision_reason": "a saying"}

CASES = [
    once("RationaleScan.judgment", make_scan, judgment=make_judgment, but="judgment"),
    Case(
        "rationalescan_state_known",
        partial(make_scan, state="OTHER", n_passages=1),
        or_says="rationalescan_state_fits_passages",
    ),
    breaks(
        "rationalescan_state_fits_passages",
        make_scan,
        "clean with passages",
        n_passages=1,
        but={"state": TextState.WAITING},
    ),
    limit(
        "rationalescan_state_fits_passages",
        make_scan,
        "nothing to remove",
        state=(TextState.MASKED, TextState.WITHHELD),
    ),
    breaks("rationalescan_says_what_read_what", make_scan, "no rules", rules=""),
    breaks("rationalescan_says_what_read_what", make_scan, "no hash", text_hash=""),
    breaks("rationaledecision_outcome_known", make_text_decision, outcome="CLEAN"),
    once(
        "report_once_per_rater_and_context",
        make_report,
        rater=make_rater,
        context=make_context,
        but="context",
    ),
    breaks("report_kind_known", make_report, kind="OTHER"),
    Case("ReportAlert.report", twice(make_alert, report=make_report)),
    breaks("reportdecision_outcome_known", make_decision, outcome="OTHER"),
    breaks("reportdecision_reason_given", make_decision, reason=""),
    once(
        "sourceguess_once_per_completion",
        make_guess,
        rater=make_rater,
        completion=make_completion,
        but="completion",
    ),
    breaks("sourceguess_known", make_guess, guess="OTHER"),
    once(
        "platformsubmission_once_per_number", make_submission, rater=make_rater, but={"number": 2}
    ),
    Case(
        "platformsubmission_once_per_session",
        twice(make_submission, rater=make_rater, session_id="x-1", changed={"number": 2}),
        twice(make_submission, rater=make_rater, changed={"number": 2}),
    ),
    breaks("platformsubmission_state_known", make_submission, state="OTHER"),
    breaks("platformsubmission_number_from_one", make_submission, number=0),
    Case("platformevent_once", twice(make_event, event_id="one"), twice(make_event)),
    breaks("platformevent_platform_known", make_event, platform="OTHER"),
    breaks("platformevent_id_given", make_event, event_id=""),
    Case("PlatformStudy.key", twice(make_platform_study, key="same")),
    Case("PlatformStudy.study", twice(make_platform_study, study=make_study)),
    breaks("platformstudy_key_given", make_platform_study, key=""),
    breaks("platformstudy_has_places", make_platform_study, n_places=0),
    once("failedarrival_once_per_hour", make_failed_arrival, study=make_study, but="study"),
    breaks("failedarrival_platform_known", make_failed_arrival, platform="OTHER"),
    breaks("failedarrival_counts_one_at_least", make_failed_arrival, n=0),
    *ways(
        "failedarrival_times_in_order",
        (make_failed_arrival, "the last before the first", {"last_at": NOW - DAY}),
        (make_failed_arrival, "the first before the hour", {"hour": NOW, "first_at": NOW - DAY}),
    ),
    Case("blindingaudit_one_under_way", twice(make_audit, study=make_study)),
    breaks("blindingaudit_pages_wanted", make_audit, n_pages=0),
    breaks("blindingaudit_progress_within_total", make_audit, n_done=2, n_total=1),
    Case(
        "blindingaudit_state_known",
        partial(make_audit, state="OTHER"),
        or_says="blindingaudit_ended_by_state",
    ),
    *ways(
        "blindingaudit_ended_by_state",
        (make_audit, "ended while under way", {"ended_at": NOW}),
        (make_audit, "found while under way", {"holds": True}),
        (make_audit, "failed while under way", {"error": "lost"}),
        (make_audit, "done without a finding", {"state": "DONE", "ended_at": NOW}),
        (make_audit, "done without a time", {"state": "DONE", "holds": True}),
        (make_audit, "failed without a reason", {"state": "FAILED", "ended_at": NOW}),
    ),
    Case("Hold.completion", twice(make_hold, completion=make_completion)),
    breaks("hold_state_known", partial(make_hold, **DECIDED), state="OTHER"),
    breaks(
        "hold_decided_with_time_and_reason",
        partial(make_hold, **DECIDED),
        "without a reason",
        decision_reason="",
    ),
    breaks("hold_decided_with_time_and_reason", make_hold, "decided and held", decided_at=NOW),
]
