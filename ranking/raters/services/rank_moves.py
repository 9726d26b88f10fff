"""What would become of ratings without the raters whom the rules would leave out, kept."""

import datetime as dt
from dataclasses import dataclass

from annotation.models import Exclusion, Judgment, Study
from annotation.studies.counts import has_few_judgments, newest_keys
from annotation.studies.stored_figures import FiguresKind
from ranking.models import Measurement
from ranking.raters import queries
from ranking.raters.services.reviewing import Movement, movements_without

MOST_LIVE = 2_000
"""Judgments that a page adds up and rates itself."""


@dataclass(frozen=True)
class Moves:
    """How ratings would change without the raters of these codes."""

    leaving: frozenset[str]
    movements: tuple[Movement, ...]


def moves_of(study: Study, now: dt.datetime) -> Moves:
    """Rate the study with and without those who would go by what the console shows now."""
    rows = queries.shown_raters(study, now=now).rows
    leaving = {row.head.pk: row.code for row in rows if row.would_go}
    movements = movements_without(study, leaving=frozenset(leaving), now=now)
    return Moves(frozenset(leaving.values()), movements)


def _is_small(study: Study) -> bool:
    return has_few_judgments(study, most=MOST_LIVE)


def basis_of(study: Study) -> object:
    """Return what changes with every answer, decision, measurement and departure."""
    newest = newest_keys(Judgment, Exclusion)
    measured = Measurement.objects.filter(study=study).values_list("as_of", flat=True).first()
    return newest, measured, study.raters.filter(data_kept=False).count()


MOVES = FiguresKind("moves", _is_small, basis_of, moves_of)
