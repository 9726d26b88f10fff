"""Reads of the review of raters: every rater with figures and findings."""

import datetime as dt
from collections.abc import Mapping
from statistics import median

import numpy as np
from scipy import special

from annotation import quality, quality_selectors
from annotation.models import Study
from annotation.quality import Finding, Infit, MainAnswer, Prediction, RaterRecord
from annotation.quality_selectors import RaterHead, StudyQuality
from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.held_out import strengths_without_each
from ranking.rater_rows import RaterRow


def rater_rows(study: Study, *, as_of: dt.datetime) -> tuple[RaterRow, ...]:
    """Return every rater who answered anything, by pseudonym, in six queries at most."""
    known = quality_selectors.read_quality(study, as_of=as_of)
    infits = _infits(known)
    found = quality.examine(quality.StudyRecord(known.records, known.pairs, infits), known.rules)
    agreement = quality.agreement_by_rater(known.winners)
    return tuple(
        _row(head, record, found[head.code], infits.get(head.code), agreement.get(head.code))
        for head, record in zip(known.raters, known.records, strict=True)
    )


def _row(
    head: RaterHead,
    record: RaterRecord,
    findings: tuple[Finding, ...],
    infit: Infit | None,
    agreement: float | None,
) -> RaterRow:
    sides = [answer.side for answer in record.answers if answer.side]
    return RaterRow(
        head=head,
        findings=findings,
        n_answers=len(record.answers),
        median_seconds=median(one.seconds for one in record.answers) if record.answers else None,
        n_checks=len(record.checks),
        n_passed=sum(check.is_passed for check in record.checks),
        share_a=sides.count(1) / len(sides) if sides else None,
        infit=infit.mean_square if infit else None,
        agreement=agreement,
    )


def _infits(known: StudyQuality) -> dict[str, Infit | None]:
    """Return each rater's infit against strengths that the other raters' answers give."""
    slugs = sorted({slug for pair in known.systems.values() for slug in pair})
    place = {slug: index for index, slug in enumerate(slugs)}
    pairs = {
        pair: (place[first], place[second])
        for pair, (first, second) in known.systems.items()
        if first != second
    }
    wins = np.zeros((len(known.records), len(slugs), len(slugs)))
    for index, record in enumerate(known.records):
        for answer in record.answers:
            if answer.pair in pairs:
                first, second = pairs[answer.pair]
                wins[index, first, second] += _outcome(answer)
                wins[index, second, first] += 1 - _outcome(answer)
    try:
        strengths = strengths_without_each(wins)
    except (NotConnectedError, NotConvergedError, ValueError):
        return {}  # too few systems or answers: nobody's misfit can be told
    return {
        record.rater: quality.infit(_predictions(record, pairs, row))
        for record, row in zip(known.records, strengths, strict=True)
        if not np.isnan(row).any()
    }


def _outcome(answer: MainAnswer) -> float:
    return (answer.winner + 1) / 2


def _predictions(
    record: RaterRecord, pairs: Mapping[int, tuple[int, int]], strengths: Floats
) -> list[Prediction]:
    chances = special.expit(strengths[:, None] - strengths[None, :])
    return [
        Prediction(_outcome(answer), float(chances[pairs[answer.pair]]))
        for answer in record.answers
        if answer.pair in pairs
    ]
