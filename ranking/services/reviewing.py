"""Hold the raters of a study against its rules, on trial or for good."""

import datetime as dt
from dataclasses import dataclass

from annotation import quality_selectors
from annotation import services as annotation_services
from annotation.models import Exclusion, Study
from completions.models import System
from ranking import frames, review_selectors
from ranking.choices import ContextSet, EvaluatorPool
from ranking.estimate import EstimateRefusedError, point_ratings
from ranking.frames import Selection
from ranking.review_selectors import RaterRow
from ranking.services.claiming import method_of

LOOKED_BACK = dt.timedelta(days=1)


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


def review_raters(*, study: Study, dry_run: bool, now: dt.datetime) -> Review:
    """Hold every rater of the study against its locked rules.

    A dry run writes nothing and tells who would go and how ranks would move. A real one writes
    one decision per rater and rule, in one transaction; running it again writes nothing new.
    LLM judges are not looked at.
    """
    rows = review_selectors.rater_rows(study, as_of=now)
    leaving = frozenset(row.head.pk for row in rows if row.would_go)
    if dry_run:
        return Review(rows, _movements(study, leaving=leaving, now=now), ())
    examined = [
        annotation_services.Examined(
            row.head.pk, row.findings, row.head.decision.pk if row.head.decision else None
        )
        for row in rows
        if row.would_go
    ]
    decisions = annotation_services.exclude_by_rules(study=study, examined=examined, now=now)
    return Review(rows, (), tuple(decisions))


def review_study(*, study_id: int, now: dt.datetime) -> Review:
    """Review the raters of the study of that key, for good."""
    return review_raters(study=Study.objects.get(pk=study_id), dry_run=False, now=now)


def studies_to_review(*, now: dt.datetime) -> list[int]:
    """Return the keys of the studies in which a person answered within the last day."""
    recent = quality_selectors.recently_judged(since=now - LOOKED_BACK)
    return list(recent.values_list("pk", flat=True))


def _movements(study: Study, *, leaving: frozenset[int], now: dt.datetime) -> tuple[Movement, ...]:
    """Return what would become of each pool that has ratings of people in it."""
    pools = (EvaluatorPool.HUMAN, EvaluatorPool.COMBINED)
    found = [_movement(study, pool, leaving=leaving, now=now) for pool in pools]
    people, everybody = found
    return (people,) if people.n_before == everybody.n_before else (people, everybody)


def _movement(
    study: Study, pool: EvaluatorPool, *, leaving: frozenset[int], now: dt.datetime
) -> Movement:
    before = _rated(Selection(study, pool, ContextSet.ALL, now))
    after = _rated(Selection(study, pool, ContextSet.ALL, now, leaving)) if leaving else before
    best = before.elo or after.elo
    names = dict(System.objects.filter(slug__in=best).values_list("slug", "name"))
    return Movement(
        pool=pool.label,
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


@dataclass(frozen=True)
class _Rated:
    n_judgments: int
    elo: dict[str, float]
    refusal: str

    def rank(self, slug: str) -> int | None:
        if slug not in self.elo:
            return None
        return 1 + sum(elo > self.elo[slug] for elo in self.elo.values())


def _rated(selection: Selection) -> _Rated:
    judgments = frames.read_groups(selection)
    if not judgments.groups:
        return _Rated(0, {}, "There are no judgments.")
    try:
        elo = point_ratings(judgments, method_of(selection.study))
    except EstimateRefusedError as refusal:
        return _Rated(judgments.n_judgments, {}, str(refusal))
    return _Rated(judgments.n_judgments, elo, "")
