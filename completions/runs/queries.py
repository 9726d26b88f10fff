"""Reads of runs: how far they are, how fast, and what they have cost."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Count, Min, QuerySet

from completions.choices import CallState
from completions.models import ProviderCall, Run

RATE_WINDOW = dt.timedelta(minutes=2)
"""The rate is that of the calls that ended last: an hour at night says nothing about now."""

ENDPOINTS = ("system", "judge", "assistant")

DEPARTURES = ("stripped", "repaired")
"""Under these names a call records how its answer was not to the letter what was asked for."""

SomeRun = TypeVar("SomeRun", bound=Run)


class RunNotFoundError(LookupError):
    """There is no run of that number."""


@dataclass(frozen=True)
class RunProgress:
    """How many calls of a run are how far, and how fast they go."""

    n_done: int
    n_invalid: int
    failed: Mapping[str, int]
    """Calls given up, by the kind of their failure."""
    n_waiting: int
    n_in_flight: int
    per_minute: float | None
    """Calls that ended in a minute; ``None`` if none ended lately."""
    left: dt.timedelta | None
    """``None`` as long as nobody can tell."""

    @property
    def n_failed(self) -> int:
        """Return how many calls were given up."""
        return sum(self.failed.values())

    @property
    def n_ended(self) -> int:
        """Return how many calls need nothing more."""
        return self.n_done + self.n_invalid + self.n_failed

    @property
    def n_open(self) -> int:
        """Return how many calls are still to end."""
        return self.n_waiting + self.n_in_flight

    @property
    def n_calls(self) -> int:
        """Return how many calls there are: more than planned if a run took others over."""
        return self.n_ended + self.n_open


def calls_of(run: Run) -> QuerySet[Any]:
    """Return the calls of a run, of whatever kind."""
    return call_rows(type(run)).filter(run=run)


def call_model(runs: type[Run]) -> type[ProviderCall]:
    """Return the model of the calls that belong to runs of this kind."""
    meta: Any = runs._meta  # noqa: SLF001 (documented API)
    model: type[ProviderCall] = meta.get_field("calls").related_model
    return model


def call_rows(runs: type[Run]) -> QuerySet[Any]:
    """Return all calls of that kind, also those without a run."""
    manager: Any = call_model(runs)._default_manager  # noqa: SLF001 (documented API)
    rows: QuerySet[Any] = manager.all()
    return rows


def calls_to_make(runs: type[Run], run: Run | None = None) -> QuerySet[Any]:
    """Return the calls of a kind, or of one run, that workers may make once they are due."""
    calls = call_rows(runs).filter(runs.made_while)
    return calls if run is None else calls.filter(run=run)


def run_models() -> dict[str, type[Run]]:
    """Return the model of each kind of run."""
    return {model.kind: model for model in Run.__subclasses__()}


def run_rows(calls: type[ProviderCall]) -> QuerySet[Any]:
    """Return all runs to which calls of this kind belong."""
    meta: Any = calls._meta  # noqa: SLF001 (documented API)
    rows: QuerySet[Any] = meta.get_field("run").related_model._default_manager.all()  # noqa: SLF001
    return rows


def has_runs(calls: type[ProviderCall]) -> bool:
    """Say whether calls of this kind are made in runs; not all are."""
    return hasattr(calls, "run")


def endpoint_name(calls: type[ProviderCall]) -> str:
    """Return what calls of this kind call the row of the model that they ask."""
    return next(name for name in ENDPOINTS if hasattr(calls, name))


def endpoint_models() -> dict[str, Any]:
    """Return the tables of all that runs ask: systems, judges and assistants, by their names."""
    return dict(_endpoint(call_model(model)) for model in run_models().values())


def endpoints_of(run: Run) -> QuerySet[Any]:
    """Return the systems, judges or assistants that a run asks, by their slug."""
    name, model = _endpoint(call_model(type(run)))
    found: QuerySet[Any] = model.objects.filter(pk__in=calls_of(run).values(name))
    return found.order_by("slug")


def _endpoint(calls: type[ProviderCall]) -> tuple[str, Any]:
    name = endpoint_name(calls)
    return name, calls._meta.get_field(name).related_model  # noqa: SLF001 (documented API)


def departures_of(run: Run) -> dict[str, Counter[str]]:
    """Count what was taken off the texts of a run's answers, and what was repaired, by name."""
    found = {name: Counter[str]() for name in DEPARTURES}
    for name, counts in found.items():
        calls = calls_of(run).filter(honoured__has_key=name)
        for each in calls.values_list(f"honoured__{name}", flat=True).iterator():
            counts.update(each)
    return found


def run_numbered(runs: QuerySet[SomeRun], number: int) -> SomeRun:
    """Return the run of that number.

    Raises
    ------
    RunNotFoundError
        If there is none.
    """
    run = runs.filter(pk=number).first()
    if run is None:
        msg = f"there is no run #{number}; `runs` lists them"
        raise RunNotFoundError(msg)
    return run


def progress_of(run: Run, *, now: dt.datetime) -> RunProgress:
    """Return how far a run is."""
    return progress_of_each([run], now=now)[run.pk]


def progress_of_each(runs: Sequence[Run], *, now: dt.datetime) -> dict[int, RunProgress]:
    """Return how far runs of one kind are, by their numbers, in two queries."""
    if not runs:
        return {}
    calls = call_rows(type(runs[0])).filter(run__in=runs)
    counts = _counts(calls)
    rates = _rates(calls, now)
    return {run.pk: _progress(counts.get(run.pk, Counter()), rates.get(run.pk)) for run in runs}


def _counts(calls: QuerySet[Any]) -> dict[int, Counter[tuple[str, str]]]:
    """Count the calls of each run by their state and kind of failure."""
    found: defaultdict[int, Counter[tuple[str, str]]] = defaultdict(Counter)
    rows = calls.values_list("run", "state", "error_kind").annotate(n=Count("pk"))
    for run, state, kind, n in rows.order_by("run", "state", "error_kind"):
        found[run][state, kind] = n
    return found


def _rates(calls: QuerySet[Any], now: dt.datetime) -> dict[int, float]:
    """Return the calls a minute of each run of which any ended in the window."""
    since = now - RATE_WINDOW
    recent = calls.filter(ended_at__gt=since, ended_at__lte=now, claimed_at__isnull=False)
    rows = recent.values_list("run").annotate(n=Count("pk"), began=Min("claimed_at"))
    rates = {}
    for run, n, began in rows.order_by("run"):
        seconds = (now - max(began, since)).total_seconds()
        if seconds > 0:
            rates[run] = 60 * n / seconds
    return rates


def _progress(counts: Counter[tuple[str, str]], per_minute: float | None) -> RunProgress:
    states: Counter[str] = Counter()
    for (state, _kind), n in counts.items():
        states[state] += n
    n_open = states[CallState.PENDING] + states[CallState.CLAIMED]
    left = dt.timedelta(minutes=n_open / per_minute) if per_minute else None
    return RunProgress(
        n_done=states[CallState.DONE],
        n_invalid=states[CallState.INVALID],
        failed={kind: n for (state, kind), n in counts.items() if state == CallState.FAILED},
        n_waiting=states[CallState.PENDING],
        n_in_flight=states[CallState.CLAIMED],
        per_minute=per_minute,
        left=left if n_open else None,
    )
