"""Runs as pages show them, whatever it is that they ask: one shape, for one set of templates."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Q, QuerySet, Value
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from access.console.csv_cells import Cell
from access.console.tables import Table, TableQuery
from completions.choices import PauseReason, RunState
from completions.models import FAILED, Run
from completions.runs import queries
from completions.runs.queries import RunProgress, run_models

ON_PAGE = 25
STATES = {
    RunState.RUNNING: gettext_lazy("under way"),
    RunState.PAUSED: gettext_lazy("paused"),
    RunState.CANCELLED: gettext_lazy("cancelled"),
    RunState.ENDED: gettext_lazy("ended"),
}
KINDS = {
    "completions": gettext_lazy("Completions"),
    "judges": gettext_lazy("Judging"),
    "strategies": gettext_lazy("Strategy labels"),
    "rationales": gettext_lazy("Rationale themes"),
}
"""What runs of each kind bring."""
RUNS = Table(
    orders={
        "run": (gettext_lazy("Run"), ("created_at",)),
        "calls": (gettext_lazy("Calls"), ("n_planned",)),
        "spent": (gettext_lazy("Spent"), ("spent_usd",)),
    },
    usual="-run",
    shows={state.lower(): (label, Q(state=state)) for state, label in STATES.items()},
    searched=("created_by__username",),
    numbers=("spent",),
)
RUN_COLUMNS = (
    *("kind", "run", "about", "asked", "state", "is_simulated", "calls", "calls_ended"),
    *("calls_failed", "spent_usd", "budget_usd", "started_by", "started_at", "ended_at"),
)
CLASSES = {RunState.RUNNING: "open", RunState.PAUSED: "paused"}
DIALOGUES = (
    "context",
    "comparison__context",
    "completion__context",
    "judgment__comparison__context",
)
"""The way from a call to the dialogue that it is about: a call has the first row of one of them."""
INVALID = "invalid_answer"
"""The kind of what was answered twice in another shape than was asked for."""
_HOUR_AND_HALF = 90


@dataclass(frozen=True)
class RunRow:
    """A run, how far it is, and what can be done to it."""

    run: Run
    about: str
    """What is asked about: a dataset or a study."""
    dataset: str
    """The slug of the dataset, for the way to its contexts."""
    asked: Sequence[str]
    """Whom it asks."""
    is_simulated: bool
    """Whether a simulated one is among them."""
    progress: RunProgress

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Return the run as a row of a download."""
        run, progress = self.run, self.progress
        return (
            *(run.kind, run.pk, self.about, "; ".join(self.asked), run.state, self.is_simulated),
            *(progress.n_calls, progress.n_ended, progress.n_failed + progress.n_invalid),
            str(run.spent_usd),
            None if run.budget_usd is None else str(run.budget_usd),
            run.created_by.get_username() if run.created_by else "",
            *(run.created_at, run.ended_at),
        )

    @property
    def here(self) -> str:
        """Return the address of its page; what belongs to it is below."""
        return reverse("models:run", args=[self.run.kind, self.run.pk])

    @property
    def kind_label(self) -> str:
        """Return what it brings."""
        return str(KINDS[self.run.kind])

    @property
    def study(self) -> Any:  # noqa: ANN401 (a row of an app above)
        """Return the study whose judgments it is about, or nothing if it is about a dataset."""
        return getattr(self.run, "study", None)

    @property
    def state_label(self) -> str:
        """Return its state in a word or two."""
        return str(STATES[RunState(self.run.state)])

    @property
    def state_class(self) -> str:
        """Return how its state is coloured."""
        return CLASSES.get(RunState(self.run.state), "")

    @property
    def is_live(self) -> bool:
        """Whether its numbers change without anybody's doing: then pages look again."""
        return self.run.state == RunState.RUNNING or self.progress.n_in_flight > 0

    @property
    def pause_words(self) -> str:
        """Say why it stands still, and what is done about it."""
        return {
            PauseReason.ADMIN: _("Somebody paused it. Calls on their way end; no other is made."),
            PauseReason.BUDGET: _(
                "The budget holds it. Give it more, or cancel it: what was answered is kept."
            ),
            PauseReason.REFUSED: _(
                "A provider takes no question of ours. Set right what it names, and resume: "
                "what was answered is kept."
            ),
        }[PauseReason(self.run.pause_reason)]

    @property
    def bar(self) -> list[dict[str, str | float]]:
        """Return the parts of the bar that have anything in them, in percent of all calls."""
        told = self.progress
        kinds = {
            "done": told.n_done,
            "bad": told.n_invalid + told.n_failed,
            "flight": told.n_in_flight,
        }
        parts, x = list[dict[str, str | float]](), 0.0
        for kind, n in kinds.items():
            if n:
                width = 100 * n / told.n_calls
                parts.append({"kind": kind, "x": x, "width": width})
                x += width
        return parts

    @property
    def kinds(self) -> list[tuple[str, int]]:
        """Return what went wrong how often, the most frequent first."""
        failures = dict(self.progress.failed)
        if self.progress.n_invalid:
            failures[INVALID] = failures.get(INVALID, 0) + self.progress.n_invalid
        return sorted(failures.items(), key=lambda one: (-one[1], one[0]))


def in_words(length: dt.timedelta) -> str:
    """Return a length of time as one would say it."""
    minutes = round(length.total_seconds() / 60)
    if minutes < 1:
        return _("less than a minute")
    if minutes < _HOUR_AND_HALF:
        return ngettext("%(minutes)d minute", "%(minutes)d minutes", minutes) % {"minutes": minutes}
    return _("%(hours)d h %(minutes)d min") % {"hours": minutes // 60, "minutes": minutes % 60}


def run_of(kind: str, number: int, *, now: dt.datetime) -> RunRow | None:
    """Return the run of that kind and number, or nothing if there is none."""
    model = run_models().get(kind)
    found = list(_rows(model).filter(pk=number)) if model else []
    return _shown_each({kind: found}, now=now).get((kind, number))


def all_runs(query: TableQuery, **of: object) -> Any:  # noqa: ANN401 (a queryset of tuples)
    """Return kind and number of each run that is meant; ``of`` says of which study or dataset."""
    found = [
        query.choose(_rows(model).filter(**of))
        .order_by()
        .annotate(of_kind=Value(kind))
        .values_list("of_kind", "id", "created_at", "n_planned", "spent_usd")
        for kind, model in run_models().items()
        if all(hasattr(model, name) for name in of)
    ]
    rows = found[0].union(*found[1:], all=True) if len(found) > 1 else found[0]
    return rows.order_by(*query.order, *map(query.in_order, ("id", "of_kind")))


def shown_runs(rows: Sequence[tuple[Any, ...]], *, now: dt.datetime) -> list[RunRow]:
    """Return these rows of ``all_runs`` as pages show them, in a fixed number of queries."""
    numbers = defaultdict[str, list[int]](list)
    for kind, number, *_others in rows:
        numbers[kind].append(number)
    runs = {
        kind: list(_rows(run_models()[kind]).filter(pk__in=found))
        for kind, found in numbers.items()
    }
    shown = _shown_each(runs, now=now)
    return [shown[kind, number] for kind, number, *_others in rows if (kind, number) in shown]


def _shown_each(
    runs: Mapping[str, Sequence[Any]], *, now: dt.datetime
) -> dict[tuple[str, int], RunRow]:
    """Return runs by kind as pages show them, by kind and number."""
    endpoints = _endpoints() if any(runs.values()) else {}
    shown: dict[tuple[str, int], RunRow] = {}
    for kind, found in runs.items():
        progress = queries.progress_of_each(found, now=now)
        shown |= {(kind, run.pk): _shown(run, endpoints, progress[run.pk]) for run in found}
    return shown


def _rows(model: type[Run]) -> QuerySet[Any]:
    manager: Any = model._default_manager  # noqa: SLF001 (documented API)
    about = ("study__dataset",) if hasattr(model, "study") else ("dataset",)
    rows: QuerySet[Any] = manager.select_related(*about, "created_by")
    return rows


def _endpoints() -> dict[tuple[str, str], tuple[str, bool]]:
    """Return name and simulation of whatever can be asked, by table and slug, in one query."""
    found: list[Any] = [
        model.objects.order_by().values_list(Value(name), "slug", "name", "is_simulated")
        for name, model in queries.endpoint_models().items()
    ]
    rows = found[0].union(*found[1:], all=True)
    return {(table, slug): (name, is_simulated) for table, slug, name, is_simulated in rows}


def _shown(
    run: Any,  # noqa: ANN401 (any kind of run)
    endpoints: Mapping[tuple[str, str], tuple[str, bool]],
    progress: RunProgress,
) -> RunRow:
    plan, table = run.plan, queries.endpoint_name(queries.call_model(type(run)))
    slugs = [*plan.get(f"{table}s", ()), *([plan[table]] if table in plan else ())]
    known = [endpoints[table, slug] for slug in slugs if (table, slug) in endpoints]
    study = getattr(run, "study", None)
    dataset = study.dataset if study else run.dataset
    return RunRow(
        run=run,
        about=study.title if study else dataset.name,
        dataset=dataset.slug,
        asked=[name for name, _is_simulated in known],
        is_simulated=any(is_simulated for _name, is_simulated in known),
        progress=progress,
    )


def failed_calls(run: Run, kind: str) -> QuerySet[Any]:
    """Return the calls of that kind of failure, or all that brought nothing if it is empty.

    Each with ``dialogue``, the key of what it is about, and ``endpoint``, the name of whom it asks.
    """
    calls = queries.calls_of(run).filter(FAILED)
    way = next(way for way in DIALOGUES if hasattr(calls.model, way.partition("__")[0]))
    named = {
        "dialogue": F(f"{way}__key"),
        "endpoint": F(f"{queries.endpoint_name(calls.model)}__name"),
    }
    calls = calls.filter(error_kind=kind) if kind else calls
    found: QuerySet[Any] = calls.annotate(**named).order_by("-ended_at", "pk")
    return found
