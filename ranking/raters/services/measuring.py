"""Measure the raters of a study, and keep what was found for the console's pages (ADR-0068)."""

import datetime as dt
from dataclasses import asdict
from typing import Any

from django.db import transaction

from annotation.models import Study
from ranking.models import Measurement, RaterFigures
from ranking.raters import queries
from ranking.raters.rows import MeasuredRaters, RaterRow


def measure_raters(*, study: Study, now: dt.datetime) -> MeasuredRaters:
    """Read all answers by people, and keep the figures of everybody who gave them.

    What an earlier measurement found is replaced, also of raters who withdrew since. Of two that
    run at once, that of the later time stays.
    """
    found = queries.measure(study, as_of=now)
    _keep(study, found, now)
    return found


def measure_study(*, study_id: int, now: dt.datetime) -> MeasuredRaters:
    """Measure the raters of the study of that key."""
    return measure_raters(study=Study.objects.get(pk=study_id), now=now)


def studies_to_measure() -> list[int]:
    """Return the keys of the studies never measured; forget figures of who withdrew with them."""
    RaterFigures.objects.filter(rater__data_kept=False).delete()
    return queries.unmeasured_studies()


@transaction.atomic
def _keep(study: Study, found: MeasuredRaters, now: dt.datetime) -> None:
    fields: dict[str, Any] = {
        "as_of": now,
        "n_answers": found.n_answers,
        "median_seconds": found.median_seconds,
    }
    kept, is_new = Measurement.objects.select_for_update().get_or_create(
        study=study, defaults=fields
    )
    if not is_new:
        if kept.as_of > now:
            return
        Measurement.objects.filter(pk=kept.pk).update(**fields)
        kept.figures.all().delete()
    RaterFigures.objects.bulk_create([_figures(kept, row) for row in found.rows])


def _figures(measurement: Measurement, row: RaterRow) -> RaterFigures:
    return RaterFigures(
        measurement=measurement,
        rater_id=row.head.pk,
        n_answers=row.n_answers,
        n_checks=row.n_checks,
        n_passed=row.n_passed,
        median_seconds=row.median_seconds,
        share_a=row.share_a,
        infit=row.infit,
        agreement=row.agreement,
        last_at=row.last_at,
        findings=[asdict(finding) for finding in row.findings],
    )
