"""Measure the raters of a study and hold them against its rules, on trial or for good."""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.choices import Protocol
from annotation.models import Exclusion, Judgment, Study
from annotation.quality.queries import raters
from annotation.quality.services import excluding
from annotation.studies.counts import has_few_judgments, newest_keys
from annotation.studies.stored_figures import FiguresKind
from completions.models import System
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits.estimate import EstimateRefusedError, point_ratings
from ranking.fits.services.claiming import method_of
from ranking.judgments.analysis_set import Selection, n_decisions, selected
from ranking.judgments.frames.columns import read_implied
from ranking.judgments.frames.groups import read_compared, read_verdicts
from ranking.judgments.groups import GroupedJudgments
from ranking.judgments.method import Method
from ranking.models import Measurement, RaterFigures
from ranking.raters import queries as rater_queries
from ranking.raters.rows import MEASURED, MeasuredRaters, RaterRow

LOOKED_BACK = dt.timedelta(days=1)
MOST_LIVE = 2_000
"""Judgments that a page adds up and rates itself."""


class ReviewChangedError(Exception):
    """Others would go now than those whom a person was shown."""


@dataclass(frozen=True)
class Move:
    """Where one system stands with and without the raters who would go; None if it is unrated."""

    slug: str
    name: str
    elo_before: float | None
    elo_after: float | None
    rank_before: int | None
    rank_after: int | None

    @property
    def places(self) -> int:
        """Return how many places it would rise; less than 0 if it would fall."""
        return (self.rank_before or 0) - (self.rank_after or 0) if self.is_ranked_twice else 0

    @property
    def fall(self) -> int:
        """Return how many places it would fall."""
        return -self.places

    @property
    def is_ranked_twice(self) -> bool:
        """Whether there are two ranks to be held against each other."""
        return self.rank_before is not None and self.rank_after is not None


@dataclass(frozen=True)
class Movement:
    """How the ratings of one pool would change, best rated first, or why they cannot be told."""

    pool: str
    n_before: int
    n_after: int
    moves: tuple[Move, ...]
    refusal_before: str
    refusal_after: str


@dataclass(frozen=True)
class Review:
    """What the rules found of each rater, and what follows from it.

    ``movements`` are told by a dry run, ``decisions`` by a real one.
    """

    rows: tuple[RaterRow, ...]
    movements: tuple[Movement, ...]
    decisions: tuple[Exclusion, ...]

    @property
    def leaving(self) -> tuple[RaterRow, ...]:
        """Return the raters whom the rules exclude and who were in."""
        return tuple(row for row in self.rows if row.would_go)

    @property
    def warned(self) -> tuple[RaterRow, ...]:
        """Return the raters who are in and only warned of."""
        return tuple(row for row in self.rows if row.status == "warned")

    @property
    def n_answers(self) -> int:
        """Return how many answers those who leave gave."""
        return sum(row.n_answers for row in self.leaving)


def review_raters(
    *,
    study: Study,
    dry_run: bool,
    now: dt.datetime,
    by: User | None = None,
    expected: Collection[str] | None = None,
    shown: MeasuredRaters | None = None,
) -> Review:
    """Hold every rater of the study against its locked rules.

    A dry run writes nothing and tells who would go and how ranks would move; of the raters
    ``shown``, who were measured before, only who would go. A real one keeps their figures and
    writes one decision per rater and rule, in one transaction; running it again writes nothing new.
    ``by`` is who had it run, if anybody. LLM judges are not looked at.

    Raises
    ------
    ReviewChangedError
        If those who would go now are not the ``expected`` ones that a person agreed to.
    """
    if dry_run:
        rows = (shown or rater_queries.measure(study, as_of=now)).rows
    else:
        rows = measure_raters(study=study, now=now).rows
    leaving = [row for row in rows if row.would_go]
    if dry_run:
        keys = frozenset(row.rater.pk for row in leaving)
        told = () if shown is not None else movements_without(study, leaving=keys, now=now)
        return Review(rows, told, ())
    if expected is not None and set(expected) != {row.code for row in leaving}:
        raise ReviewChangedError
    decisions = excluding.exclude_by_rules(
        study=study, examined=[_examined(row) for row in leaving], now=now, by=by
    )
    return Review(rows, (), tuple(decisions))


def _examined(row: RaterRow) -> excluding.Examined:
    newest = row.decision
    return excluding.Examined(row.rater.pk, row.findings, newest.pk if newest else None)


def review_study(*, study_id: int, now: dt.datetime) -> Review:
    """Review the raters of the study of that key, for good."""
    return review_raters(study=Study.objects.get(pk=study_id), dry_run=False, now=now)


def studies_to_review(*, now: dt.datetime) -> list[int]:
    """Return the keys of the studies in which a person answered within the last day."""
    recent = raters.recently_judged(since=now - LOOKED_BACK)
    return list(recent.values_list("pk", flat=True))


def movements_without(
    study: Study, *, leaving: frozenset[int], now: dt.datetime
) -> tuple[Movement, ...]:
    """Return what would become of the ratings by people, and of those with judges, if any.

    ``leaving`` are keys of raters. Nine queries at most; they read every comparison.
    """
    judges = Selection(study, EvaluatorPool.LLM, ContextSet.ALL, now)
    is_alone = study.protocol == Protocol.LIKERT
    compared = None if is_alone else read_compared(judges)

    def read(pool: EvaluatorPool, without: frozenset[int] = frozenset()) -> GroupedJudgments:
        selection = Selection(study, pool, ContextSet.ALL, now, without)
        if is_alone:
            return read_implied(selection)
        return read_verdicts(selection, compared)

    def with_and_without(pool: EvaluatorPool) -> tuple[GroupedJudgments, GroupedJudgments]:
        everybody = read(pool)
        return everybody, read(pool, leaving) if leaving else everybody

    pools = {EvaluatorPool.HUMAN: with_and_without(EvaluatorPool.HUMAN)}
    if selected(judges).exists():
        pools[EvaluatorPool.COMBINED] = with_and_without(EvaluatorPool.COMBINED)
    names = dict(System.objects.values_list("slug", "name"))
    return tuple(
        movement(pool.label, names, both, method_of(study, pool)) for pool, both in pools.items()
    )


def _rated(judgments: GroupedJudgments, method: Method) -> tuple[Mapping[str, float], str]:
    """Return Elo points by slug, or why there are none."""
    if not judgments.n_judgments:
        return {}, _("There are no judgments.")
    try:
        return point_ratings(judgments, method), ""
    except EstimateRefusedError as refusal:
        return {}, str(refusal)


def _rank(slug: str, elo: Mapping[str, float]) -> int | None:
    return 1 + sum(one > elo[slug] for one in elo.values()) if slug in elo else None


def movement(
    pool: str,
    names: Mapping[str, str],
    both: tuple[GroupedJudgments, GroupedJudgments],
    method: Method,
) -> Movement:
    """Rate the judgments now and after, and say how each system moves; ``names`` are by slug."""
    (before, refusal_before), (after, refusal_after) = (_rated(one, method) for one in both)
    best = before or after
    return Movement(
        pool=pool,
        n_before=both[0].n_judgments,
        n_after=both[1].n_judgments,
        moves=tuple(
            Move(
                slug=slug,
                name=names[slug],
                elo_before=before.get(slug),
                elo_after=after.get(slug),
                rank_before=_rank(slug, before),
                rank_after=_rank(slug, after),
            )
            for slug in sorted(best, key=lambda slug: (-best[slug], slug))
        ),
        refusal_before=refusal_before,
        refusal_after=refusal_after,
    )


def measure_raters(*, study: Study, now: dt.datetime) -> MeasuredRaters:
    """Read all answers by people, and keep the figures of everybody who gave them.

    What an earlier measurement found is replaced, also of raters who withdrew since. Of two that
    run at once, that of the later time stays.
    """
    found = rater_queries.measure(study, as_of=now)
    _keep_figures(study, found, now)
    return found


def measure_study(*, study_id: int, now: dt.datetime) -> MeasuredRaters:
    """Measure the raters of the study of that key."""
    return measure_raters(study=Study.objects.get(pk=study_id), now=now)


def studies_to_measure() -> list[int]:
    """Return the keys of the studies never measured; forget figures of who withdrew with them."""
    RaterFigures.objects.filter(rater__data_kept=False).delete()
    return rater_queries.unmeasured_studies()


@transaction.atomic
def _keep_figures(study: Study, found: MeasuredRaters, now: dt.datetime) -> None:
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
        rater_id=row.rater.pk,
        **{name: getattr(row, name) for name in MEASURED},
        findings=[asdict(finding) for finding in row.findings],
    )


@dataclass(frozen=True)
class Moves:
    """How ratings would change without the raters of these codes."""

    leaving: frozenset[str]
    movements: tuple[Movement, ...]


def moves_of(study: Study, now: dt.datetime) -> Moves:
    """Rate the study with and without those who would go by what the console shows now."""
    rows = rater_queries.shown_raters(study, now=now).rows
    leaving = {row.rater.pk: row.code for row in rows if row.would_go}
    movements = movements_without(study, leaving=frozenset(leaving), now=now)
    return Moves(frozenset(leaving.values()), movements)


def _is_small(study: Study) -> bool:
    return has_few_judgments(study, most=MOST_LIVE)


def basis_of(study: Study) -> object:
    """Return what changes with every answer, decision, measurement, departure and deletion."""
    measured = Measurement.objects.filter(study=study).values_list("as_of", flat=True).first()
    return newest_keys(Judgment), measured, n_decisions(study)


MOVES = FiguresKind("moves", _is_small, basis_of, moves_of)
