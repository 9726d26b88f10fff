"""Ways to break the rules of reports, guesses, platform events and holds."""

from functools import partial

from completions.choices import HoldState
from tests.db.constraints.rules import Case, twice
from tests.factories import NOW, make_completion, make_context, make_rater
from tests.factories_of_care import (
    make_alert,
    make_decision,
    make_event,
    make_guess,
    make_hold,
    make_report,
)

DECIDED = {"state": HoldState.RELEASED, "decided_at": NOW, "decision_reason": "a saying"}

CASES = [
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
    Case("platformevent_once", twice(make_event, event_id="one"), twice(make_event)),
    Case("platformevent_platform_known", partial(make_event, platform="OTHER")),
    Case("platformevent_id_given", partial(make_event, event_id="")),
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
