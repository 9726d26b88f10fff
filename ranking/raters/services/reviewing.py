"""Hold the raters of a study against its rules, on trial or for good."""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from annotation.choices import Protocol
from annotation.models import Exclusion, Study
from annotation.quality.queries import raters
from annotation.quality.services import excluding
from completions.models import System
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits.estimate import EstimateRefusedError, point_ratings
from ranking.fits.services.claiming import method_of
from ranking.judgments import frames
from ranking.judgments.frames import Selection
from ranking.judgments.groups import GroupedJudgments
from ranking.judgments.method import Method
from ranking.raters import queries as rater_queries
from ranking.raters.rows import MeasuredRaters, RaterRow
from ranking.raters.services.measuring import measure_raters

LOOKED_BACK = dt.timedelta(days=1)


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

    @property
    def is_changed(self) -> bool:
        """Whether any system would change its rank, or any ratings would appear or vanish."""
        return any(move.rank_before != move.rank_after for move in self.moves)


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
        keys = frozenset(row.head.pk for row in leaving)
        told = () if shown is not None else movements_without(study, leaving=keys, now=now)
        return Review(rows, told, ())
    if expected is not None and set(expected) != {row.code for row in leaving}:
        raise ReviewChangedError
    decisions = excluding.exclude_by_rules(
        study=study, examined=[_examined(row) for row in leaving], now=now, by=by
    )
    return Review(rows, (), tuple(decisions))


def _examined(row: RaterRow) -> excluding.Examined:
    newest = row.head.decision
    return excluding.Examined(row.head.pk, row.findings, newest.pk if newest else None)


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
    compared = None if is_alone else frames.read_compared(judges)

    def read(pool: EvaluatorPool, without: frozenset[int] = frozenset()) -> GroupedJudgments:
        selection = Selection(study, pool, ContextSet.ALL, now, without)
        if is_alone:
            return frames.read_implied(selection)
        return frames.read_verdicts(selection, compared)

    def with_and_without(pool: EvaluatorPool) -> tuple[GroupedJudgments, GroupedJudgments]:
        everybody = read(pool)
        return everybody, read(pool, leaving) if leaving else everybody

    pools = {EvaluatorPool.HUMAN: with_and_without(EvaluatorPool.HUMAN)}
    if frames.selected(judges).exists():
        pools[EvaluatorPool.COMBINED] = with_and_without(EvaluatorPool.COMBINED)
    names = dict(System.objects.values_list("slug", "name"))
    return tuple(
        movement(pool.label, names, both, method_of(study, pool)) for pool, both in pools.items()
    )


@dataclass(frozen=True)
class _Rated:
    n_judgments: int
    elo: Mapping[str, float]
    refusal: str

    def rank(self, slug: str) -> int | None:
        if slug not in self.elo:
            return None
        return 1 + sum(elo > self.elo[slug] for elo in self.elo.values())


def _rated(judgments: GroupedJudgments, method: Method) -> _Rated:
    if not judgments.n_judgments:
        return _Rated(0, {}, _("There are no judgments."))
    try:
        return _Rated(judgments.n_judgments, point_ratings(judgments, method), "")
    except EstimateRefusedError as refusal:
        return _Rated(judgments.n_judgments, {}, str(refusal))


def movement(
    pool: str,
    names: Mapping[str, str],
    both: tuple[GroupedJudgments, GroupedJudgments],
    method: Method,
) -> Movement:
    """Rate the judgments now and after, and say how each system moves; ``names`` are by slug."""
    before, after = (_rated(one, method) for one in both)
    best = before.elo or after.elo
    return Movement(
        pool=pool,
        n_before=before.n_judgments,
        n_after=after.n_judgments,
        moves=tuple(
            Move(
                slug=slug,
                name=names[slug],
                elo_before=before.elo.get(slug),
                elo_after=after.elo.get(slug),
                rank_before=before.rank(slug),
                rank_after=after.rank(slug),
            )
            for slug in sorted(best, key=lambda slug: (-best[slug], slug))
        ),
        refusal_before=before.refusal,
        refusal_after=after.refusal,
    )
