"""Ways to break the rules of reports, guesses, platform events and holds."""

from functools import partial

from annotation.choices import Platform, ReportKind, ReportOutcome, Source
from annotation.models import PlatformEvent, Report, ReportAlert, ReportDecision, SourceGuess
from completions.choices import HoldState
from completions.models import Hold
from tests.db.constraints.rules import Case, twice
from tests.factories import NOW, make_completion, make_context, make_lease, make_rater, make_study


def make_report(**fields):
    lease = fields.pop("lease", None) or make_lease()
    row = {"rater": lease.rater, "context": lease.comparison.context, "lease": lease}
    return Report.objects.create(
        **row | {"kind": ReportKind.CONTENT, "text": "", "reported_at": NOW} | fields
    )


def make_decision(**fields):
    row = {"outcome": ReportOutcome.DROPPED, "reason": "names a person", "decided_at": NOW}
    return ReportDecision.objects.create(study=make_study(), context=make_context(), **row | fields)


def make_alert(**fields):
    return ReportAlert.objects.create(**{"created_at": NOW} | fields)


def make_guess(**fields):
    rater = fields.pop("rater", None) or make_rater()
    completion = fields.pop("completion", None) or make_completion()
    return SourceGuess.objects.create(
        rater=rater,
        completion=completion,
        **{"guess": Source.PERSON, "guessed_at": NOW} | fields,
    )


def make_event(**fields):
    study = fields.pop("study", None) or make_study()
    row = {"platform": Platform.PROLIFIC, "event_id": "e-1", "kind": "x", "received_at": NOW}
    return PlatformEvent.objects.create(study=study, **row | fields)


def make_hold(**fields):
    completion = fields.pop("completion", None) or make_completion()
    row = {"reasons": [], "rules": "leaks-1", "held_at": NOW}
    return Hold.objects.create(completion=completion, **row | fields)


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
    Case("platformevent_once", twice(make_event), twice(make_event, changed={"event_id": "e-2"})),
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
