"""The console's page on backups: which there are, and when each was last restored."""

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from access import background
from access.models import LogEntry
from access.roles import OWNERS, StaffRequest, members_only
from heart_site.backups.state import is_being_made, kept_backups

NEWEST = 5
FAILED = ("backup.failed", "restore.failed")


@require_safe
@members_only(OWNERS)
def backups(request: StaffRequest) -> HttpResponse:
    """List the backups, the newest first, with what their restores said."""
    parts = {
        "backups": kept_backups(settings.HEART_BACKUP_DIR),
        "folder": settings.HEART_BACKUP_DIR,
        "is_making": is_being_made(settings.HEART_BACKUP_DIR),
        "failures": LogEntry.objects.filter(action__in=FAILED).order_by("-pk")[:NEWEST],
    }
    return render(request, "console/team/backups.html", parts)


@require_POST
@members_only(OWNERS)
def make(request: StaffRequest) -> HttpResponse:
    """Have a worker make a backup."""
    background.hand_over("heart_site.tasks.make_backup", by=request.user.pk)
    messages.success(request, _("A worker makes a backup now. It appears below when it is whole."))
    return redirect("backups:all")


@require_POST
@members_only(OWNERS)
def try_restore(request: StaffRequest, name: str) -> HttpResponse:
    """Have a worker restore a backup into a scratch database."""
    if name not in {one.name for one in kept_backups(settings.HEART_BACKUP_DIR)}:
        raise Http404
    background.hand_over("heart_site.tasks.try_restore", name=name, by=request.user.pk)
    messages.success(request, _("A worker restores it now, into a database of its own."))
    return redirect("backups:all")
