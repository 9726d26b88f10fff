"""Reads of audits of blinding."""

from annotation.choices import AuditState
from annotation.models import BlindingAudit, Study

SHOWN = 50


def audits_of(study: Study) -> list[BlindingAudit]:
    """Return the newest audits of a study, without their reports; one query."""
    audits = BlindingAudit.objects.filter(study=study).select_related("started_by")
    return list(audits.defer("report").order_by("-pk")[:SHOWN])


def audit_to_show(study: Study, *, pk: int | None) -> BlindingAudit | None:
    """Return the audit of that key, or the newest that has ended, or None."""
    audits = BlindingAudit.objects.filter(study=study).select_related("started_by", "study")
    if pk is not None:
        return audits.filter(pk=pk).first()
    return audits.exclude(state=AuditState.RUNNING).order_by("-pk").first()


def audit_under_way(study: Study) -> BlindingAudit | None:
    """Return the audit of the study that has not ended, or None."""
    return BlindingAudit.objects.filter(study=study, state=AuditState.RUNNING).first()
