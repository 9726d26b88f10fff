"""Celery entry points of the site itself; each calls one function."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from access.background import app
from access.log import record
from annotation import audits
from heart_site.backups import services as backup_services
from heart_site.backups.state import BackupError

if TYPE_CHECKING:
    from heart_site.blinding import auditing
else:
    # Workers that call models know these tasks too, and need not carry the pages.
    auditing = SimpleLazyObject(lambda: import_module("heart_site.blinding.auditing"))


@app.task(ignore_result=True)
def run_audit(*, audit_id: int) -> None:
    """Run one claimed audit of blinding; safe to run twice."""
    auditing.run_audit(audit_id=audit_id, clock=timezone.now)


@app.task(ignore_result=True)
def reclaim_lost_audits() -> int:
    """Beat tick: hand each audit whose worker was lost to another."""
    lost = audits.reclaim_lost_audits(now=timezone.now())
    for audit_id in lost:
        run_audit.delay(audit_id=audit_id)
    return len(lost)


@app.task(ignore_result=True)
def make_backup(*, by: int) -> None:
    """Make a backup for a member; one that cannot be made says why in the log."""
    begun = timezone.now()
    try:
        subject = backup_services.make_backup(settings.HEART_BACKUP_DIR, now=begun).name
    except BackupError as error:
        _log("backup.failed", "backup", by=by, said=str(error))
    else:
        _log("backup.made", subject, by=by)


@app.task(ignore_result=True)
def try_restore(*, name: str, by: int) -> None:
    """Restore a backup into a scratch database for a member; safe to run twice."""
    try:
        said = backup_services.try_restore(
            settings.HEART_BACKUP_DIR / Path(name).name, now=timezone.now()
        )
    except BackupError as error:
        _log("restore.failed", name, by=by, said=str(error))
    else:
        _log("restore.tried", name, by=by, said=said)


def _log(action: str, subject: str, *, by: int, **after: object) -> None:
    user = User.objects.filter(pk=by).first()
    record(action=action, subject=subject, now=timezone.now(), by=user, after=after)
