"""Ways to break the rules of reports, guesses, platform events and holds."""

import datetime as dt
from functools import partial

from annotation.choices import TextState
from completions.choices import HoldState
from tests.heart_site.constraints.rules import Case, twice
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
    Case(
        "RationaleScan.judgment",
        twice(make_scan, judgment=make_judgment),
        twice(make_scan),
    ),
    Case(
        "rationalescan_state_known",
        partial(make_scan, state="OTHER", n_passages=1),
        or_says="rationalescan_state_fits_passages",
    ),
    Case(
        "rationalescan_state_fits_passages",
        partial(make_scan, n_passages=1),
        partial(make_scan, n_passages=1, state=TextState.WAITING),
        "clean with passages",
    ),
    Case(
        "rationalescan_state_fits_passages",
        partial(make_scan, state=TextState.MASKED),
        partial(make_scan, state=TextState.WITHHELD),
        "nothing to remove",
    ),
    Case("rationalescan_says_what_read_what", partial(make_scan, rules=""), label="no rules"),
    Case("rationalescan_says_what_read_what", partial(make_scan, text_hash=""), label="no hash"),
    Case("rationaledecision_outcome_known", partial(make_text_decision, outcome="CLEAN")),
    Case(
        "report_once_per_rater_and_context",
        twice(make_report, rater=make_rater, context=make_context),
        twice(make_report, rater=make_rater),
    ),
    Case("report_kind_known", partial(make_report, kind="OTHER")),
    Case("ReportAlert.report", twice(make_alert, report=make_report)),
    Case("reportdecision_outcome_known", partial(make_decision, outcome="OTHER")),
    Case("reportdecision_reason_given", partial(make_decision, reason=""), make_decision),
    Case(
        "sourceguess_once_per_completion",
        twice(make_guess, rater=make_rater, completion=make_completion),
        twice(make_guess, rater=make_rater),
    ),
    Case("sourceguess_known", partial(make_guess, guess="OTHER")),
    Case(
        "platformsubmission_once_per_number",
        twice(make_submission, rater=make_rater),
        twice(make_submission, rater=make_rater, changed={"number": 2}),
    ),
    Case(
        "platformsubmission_once_per_session",
        twice(make_submission, rater=make_rater, session_id="x-1", changed={"number": 2}),
        twice(make_submission, rater=make_rater, changed={"number": 2}),
    ),
    Case("platformsubmission_state_known", partial(make_submission, state="OTHER")),
    Case("platformsubmission_number_from_one", partial(make_submission, number=0)),
    Case("platformevent_once", twice(make_event, event_id="one"), twice(make_event)),
    Case("platformevent_platform_known", partial(make_event, platform="OTHER")),
    Case("platformevent_id_given", partial(make_event, event_id="")),
    Case("PlatformStudy.key", twice(make_platform_study, key="same")),
    Case("PlatformStudy.study", twice(make_platform_study, study=make_study)),
    Case("platformstudy_key_given", partial(make_platform_study, key="")),
    Case("platformstudy_has_places", partial(make_platform_study, n_places=0)),
    Case(
        "failedarrival_once_per_hour",
        twice(make_failed_arrival, study=make_study),
        twice(make_failed_arrival),
    ),
    Case("failedarrival_platform_known", partial(make_failed_arrival, platform="OTHER")),
    Case("failedarrival_counts_one_at_least", partial(make_failed_arrival, n=0)),
    Case(
        "failedarrival_times_in_order",
        partial(make_failed_arrival, last_at=NOW - DAY),
        label="the last before the first",
    ),
    Case(
        "failedarrival_times_in_order",
        partial(make_failed_arrival, hour=NOW, first_at=NOW - DAY),
        label="the first before the hour",
    ),
    Case("blindingaudit_one_under_way", twice(make_audit, study=make_study)),
    Case("blindingaudit_pages_wanted", partial(make_audit, n_pages=0)),
    Case("blindingaudit_progress_within_total", partial(make_audit, n_done=2, n_total=1)),
    Case(
        "blindingaudit_state_known",
        partial(make_audit, state="OTHER"),
        or_says="blindingaudit_ended_by_state",
    ),
    Case(
        "blindingaudit_ended_by_state",
        partial(make_audit, ended_at=NOW),
        label="ended while under way",
    ),
    Case(
        "blindingaudit_ended_by_state",
        partial(make_audit, holds=True),
        label="found while under way",
    ),
    Case(
        "blindingaudit_ended_by_state",
        partial(make_audit, error="lost"),
        label="failed while under way",
    ),
    Case(
        "blindingaudit_ended_by_state",
        partial(make_audit, state="DONE", ended_at=NOW),
        label="done without a finding",
    ),
    Case(
        "blindingaudit_ended_by_state",
        partial(make_audit, state="DONE", holds=True),
        label="done without a time",
    ),
    Case(
        "blindingaudit_ended_by_state",
        partial(make_audit, state="FAILED", ended_at=NOW),
        label="failed without a reason",
    ),
    Case("Hold.completion", twice(make_hold, completion=make_completion)),
    Case("hold_state_known", partial(make_hold, **DECIDED | {"state": "OTHER"})),
    Case(
        "hold_decided_with_time_and_reason",
        partial(make_hold, **DECIDED | {"decision_reason": ""}),
        partial(make_hold, **DECIDED),
        "without a reason",
    ),
    Case(
        "hold_decided_with_time_and_reason",
        partial(make_hold, decided_at=NOW),
        label="decided and held",
    ),
]
