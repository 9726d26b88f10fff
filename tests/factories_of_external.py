"""Builders of judgments made elsewhere."""

import itertools
from typing import Any

from annotation.models import ExternalBatch, ExternalDecision, ExternalJudgment
from tests.factories import NOW, digest, make_comparison, make_study
from tests.factories_written_once import make_user

_serial = itertools.count(1)


def make_batch(**fields: Any) -> ExternalBatch:
    row = {
        "source": "Lab Elm",
        "reference": f"batch-{next(_serial)}",
        "url": "https://elm.example/raters",
        "licence": "CC-BY-4.0",
        "recruitment": "Students of one course.",
        "consent": "To publication without names.",
        "collected_from": NOW.date(),
        "collected_until": NOW.date(),
        "is_simulated": False,
        "content_digest": digest("batch"),
        "protocol_hash": digest("protocol"),
        "received_at": NOW,
    }
    people = {"received_by": fields.pop("received_by", None) or make_user()}
    return ExternalBatch.objects.create(
        study=fields.pop("study", None) or make_study(), **people, **row | fields
    )


def make_external(**fields: Any) -> ExternalJudgment:
    batch = fields.pop("batch", None) or make_batch()
    comparison = fields.pop("comparison", None) or make_comparison(study=batch.study)
    row = {"rater": f"e{next(_serial):04d}", "verdict": 1}
    return ExternalJudgment.objects.create(batch=batch, comparison=comparison, **row | fields)


def make_batch_decision(**fields: Any) -> ExternalDecision:
    batch = fields.pop("batch", None) or make_batch()
    who = fields.pop("decided_by", None) or make_user()
    row = {"is_excluded": True, "reason": "Consent was taken back.", "decided_at": NOW}
    return ExternalDecision.objects.create(batch=batch, decided_by=who, **row | fields)
