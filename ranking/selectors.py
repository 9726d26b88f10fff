"""Reads of the ranking app."""

from django.db.models import Max, Prefetch, QuerySet

from annotation.models import Study
from completions.models import System
from ranking import frames
from ranking.board import (
    Board,
    BoardRow,
    Conditions,
    DimensionShare,
    PeopleRefusal,
    PeopleRow,
    Whisker,
    whiskers,
)
from ranking.board_text import as_text
from ranking.choices import ContextSet, EvaluatorPool, FitState, PeopleKind
from ranking.groups import Stamp
from ranking.models import DimensionRate, Fit, HumanRating, Rating

ENDED = (FitState.DONE, FitState.REFUSED)
# What a reader who names nothing is shown: the first of these that has been fitted.
PREFERRED = (EvaluatorPool.COMBINED, EvaluatorPool.HUMAN, EvaluatorPool.LLM)


def newest_fits(study: Study) -> dict[tuple[EvaluatorPool, ContextSet], Fit]:
    """Return the fit claimed last for each pool and context set, in whatever state."""
    groups = Fit.objects.filter(study=study).values("pool", "context_set")
    newest = groups.annotate(newest=Max("pk")).values("newest")
    return {
        (EvaluatorPool(fit.pool), ContextSet(fit.context_set)): fit
        for fit in Fit.objects.filter(pk__in=newest)
    }


def latest_fit(*, study: Study, pool: EvaluatorPool, context_set: ContextSet) -> Fit | None:
    """Return the fit of the newest analysis set that has ended, done or refused, or None."""
    fits = _ended(study).filter(pool=pool, context_set=context_set)
    return fits.order_by("-as_of", "-pk").first()


def fit_by_key(*, study: Study, key: str) -> Fit | None:
    """Return the ended fit of that permanent name, or None."""
    return _ended(study).filter(key=key).first()


def fitted_selections(study: Study) -> list[tuple[EvaluatorPool, ContextSet]]:
    """Return the pools and context sets that have a fit to show, the most telling first."""
    found = set(_ended(study).values_list("pool", "context_set"))
    return [(pool, name) for pool in PREFERRED for name in ContextSet if (pool, name) in found]


def is_out_of_date(fit: Fit | None) -> bool:
    """Say whether raters left, came back or had their answers deleted since the fit."""
    if fit is None:
        return False
    known = Stamp.of(fit.diagnostics["stamp"])
    return known.n_decisions != frames.n_decisions(fit.study)


def leaderboard_text(fit: Fit) -> str:
    """Return the leaderboard of a fit as a table for a terminal."""
    return as_text(board_of(fit))


def board_of(fit: Fit) -> Board:
    """Return what a leaderboard shows of the fit, best rated first."""
    ratings, people = _ratings(fit), _human_ratings(fit)
    intervals = [(one.elo_low, one.elo, one.elo_high) for one in ratings]
    drawn = whiskers(intervals + [(one.elo_low, one.elo, one.elo_high) for one in people])
    return Board(
        study=fit.study.slug,
        title=fit.study.title,
        key=fit.key,
        refusal=fit.refusal,
        components=_named(fit.diagnostics.get("components", [])),
        conditions=_conditions(fit),
        rows=_rows(fit, ratings, drawn[: len(ratings)]),
        people=tuple(map(_people_row, people, drawn[len(ratings) :])),
        people_refused=_people_refused(fit),
    )


def _ended(study: Study) -> QuerySet[Fit]:
    return Fit.objects.filter(study=study, state__in=ENDED).select_related("study")


def _conditions(fit: Fit) -> Conditions:
    known, method = fit.diagnostics, fit.method
    return Conditions(
        pool=EvaluatorPool(fit.pool).label,
        context_set=ContextSet(fit.context_set).label,
        as_of=fit.as_of,
        n_judgments=fit.n_judgments,
        n_dialogues=fit.n_units,
        n_raters=known["n_raters"],
        judges=tuple(known["judges"]),
        is_simulated=fit.is_simulated,
        has_simulated_evaluators=known["has_simulated_evaluators"],
        has_simulated_contexts=known.get("has_simulated_contexts", False),
        slightly=method["slightly"],
        much=method["much"],
        replicates=method["replicates"],
        replicates_without_maximum=known.get("replicates_without_maximum", 0),
        seed=method["seed"],
        warnings=tuple(known.get("warnings", ())),
        inputs_hash=fit.inputs_hash,
        protocol_hash=fit.study.protocol_hash,
        plan=fit.study.plan,
        code_version=fit.code_version,
    )


def _ratings(fit: Fit) -> list[Rating]:
    return list(
        Rating.objects.filter(fit=fit)
        .select_related("system")
        .prefetch_related(
            Prefetch("dimension_rates", queryset=DimensionRate.objects.order_by("dimension"))
        )
        .order_by("rank", "system__name")
    )


def _human_ratings(fit: Fit) -> list[HumanRating]:
    """Return the ratings of systems made from people in the order they are shown."""
    return sorted(fit.human_ratings.all(), key=lambda one: PeopleKind.values.index(one.kind))


def _rows(fit: Fit, ratings: list[Rating], drawn: list[Whisker]) -> tuple[BoardRow, ...]:
    names = _dimension_names(fit.study, ratings)
    return tuple(_row(rating, names, at) for rating, at in zip(ratings, drawn, strict=True))


def _row(rating: Rating, names: dict[str, str], whisker: Whisker) -> BoardRow:
    rates = {rate.dimension: rate for rate in rating.dimension_rates.all()}
    return BoardRow(
        slug=rating.system.slug,
        name=rating.system.name,
        kind=rating.system.kind,
        is_simulated=rating.system.is_simulated,
        elo=rating.elo,
        elo_se=rating.elo_se,
        elo_low=rating.elo_low,
        elo_high=rating.elo_high,
        rank=rating.rank,
        rank_low=rating.rank_low,
        rank_high=rating.rank_high,
        n_judgments=rating.n_judgments,
        wins=rating.wins,
        losses=rating.losses,
        ties=rating.ties,
        dimensions=tuple(_share(key, name, rates.get(key)) for key, name in names.items()),
        whisker=whisker,
    )


def _people_row(rating: HumanRating, whisker: Whisker) -> PeopleRow:
    return PeopleRow(
        kind=rating.kind,
        name=PeopleKind(rating.kind).label,
        elo=rating.elo,
        elo_se=rating.elo_se,
        elo_low=rating.elo_low,
        elo_high=rating.elo_high,
        n_judgments=rating.n_judgments,
        n_contexts=rating.n_contexts,
        contexts=rating.detail["contexts"],
        opponents_per_text=rating.detail["opponents_per_text"],
        whisker=whisker,
    )


def _people_refused(fit: Fit) -> tuple[PeopleRefusal, ...]:
    refused = fit.diagnostics.get("people_refused", {})
    kinds = (kind for kind in PeopleKind if kind in refused)
    return tuple(PeopleRefusal(kind.value, kind.label, refused[kind]) for kind in kinds)


def _share(key: str, name: str, rate: DimensionRate | None) -> DimensionShare:
    if rate is None:
        return DimensionShare(key, name, None, 0)
    return DimensionShare(key, name, 100.0 * rate.wins / rate.n_marks, rate.n_marks)


def _dimension_names(study: Study, ratings: list[Rating]) -> dict[str, str]:
    """Return the rubric's dimensions in its order, if any system has a mark on any."""
    is_marked = any(rating.dimension_rates.all() for rating in ratings)
    dimensions = study.content["rubric"]["dimensions"] if is_marked else ()
    return {dimension["key"]: dimension["name"] for dimension in dimensions}


def _named(components: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    slugs = {slug for group in components for slug in group}
    names = dict(System.objects.filter(slug__in=slugs).values_list("slug", "name"))
    return tuple(tuple(names[slug] for slug in group) for group in components)
