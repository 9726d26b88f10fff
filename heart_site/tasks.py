"""Celery entry points of the site itself; each calls one function."""

from importlib import import_module
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from access.background import app
from annotation.audits import services

if TYPE_CHECKING:
    from heart_site.blinding import running
else:
    # Workers that call models know these tasks too, and need not carry the pages.
    running = SimpleLazyObject(lambda: import_module("heart_site.blinding.running"))


@app.task(ignore_result=True)
def run_audit(*, audit_id: int) -> None:
    """Run one claimed audit of blinding; safe to run twice."""
    running.run_audit(audit_id=audit_id, clock=timezone.now)


@app.task(ignore_result=True)
def reclaim_lost_audits() -> int:
    """Beat tick: hand each audit whose worker was lost to another."""
    lost = services.reclaim_lost_audits(now=timezone.now())
    for audit_id in lost:
        run_audit.delay(audit_id=audit_id)
    return len(lost)
