"""Runs of judges, in the shape in which all runs are shown."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.core.paginator import Page
from django.urls import reverse

from access.console.tables import TableQuery
from annotation.models import Judge, JudgeRun, Study
from completions.runs import queries
from completions.runs.queries import RunProgress
from completions.runs.shown import ON_PAGE, ShownRun


def judge_run(study: Study, number: int, *, now: dt.datetime) -> ShownRun | None:
    """Return the study's run of that number, or nothing if there is none."""
    found = _runs(study).filter(pk=number).first()
    return None if found is None else _shown([found], now=now)[0]


def judge_runs(
    study: Study, wanted: TableQuery, page: str, *, now: dt.datetime
) -> tuple[Page[Any], list[ShownRun]]:
    """Return one page of the study's runs that are meant."""
    found: Page[Any] = wanted.page(_runs(study), page, per_page=ON_PAGE)
    return found, _shown(list(found), now=now)


def all_judge_runs(study: Study, wanted: TableQuery, *, now: dt.datetime) -> list[ShownRun]:
    """Return all of the study's runs that are meant."""
    return _shown(list(wanted.apply(_runs(study))), now=now)


def _runs(study: Study) -> Any:  # noqa: ANN401 (a queryset with its rows)
    return JudgeRun.objects.filter(study=study).select_related("study__dataset", "created_by")


def _shown(runs: list[JudgeRun], *, now: dt.datetime) -> list[ShownRun]:
    """Return the runs as pages show them, in a fixed number of queries."""
    progress = queries.progress_of_each(runs, now=now)
    slugs = {slug for run in runs for slug in run.plan.get("judges", ())}
    judges = Judge.objects.filter(slug__in=slugs).in_bulk(field_name="slug")
    return [_shown_one(run, judges, progress[run.pk]) for run in runs]


def _shown_one(run: JudgeRun, judges: Mapping[str, Judge], progress: RunProgress) -> ShownRun:
    asked = [judges[slug] for slug in run.plan.get("judges", ()) if slug in judges]
    return ShownRun(
        run=run,
        about=run.study.title,
        dataset=run.study.dataset.slug,
        asked=[judge.name for judge in asked],
        is_simulated=any(judge.is_simulated for judge in asked),
        progress=progress,
        here=reverse("console:judge_run", args=[run.study.slug, run.pk]),
    )
