"""Celery entry points of the site itself; each calls one function."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from access.background import app, why_ended
from access.later import call_of
from access.log import record
from annotation import audits
from completions.runs.services.asking import outlasting
from completions.runs.services.exclusive import AWAY
from heart_site.backups import services as backup_services
from heart_site.backups.state import BackupError

logger = logging.getLogger(__name__)
# Workers that call models know these tasks too, and need not carry the pages.
audit_now = call_of("heart_site.blinding.auditing.run_audit")
BROKEN = "It ended with an error of the software, which is in the log of the site."
GONE = "The database went away meanwhile. Please ask for it again."


@app.task(ignore_result=True)
def run_audit(*, audit_id: int) -> None:
    """Run one claimed audit of blinding; safe to run twice."""
    audit_now(audit_id=audit_id, clock=timezone.now)


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
    with _telling("backup.failed", "backup", by=by):
        made = backup_services.make_backup(settings.HEART_BACKUP_DIR, now=begun)
        _log("backup.made", made.name, by=by)


@app.task(ignore_result=True)
def try_restore(*, name: str, by: int) -> None:
    """Restore a backup into a scratch database for a member; safe to run twice."""
    folder = settings.HEART_BACKUP_DIR / Path(name).name
    with _telling("restore.failed", name, by=by):
        said = backup_services.try_restore(folder, now=timezone.now())
        _log("restore.tried", name, by=by, said=said)


@contextmanager
def _telling(action: str, subject: str, *, by: int) -> Iterator[None]:
    """Write down why something could not be done."""
    try:
        yield
    except BackupError as error:
        _log(action, subject, by=by, said=str(error))
    except Exception as error:
        logger.exception("%s: %s", action, subject)
        _log(
            action,
            subject,
            by=by,
            said=why_ended(error, GONE if isinstance(error, AWAY) else BROKEN),
        )


@outlasting  # what broke it off may be a restart of the database
def _log(action: str, subject: str, *, by: int, **after: object) -> None:
    user = User.objects.filter(pk=by).first()
    record(action=action, subject=subject, now=timezone.now(), by=user, after=after)
