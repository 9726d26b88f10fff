"""Reads of the review of raters: every rater with figures and findings."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from annotation.models import Judgment, Rater, Study
from annotation.quality.queries import raters, records
from annotation.quality.queries.records import LEFT_OUT, ListedAnswer, StudyQuality
from annotation.quality.rules import exclusions
from annotation.quality.rules.findings import Infit, examine, infit
from annotation.quality.rules.records import Finding, RaterRecord
from ranking.judgments import analysis_set
from ranking.models import Measurement, RaterFigures
from ranking.raters.rows import MEASURED, MeasuredRaters, RaterRow

if TYPE_CHECKING:
    from ranking.numerics.arrays import Floats, Integers

MOST_LIVE = 2_000  # answers of people that a page reads and measures itself


def shown_raters(study: Study, *, now: dt.datetime) -> MeasuredRaters:
    """Return every rater who answered anything for a page, by pseudonym; eight queries at most.

    A small study is measured here and now. Of a larger one it is what the last measurement found,
    under the decisions that hold now: the same figures as of an earlier time (ADR-0068).
    """
    kept = Measurement.objects.filter(study=study).first()
    if kept is not None and kept.n_answers > MOST_LIVE:
        return _stored(study, kept, now=now)
    given = Judgment.objects.filter(rater__study=study)
    if given[: MOST_LIVE + 1].count() <= MOST_LIVE:
        return measure(study, as_of=now)
    if kept is None:
        return MeasuredRaters((), None, None, is_live=False)
    return _stored(study, kept, now=now)


def newest_reasons(rater: Rater, *, n: int) -> list[str]:
    """Return the reasons that a rater wrote last, the newest first; one query."""
    written = Judgment.objects.filter(rater=rater).exclude(rationale="")
    return list(written.order_by("-pk").values_list("rationale", flat=True)[:n])


def answers_of(rater: Rater, *, as_of: dt.datetime) -> tuple[ListedAnswer, ...]:
    """Return the answers of a rater, the newest first, and say which the analysis set leaves out.

    Four queries at most.
    """
    counting = analysis_set.analysis_set(study=rater.study, as_of=as_of).filter(rater=rater)
    leases = set(counting.values_list("lease", flat=True))
    return tuple(
        one if one.is_check or one.lease in leases else replace(one, kind=LEFT_OUT)
        for one in records.answers_given(rater, as_of=as_of)
    )


def unmeasured_studies() -> list[int]:
    """Return the keys of studies in which people judged and that nobody measured yet."""
    judged = Judgment.objects.filter(rater__study=OuterRef("pk"))
    studies = Study.objects.filter(Exists(judged), measurement__isnull=True)
    return list(studies.order_by("pk").values_list("pk", flat=True))


def measure(study: Study, *, as_of: dt.datetime) -> MeasuredRaters:
    """Read every judgment by people and measure those who gave them, in six queries at most."""
    known = records.read_quality(study, as_of=as_of)
    seconds = [one.seconds for record in known.records for one in record.answers]
    return MeasuredRaters(
        rows=_rows(known),
        as_of=as_of,
        median_seconds=median(seconds) if seconds else None,
        is_live=True,
    )


def _stored(study: Study, measured: Measurement, *, now: dt.datetime) -> MeasuredRaters:
    figures = {one.rater_id: one for one in measured.figures.all()}
    judged = raters.raters_judged(study, as_of=now)
    return MeasuredRaters(
        rows=tuple(
            _stored_row(rater, figures[rater.pk], measured.as_of)
            for rater in judged
            if rater.pk in figures
        ),
        as_of=measured.as_of,
        median_seconds=measured.median_seconds,
        is_live=False,
        n_new=sum(rater.pk not in figures for rater in judged),
    )


def _stored_row(rater: Rater, found: RaterFigures, as_of: dt.datetime) -> RaterRow:
    """Return a rater as measured; who was taken back since is excluded on later evidence alone."""
    taken_back_at = raters.reinstated_at(rater)
    is_settled = taken_back_at is not None and taken_back_at >= as_of
    findings = tuple(Finding(**one) for one in found.findings)
    return RaterRow(
        rater=rater,
        findings=tuple(one for one in findings if not (is_settled and one.is_exclusion)),
        **{name: getattr(found, name) for name in MEASURED},
    )


def _rows(known: StudyQuality) -> tuple[RaterRow, ...]:
    infits = _infits(known)
    found = examine(known.records, known.rules, pairs=known.pairs, infits=infits)
    agreement = exclusions.agreement_by_rater(known.winners)
    return tuple(
        _row(rater, record, found[rater.code], infits.get(rater.code), agreement.get(rater.code))
        for rater, record in zip(known.raters, known.records, strict=True)
    )


def _row(
    rater: Rater,
    record: RaterRecord,
    findings: tuple[Finding, ...],
    infit: Infit | None,
    agreement: float | None,
) -> RaterRow:
    sides = [answer.side for answer in record.answers if answer.side]
    return RaterRow(
        rater=rater,
        findings=findings,
        n_answers=len(record.answers),
        median_seconds=median(one.seconds for one in record.answers) if record.answers else None,
        n_checks=len(record.checks),
        n_passed=sum(check.is_passed for check in record.checks),
        share_a=sides.count(1) / len(sides) if sides else None,
        infit=infit.mean_square if infit else None,
        agreement=agreement,
        last_at=max(
            [one.at for one in record.answers] + [one.at for one in record.checks], default=None
        ),
    )


def _infits(known: StudyQuality) -> dict[str, Infit | None]:
    """Return each rater's infit against strengths that the other raters' answers give."""
    # Pages load this module, most of them without a study to measure (ADR-0043).
    import numpy as np  # noqa: PLC0415
    from scipy.special import expit  # noqa: PLC0415

    from ranking.numerics.bradley_terry import (  # noqa: PLC0415
        NotConvergedError,
        strengths_without_each,
    )
    from ranking.numerics.connectivity import NotConnectedError  # noqa: PLC0415

    slugs = sorted({slug for pair in known.systems.values() for slug in pair})
    place = {slug: index for index, slug in enumerate(slugs)}
    pairs = {
        pair: (place[first], place[second])
        for pair, (first, second) in known.systems.items()
        if first != second
    }
    answers = [_outcomes(record, pairs) for record in known.records]
    wins = np.zeros((len(answers), len(slugs), len(slugs)))
    for own, (outcomes, first, second) in zip(wins, answers, strict=True):
        np.add.at(own, (first, second), outcomes)
        np.add.at(own, (second, first), 1 - outcomes)
    try:
        strengths = strengths_without_each(wins)
    except (NotConnectedError, NotConvergedError, ValueError):
        return {}  # too few systems or answers: nobody's misfit can be told
    return {
        record.rater: infit(
            list(zip(outcomes.tolist(), expit(row[first] - row[second]).tolist(), strict=True))
        )
        for record, row, (outcomes, first, second) in zip(
            known.records, strengths, answers, strict=True
        )
        if not np.isnan(row).any()
    }


def _outcomes(
    record: RaterRecord, pairs: Mapping[int, tuple[int, int]]
) -> "tuple[Floats, Integers, Integers]":
    """Return of each answer to one of the pairs who won, 1 to 0, and the two systems' places."""
    import numpy as np  # noqa: PLC0415 (as above)

    told = [(one.winner, *pairs[one.pair]) for one in record.answers if one.pair in pairs]
    winners, first, second = np.array(told, dtype=np.int64).reshape(-1, 3).T
    return (winners + 1) / 2, first, second
