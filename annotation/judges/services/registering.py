"""Register LLM judges: one by one, or as a catalogue says."""

import datetime as dt
from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotation.judges.judge_catalogue import JudgeEntry
from annotation.models import Judge
from completions.systems.services.syncing import SyncReport, sync

IDENTITY = ("family", "model_id")
"""What judgments say they are from, and what kept a judge from its own family."""


def register_simulated_judge(*, slug: str, name: str, family: str, model_id: str) -> Judge:
    """Return the simulated judge of that slug, adding it if need be; one that exists stays."""
    judge, _ = Judge.objects.get_or_create(
        slug=slug,
        defaults={"name": name, "family": family, "model_id": model_id, "is_simulated": True},
    )
    return judge


def sync_judges(
    *,
    entries: Iterable[JudgeEntry],
    now: dt.datetime,
    is_dry_run: bool = False,
    by: User | None = None,
) -> SyncReport:
    """Add and change judges until the table says what the catalogue says; remove nothing.

    A judge that the catalogue cannot have is refused with the reason, and the others go on.
    Doing it again changes nothing. A dry run reports and writes nothing.
    """
    return sync(_Judges(), entries, now=now, is_dry_run=is_dry_run, by=by)


class _Judges:
    """The table of judges, as a catalogue fills it."""

    of = "judge"

    def rows(self) -> QuerySet[Judge]:
        """Return all judges."""
        return Judge.objects.all()

    def columns(self, entry: JudgeEntry) -> dict[str, Any]:
        """Return what an entry puts into the table."""
        return {
            "name": entry.name,
            "family": entry.family,
            "model_id": entry.model_id,
            "api_base": entry.api_base or "",
            "parameters": entry.parameters.as_stored(),
        }

    def clash(self, _entry: JudgeEntry, held: Judge, changed: list[str]) -> str:
        """Say why the row of this slug cannot become what the entry says, or nothing."""
        if held.is_simulated:
            return "the slug belongs to a simulated judge"
        fixed = [field for field in changed if field in IDENTITY]
        if fixed and held.calls.exists():
            named = " and ".join(fixed)
            return f"it has calls already, so its {named} cannot change: use another slug"
        return ""
