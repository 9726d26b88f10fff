"""Reads of the ranking app."""

from collections.abc import Iterable

from django.db.models import Max, Prefetch, QuerySet

from annotation.models import Study
from completions.models import System
from ranking.board import Board, BoardRow, DimensionShare, Whisker, whiskers
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.models import DimensionRate, Fit, Rating

ENDED = (FitState.DONE, FitState.REFUSED)


def newest_stamps(
    study: Study,
) -> dict[tuple[EvaluatorPool, ContextSet], tuple[str, str]]:
    """Return the stamp and method hash of the newest fit of each pool and context set."""
    newest = Fit.objects.filter(study=study).values("pool", "context_set")
    fits = Fit.objects.filter(pk__in=newest.annotate(newest=Max("pk")).values("newest"))
    return {
        (EvaluatorPool(fit.pool), ContextSet(fit.context_set)): (
            fit.diagnostics["stamp"],
            fit.method_hash,
        )
        for fit in fits
    }


def latest_fit(*, study: Study, pool: EvaluatorPool, context_set: ContextSet) -> Fit | None:
    """Return the fit of the newest analysis set that has ended, done or refused, or None."""
    return (
        _ended(study).filter(pool=pool, context_set=context_set).order_by("-as_of", "-pk").first()
    )


def fit_by_key(*, study: Study, key: str) -> Fit | None:
    """Return the ended fit of that permanent name, or None."""
    return _ended(study).filter(key=key).first()


def fitted_selections(study: Study) -> set[tuple[str, str]]:
    """Return the pools and context sets that have a fit to show."""
    return set(_ended(study).values_list("pool", "context_set").distinct().order_by())


def board_of(fit: Fit) -> Board:
    """Return what a leaderboard shows of the fit, best rated first."""
    diagnostics = fit.diagnostics
    return Board(
        study=fit.study.slug,
        title=fit.study.title,
        key=fit.key,
        pool=EvaluatorPool(fit.pool).label,
        context_set=ContextSet(fit.context_set).label,
        state=fit.state,
        as_of=fit.as_of,
        refusal=fit.refusal,
        components=_named(diagnostics.get("components", [])),
        is_simulated=fit.is_simulated,
        n_judgments=fit.n_judgments,
        n_dialogues=fit.n_units,
        n_raters=diagnostics["n_raters"],
        judges=tuple(diagnostics["judges"]),
        has_simulated_evaluators=diagnostics["has_simulated_evaluators"],
        method=fit.method,
        replicates_without_maximum=diagnostics.get("replicates_without_maximum", 0),
        warnings=tuple(diagnostics.get("warnings", ())),
        inputs_hash=fit.inputs_hash,
        protocol_hash=fit.study.protocol_hash,
        code_version=fit.code_version,
        rows=tuple(_rows(fit)),
    )


def _ended(study: Study) -> QuerySet[Fit]:
    return Fit.objects.filter(study=study, state__in=ENDED).select_related("study")


def _rows(fit: Fit) -> Iterable[BoardRow]:
    rates = DimensionRate.objects.order_by("dimension")
    ratings = (
        Rating.objects.filter(fit=fit)
        .select_related("system")
        .prefetch_related(Prefetch("dimension_rates", queryset=rates))
        .order_by("rank", "system__name")
    )
    drawn = whiskers([(r.elo_low, r.elo, r.elo_high) for r in ratings]) if ratings else []
    names = _dimension_names(fit.study, ratings)
    return [_row(rating, names, whisker) for rating, whisker in zip(ratings, drawn, strict=True)]


def _row(rating: Rating, names: dict[str, str], whisker: Whisker) -> BoardRow:
    rates = {rate.dimension: rate for rate in rating.dimension_rates.all()}
    return BoardRow(
        slug=rating.system.slug,
        name=rating.system.name,
        kind=rating.system.kind,
        is_simulated=rating.system.is_simulated,
        dimensions=tuple(_share(key, name, rates.get(key)) for key, name in names.items()),
        whisker=whisker,
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
    )


def _share(key: str, name: str, rate: DimensionRate | None) -> DimensionShare:
    if rate is None:
        return DimensionShare(key, name, None, 0)
    return DimensionShare(key, name, 100.0 * rate.wins / rate.n_marks, rate.n_marks)


def _dimension_names(study: Study, ratings: Iterable[Rating]) -> dict[str, str]:
    """Return the rubric's dimensions in its order, if any system has a mark on any."""
    marked = {rate.dimension for rating in ratings for rate in rating.dimension_rates.all()}
    dimensions = study.content["rubric"]["dimensions"] if marked else ()
    return {dimension["key"]: dimension["name"] for dimension in dimensions}


def _named(components: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    slugs = {slug for group in components for slug in group}
    if not slugs:
        return ()
    names = dict(System.objects.filter(slug__in=slugs).values_list("slug", "name"))
    return tuple(tuple(names[slug] for slug in group) for group in components)
