"""Reads of the live overview of a study: what is done, moving and failing, counted in SQL."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.apps import MORE_ALERTS
from annotation.choices import Platform, StudyState
from annotation.models import Exclusion, JudgeRun, Lease, RationaleRun, Study
from annotation.overview import queries
from annotation.overview.queries import StudyRow
from annotation.quality import report_queries
from annotation.raters import entry_links, entry_queries
from annotation.studies import pace
from annotation.studies.counts import StudyCounts, number_of
from annotation.studies.pace import Pace
from annotation.studies.stored_figures import StoredFigures
from completions.choices import CallState, HoldState, PauseReason, RunState
from completions.models import GenerationCall, GenerationRun, Hold, LabellingRun, Run
from completions.runs.view_data import KINDS

NEARLY_FULL = 0.05
"""Share of the judgments by people that is left, from which a study is nearly full."""


@dataclass(frozen=True)
class Alert:
    """Something that somebody should look at, and where."""

    text: str | Promise
    url: str
    is_bad: bool = False


@dataclass(frozen=True)
class Spend:
    """What calls to models have cost, in US dollars; ``budget`` is None while a run has none."""

    spent: Decimal
    reserved: Decimal
    budget: Decimal | None
    n_runs: int


@dataclass(frozen=True)
class StudyProgress:
    """How a study stands now.

    ``left`` is None while nobody can tell; it is for judgments by people, at the pace of people.
    ``shown`` says as of when its counts are: those of a large study come from a worker.
    """

    row: StudyRow
    shown: StoredFigures[StudyCounts]
    n_contexts_dropped: int
    n_held: int
    n_leases: int
    n_failed: int
    n_checks: int
    n_held_pairs: int
    people: Pace
    judges: Pace
    left: dt.timedelta | None
    spend: Spend
    alerts: tuple[Alert, ...]

    @property
    def is_moving(self) -> bool:
        """Whether its numbers may change by themselves: then the page asks again."""
        return not self.row.is_closed or not self.shown.is_current


def study_progress(
    study: Study, shown: StoredFigures[StudyCounts], *, now: dt.datetime
) -> StudyProgress:
    """Return how the study stands, given its counts, in six queries and ``MORE_ALERTS``."""
    parts, runs = _parts(study, now), _runs(study)
    counts = shown.figures or StudyCounts()
    row = StudyRow.of(study, counts.tally, is_counted=shown.figures is not None)
    return StudyProgress(
        row=row,
        shown=shown,
        n_contexts_dropped=counts.n_contexts_dropped,
        n_held=parts["held"],
        n_leases=parts["leases"],
        n_failed=parts["failed"],
        n_checks=parts["checks"],
        n_held_pairs=counts.n_held_pairs,
        people=counts.people,
        judges=counts.judges,
        left=pace.time_left(row.tally.slots_left + parts["leases"], counts.people),
        spend=_spend(runs),
        alerts=(*_alerts(study, row, parts, runs), *_more(study)),
    )


def _parts(study: Study, now: dt.datetime) -> dict[str, int]:
    """Return counts of tables that have nothing to do with each other, in one query."""
    of_dataset = {"context__dataset": study.dataset_id}
    calls = GenerationCall.objects.filter(state=CallState.FAILED, **of_dataset)
    wanted: dict[str, QuerySet[Any]] = {
        "held": Hold.objects.filter(
            state=HoldState.HELD, completion__context__dataset=study.dataset_id
        ),
        "leases": Lease.objects.filter(rater__study=study, closed_at=None),
        "failed": calls,
        "checks": queries.active_checks(study),
        "excluded": _lately_excluded(study, now),
    }
    one = Study.objects.filter(pk=study.pk)
    numbers = {name: number_of(rows) for name, rows in wanted.items()}
    turned_away = {
        platform: entry_queries.n_failed_arrivals(study, platform, now=now)
        for platform in entry_links.FILLED_IN
    }
    found: Any = one.values(**numbers, **turned_away)
    return dict(found.get())


def _lately_excluded(study: Study, now: dt.datetime) -> QuerySet[Exclusion]:
    """Return of each rater who was left out in the last day, and still is, the newest decision."""
    newer = Exclusion.objects.filter(
        Q(decided_at__gt=OuterRef("decided_at"))
        | Q(decided_at=OuterRef("decided_at"), pk__gt=OuterRef("pk")),
        rater=OuterRef("rater"),
    )
    lately = Exclusion.objects.filter(rater__study=study, decided_at__gt=now - pace.DAY)
    return lately.filter(~Exists(newer), is_excluded=True)


def _runs(study: Study) -> list[Run]:
    """Return the runs about the study and its dataset, in four queries."""
    return [
        *JudgeRun.objects.filter(study=study),
        *RationaleRun.objects.filter(study=study),
        *GenerationRun.objects.filter(dataset=study.dataset_id),
        *LabellingRun.objects.filter(dataset=study.dataset_id),
    ]


def _spend(runs: list[Run]) -> Spend:
    budgets = [run.budget_usd for run in runs]
    return Spend(
        spent=sum((run.spent_usd for run in runs), Decimal()),
        reserved=sum((run.reserved_usd for run in runs), Decimal()),
        budget=None if None in budgets else sum((one for one in budgets if one), Decimal()),
        n_runs=len(runs),
    )


def _more(study: Study) -> list[Alert]:
    return [alert for reader in MORE_ALERTS for alert in import_string(reader)(study)]


def _of_arrivals(study: Study, parts: dict[str, int]) -> list[Alert]:
    """Tell whose links bring nobody in, and what they have to be: people are turned away now."""
    text = _(
        "Broken links of %(platform)s in the last day: %(n)s. They have to end like this: %(link)s"
    )
    url = f"{reverse('console:study', args=[study.slug])}#links"
    return [
        Alert(text % {"platform": Platform(name).label, "n": n, "link": link}, url, is_bad=True)
        for name, link in entry_links.FILLED_IN.items()
        if (n := parts[name])
    ]


def _alerts(study: Study, row: StudyRow, parts: dict[str, int], runs: list[Run]) -> list[Alert]:
    found = [
        *_of_arrivals(study, parts),
        *_of_reports(study),
        *_of_counts(study, parts),
        *(_of_run(run) for run in runs if run.state == RunState.PAUSED),
    ]
    left = row.tally.slots_left
    if study.state == StudyState.OPEN and 0 < left <= NEARLY_FULL * row.tally.wanted:
        text = ngettext(
            "Nearly full: %(n)s judgment by people is left.",
            "Nearly full: %(n)s judgments by people are left.",
            left,
        )
        url = f"{reverse('raters:comparisons', args=[study.slug])}?show=open"
        found.append(Alert(text % {"n": f"{left:,}"}, url))
    return found


def _of_reports(study: Study) -> list[Alert]:
    n = report_queries.n_waiting(study)
    if not n:
        return []
    text = ngettext(
        "%(n)s reported conversation waits for a decision.",
        "%(n)s reported conversations wait for a decision.",
        n,
    )
    return [
        Alert(text % {"n": f"{n:,}"}, reverse("console:reports", args=[study.slug]), is_bad=True)
    ]


def _of_counts(study: Study, parts: dict[str, int]) -> list[Alert]:
    found = []
    if n := parts["held"]:
        text = ngettext(
            "%(n)s completion is held back and waits for a decision.",
            "%(n)s completions are held back and wait for a decision.",
            n,
        )
        found.append(
            Alert(text % {"n": f"{n:,}"}, reverse("contexts:held", args=[study.dataset_slug]))
        )
    if n := parts["failed"]:
        text = ngettext(
            "%(n)s completion could not be generated.",
            "%(n)s completions could not be generated.",
            n,
        )
        url = f"{reverse('raters:coverage', args=[study.slug])}?state=failed"
        found.append(Alert(text % {"n": f"{n:,}"}, url, is_bad=True))
    if n := parts["excluded"]:
        text = ngettext(
            "%(n)s rater was left out in the last day.",
            "%(n)s raters were left out in the last day.",
            n,
        )
        url = f"{reverse('raters:list', args=[study.slug])}?standing=out"
        found.append(Alert(text % {"n": f"{n:,}"}, url))
    return found


def _of_run(run: Run) -> Alert:
    why = {
        PauseReason.ADMIN: _("somebody paused it"),
        PauseReason.BUDGET: _("the budget holds it"),
        PauseReason.REFUSED: _("a provider takes no question"),
    }[PauseReason(run.pause_reason)]
    told = {
        "kind": KINDS[run.kind],
        "n": run.pk,
        "why": f"{why}: {run.pause_detail}" if run.pause_detail else why,
    }
    is_bad = run.pause_reason != PauseReason.ADMIN
    text = _("%(kind)s, run %(n)s, stands still: %(why)s.") % told
    return Alert(text, reverse("models:run", args=[run.kind, run.pk]), is_bad)
