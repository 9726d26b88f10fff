"""Reads of what a leaderboard shows."""

from dataclasses import replace
from typing import TypeVar

from django.db.models import Prefetch, Q
from django.utils.translation import gettext as _

from annotation.choices import Protocol
from annotation.models import Study
from completions.models import System
from ranking.boards.board import (
    CENTRE,
    Board,
    BoardRow,
    Conditions,
    DimensionShare,
    Joining,
    Missing,
    PeopleRefusal,
    PeopleRow,
)
from ranking.choices import ContextSet, EvaluatorPool, PeopleKind
from ranking.models import DimensionRate, Fit, HumanRating, Rating
from ranking.plots.scales import Whisker, whiskers

Row = TypeVar("Row", BoardRow, PeopleRow)


def board_of(fit: Fit) -> Board:
    """Return what a leaderboard shows of the fit, best rated first. Up to four queries.

    Below the minimum of its study it has no ratings, in whatever form it leaves.
    """
    missing = _missing(fit)
    ratings = [] if missing else _ratings(fit)
    names = _dimension_names(fit.study, ratings)
    rows = [_row(rating, names) for rating in ratings]
    people = [] if missing else [_people_row(one) for one in _human_ratings(fit)]
    intervals = [row.interval for row in rows] + [one.interval for one in people]
    drawn, ticks = whiskers(intervals, centre=CENTRE)
    components, joining = _groups(fit)
    return Board(
        study=fit.study.slug,
        title=fit.study.title,
        key=fit.key,
        refusal=fit.refusal or _said(missing),
        components=components,
        joining=joining,
        conditions=_conditions(fit),
        rows=tuple(map(_drawn, rows, drawn[: len(rows)])),
        people=tuple(map(_drawn, people, drawn[len(rows) :])),
        people_refused=_people_refused(fit),
        ticks=ticks,
        is_implied=fit.study.protocol == Protocol.LIKERT,
        is_embargoed=fit.is_embargoed,
        missing=missing,
    )


def _missing(fit: Fit) -> tuple[Missing, ...]:
    """Return what the study wants more of before its systems are ranked."""
    minimum = fit.study.content.get("results", {})
    known = fit.diagnostics
    have = {
        "judgments": (_("judgments"), fit.n_judgments),
        "dialogues": (_("dialogues"), fit.n_units),
    }
    if not known["judges"]:
        have["raters"] = (_("people who judge"), known["n_raters"])
    return tuple(
        Missing(what, n, minimum.get(key, 0))
        for key, (what, n) in have.items()
        if n < minimum.get(key, 0)
    )


def _said(missing: tuple[Missing, ...]) -> str:
    """Return in a sentence what is missing, or nothing."""
    if not missing:
        return ""
    told = ", ".join(
        _("%(n)s of %(wanted)s %(what)s") % {"n": n, "wanted": wanted, "what": what}
        for what, n, wanted in missing
    )
    return _("Not enough judgments to rank these systems yet: %(told)s.") % {"told": told}


def ranked(study: Study) -> Q:
    """Return which fits of a study have all that it wants before its systems are ranked."""
    minimum = study.content.get("results", {})
    n_judgments, n_dialogues = minimum.get("judgments", 0), minimum.get("dialogues", 0)
    enough = Q(n_judgments__gte=n_judgments, n_units__gte=n_dialogues)
    if n_raters := minimum.get("raters", 0):
        enough &= Q(diagnostics__n_raters__gte=n_raters) | ~Q(diagnostics__judges=[])
    return enough


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


def _drawn(row: Row, whisker: Whisker | None) -> Row:
    return replace(row, whisker=whisker)


def _row(rating: Rating, names: dict[str, str]) -> BoardRow:
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
        tier=rating.tier,
        joint_low=rating.joint_low,
        joint_high=rating.joint_high,
        sandwich_se=rating.sandwich_se,
    )


def _people_row(rating: HumanRating) -> PeopleRow:
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
        opponents_per_text=rating.detail.get("opponents_per_text"),
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


def _groups(fit: Fit) -> tuple[tuple[tuple[str, ...], ...], tuple[Joining, ...]]:
    """Return the groups that a refused fit cannot compare, and what would join them, by names."""
    components = fit.diagnostics.get("components", [])
    slugs = {slug for group in components for slug in group}
    names = dict(System.objects.filter(slug__in=slugs).values_list("slug", "name"))
    pairs = (
        Joining(names[one["winner"]], names[one["loser"]], one["is_either_way"])
        for one in fit.diagnostics.get("joining", [])
    )
    return tuple(tuple(names[slug] for slug in group) for group in components), tuple(pairs)
