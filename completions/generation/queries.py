"""Reads of generation: how far the calls of a dataset are, and its runs as pages show them."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.core.paginator import Page
from django.urls import reverse

from access.console.tables import TableQuery
from completions.models import Dataset, GenerationCall, GenerationRun, System
from completions.runs import queries
from completions.runs.queries import RunProgress
from completions.runs.view_data import ON_PAGE, ShownRun


def generation_progress(dataset: Dataset) -> tuple[int, int]:
    """Return how many of the dataset's generation calls have ended, and how many there are."""
    calls = GenerationCall.objects.filter(context__dataset=dataset)
    return calls.filter(ended_at__isnull=False).count(), calls.count()


def generation_run(number: int, *, now: dt.datetime) -> ShownRun | None:
    """Return the run of that number, or nothing if there is none."""
    found = _runs().filter(pk=number).first()
    return None if found is None else _shown([found], now=now)[0]


def generation_runs(
    wanted: TableQuery, page: str, *, now: dt.datetime
) -> tuple[Page[Any], list[ShownRun]]:
    """Return one page of the runs that are meant."""
    found: Page[Any] = wanted.page(_runs(), page, per_page=ON_PAGE)
    return found, _shown(list(found), now=now)


def all_generation_runs(wanted: TableQuery, *, now: dt.datetime) -> list[ShownRun]:
    """Return all of the runs that are meant."""
    return _shown(list(wanted.apply(_runs())), now=now)


def _runs() -> Any:  # noqa: ANN401 (a queryset with its rows)
    return GenerationRun.objects.select_related("dataset", "created_by")


def _shown(runs: list[GenerationRun], *, now: dt.datetime) -> list[ShownRun]:
    """Return the runs as pages show them, in a fixed number of queries."""
    progress = queries.progress_of_each(runs, now=now)
    slugs = {slug for run in runs for slug in run.plan.get("systems", ())}
    systems = System.objects.filter(slug__in=slugs).in_bulk(field_name="slug")
    return [_shown_one(run, systems, progress[run.pk]) for run in runs]


def _shown_one(
    run: GenerationRun, systems: Mapping[str, System], progress: RunProgress
) -> ShownRun:
    asked = [systems[slug] for slug in run.plan.get("systems", ()) if slug in systems]
    return ShownRun(
        run=run,
        about=run.dataset.name,
        dataset=run.dataset.slug,
        asked=[system.name for system in asked],
        is_simulated=any(system.is_simulated for system in asked),
        progress=progress,
        here=reverse("models:run", args=[run.pk]),
    )
