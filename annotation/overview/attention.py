"""What waits for somebody of the team, over all studies and datasets, in two queries."""

import datetime as dt
from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db.models import CharField, Count, F, Value
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from annotation.choices import TextState
from annotation.models import RationaleScan
from annotation.overview.queries import StudyRow
from annotation.rationales import passages
from completions.choices import HoldState, JobState, MessageState, PauseReason, Review, RunState
from completions.models import Context, Hold, Job, Message
from completions.runs.view_data import KINDS, run_models

Rows: TypeAlias = Any
"""A queryset: of which model, or of which tuples, differs."""
RECENT = dt.timedelta(days=7)
"""How long a job that failed is shown."""
NEARLY_FULL = 0.9
"""The share of judgments from which on a study is about to fill."""


@dataclass(frozen=True)
class Need:
    """Something that waits: whose it is, in words what, and the page on which it is done."""

    whose: str
    what: str
    url: str
    is_bad: bool = False


_WAITING: dict[str, tuple[Promise, str, str]] = {
    "messages": (
        ngettext_lazy("%(number)s text to review", "%(number)s texts to review", "n"),
        "writing:messages",
        "",
    ),
    "held": (
        ngettext_lazy("%(number)s completion held back", "%(number)s completions held back", "n"),
        "contexts:held",
        "",
    ),
    "contexts": (
        ngettext_lazy("%(number)s context to review", "%(number)s contexts to review", "n"),
        "contexts:list",
        "?review=PENDING",
    ),
    "reasons": (
        ngettext_lazy(
            "%(number)s reason to decide about", "%(number)s reasons to decide about", "n"
        ),
        "console:personal_data",
        "",
    ),
}
"""What is counted: its words, and the page and query on which it is done."""


def needs(studies: list[StudyRow], *, now: dt.datetime) -> list[Need]:
    """Return what waits, the broken first, then studies almost or wholly full, then reviews."""
    return [*_broken(now), *_filling(studies), *_reviews()]


def _broken(now: dt.datetime) -> list[Need]:
    """Return the runs that stand still and the jobs that failed lately."""
    jobs = Job.objects.filter(state=JobState.FAILED, ended_at__gt=now - RECENT)
    found: list[Rows] = [_named(jobs, Value(""), "pk", "dataset__name")]
    for kind, model in run_models().items():
        rows = model._default_manager.filter(state=RunState.PAUSED)  # noqa: SLF001
        held = rows.exclude(pause_reason=PauseReason.ADMIN)
        of = "study__title" if hasattr(model, "study") else "dataset__name"
        found.append(_named(held, Value(kind), "pk", of))
    broken = []
    for kind, pk, whose in found[0].union(*found[1:], all=True):
        if kind:
            what = _("%(kind)s, run %(n)s, stands still") % {"kind": KINDS[kind], "n": pk}
            broken.append(Need(whose, what, reverse("models:run", args=[kind, pk]), is_bad=True))
        else:
            url = reverse("data:job", args=[pk])
            broken.append(Need(whose or "", _("A job failed"), url, is_bad=True))
    return broken


def _named(rows: Rows, kind: Value, *names: str) -> Rows:
    found: Rows = rows.order_by().values_list(kind, *names)
    return found


def _filling(studies: list[StudyRow]) -> list[Need]:
    return [
        Need(
            one.title,
            _("About to fill") if one.tally.done < one.tally.wanted else _("Every judgment is in"),
            reverse("console:study", args=[one.slug]),
        )
        for one in studies
        if one.is_open and 0 < NEARLY_FULL * one.tally.wanted <= one.tally.done
    ]


def _reviews() -> list[Need]:
    waiting = Message.objects.filter(state=MessageState.WAITING)
    held = Hold.objects.filter(state=HoldState.HELD)
    contexts = Context.objects.filter(review=Review.PENDING, dataset__is_for_checks=False)
    reasons = RationaleScan.objects.filter(state=TextState.WAITING, rules=passages.version())
    found = [
        _counted("messages", waiting, "lease__context__dataset", "name"),
        _counted("held", held, "completion__context__dataset", "name"),
        _counted("reasons", reasons, "judgment__comparison__study", "title"),
        _counted("contexts", contexts, "dataset", "name"),
    ]
    needs = []
    for kind, slug, whose, n in found[0].union(*found[1:], all=True):
        words, page, query = _WAITING[kind]
        url = f"{reverse(page, args=[slug])}{query}"
        needs.append(Need(whose, str(words % {"n": n, "number": f"{n:,}"}), url))
    return sorted(needs, key=lambda one: (one.whose, one.url))


def _counted(kind: str, rows: Rows, of: str, name: str) -> Rows:
    """Return kind, slug, name and number of the rows of each dataset or study."""
    labelled = rows.order_by().annotate(kind=Value(kind, output_field=CharField()))
    grouped = labelled.values("kind", slug=F(f"{of}__slug"), whose=F(f"{of}__{name}"))
    counted = grouped.annotate(n=Count("pk"))
    found: Rows = counted.values_list("kind", "slug", "whose", "n")
    return found
