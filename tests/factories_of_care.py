"""Builders of reports, guesses, platform events, audits and holds."""

import itertools
from typing import Any

from annotation.choices import Platform, ReportKind, ReportOutcome, Source
from annotation.models import (
    BlindingAudit,
    FailedArrival,
    PlatformEvent,
    PlatformSubmission,
    Report,
    ReportAlert,
    ReportDecision,
    SourceGuess,
)
from completions.models import Hold
from tests.factories import NOW, make_completion, make_context, make_lease, make_rater, make_study

_serial = itertools.count(1)


def make_report(**fields: Any) -> Report:
    lease = fields.pop("lease", None) or make_lease()
    row = {"rater": lease.rater, "context": lease.comparison.context, "lease": lease}
    return Report.objects.create(
        **row | {"kind": ReportKind.CONTENT, "text": "", "reported_at": NOW} | fields
    )


def make_decision(**fields: Any) -> ReportDecision:
    row = {"outcome": ReportOutcome.DROPPED, "reason": "names a person", "decided_at": NOW}
    return ReportDecision.objects.create(study=make_study(), context=make_context(), **row | fields)


def make_alert(**fields: Any) -> ReportAlert:
    report = fields.pop("report", None) or make_report()
    return ReportAlert.objects.create(report=report, **{"created_at": NOW} | fields)


def make_guess(**fields: Any) -> SourceGuess:
    rater = fields.pop("rater", None) or make_rater()
    completion = fields.pop("completion", None) or make_completion()
    return SourceGuess.objects.create(
        rater=rater,
        completion=completion,
        **{"guess": Source.PERSON, "guessed_at": NOW} | fields,
    )


def make_submission(**fields: Any) -> PlatformSubmission:
    rater = fields.pop("rater", None) or make_rater()
    row = {"number": 1, "opened_at": NOW, "changed_at": NOW}
    return PlatformSubmission.objects.create(rater=rater, **row | fields)


def make_event(**fields: Any) -> PlatformEvent:
    study = fields.pop("study", None) or make_study()
    row = {
        "platform": Platform.PROLIFIC,
        "event_id": f"e-{next(_serial)}",
        "kind": "x",
        "received_at": NOW,
    }
    return PlatformEvent.objects.create(study=study, **row | fields)


def make_failed_arrival(**fields: Any) -> FailedArrival:
    study = fields.pop("study", None) or make_study()
    hour = fields.pop("hour", NOW.replace(minute=0, second=0, microsecond=0))
    row = {"platform": Platform.PROLIFIC, "hour": hour, "first_at": hour, "last_at": hour}
    return FailedArrival.objects.create(study=study, **row | fields)


def make_hold(**fields: Any) -> Hold:
    completion = fields.pop("completion", None) or make_completion()
    row = {"reasons": [], "rules": "leaks-1", "held_at": NOW}
    return Hold.objects.create(completion=completion, **row | fields)


def make_audit(**fields: Any) -> BlindingAudit:
    study = fields.pop("study", None) or make_study()
    row = {"n_pages": 100, "seed": 1, "started_at": NOW, "claimed_at": NOW}
    return BlindingAudit.objects.create(study=study, **row | fields)
