"""What a leaderboard shows of a fit, and how it reads on a terminal."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from statistics import median
from typing import Any, NamedTuple

from django.db.models import Prefetch, Q
from django.utils.translation import gettext as _

from annotation.choices import Protocol
from annotation.models import Study
from completions.models import System
from ranking.choices import PeopleKind
from ranking.judgments.method import missing_of
from ranking.models import DimensionRate, Fit, HumanRating, Rating
from ranking.models.fits import DimensionShare
from ranking.plots.scales import Interval, Tick, Whisker, whiskers


@dataclass(frozen=True)
class AnalysisLink:
    """One analysis of the fit of that name, what it asks, and where it stands.

    ``state`` is one of `FitState`; ``is_exploratory`` says that the study's file did not name it
    before the judgments were seen.
    """

    fit: str
    slug: str
    label: str
    question: str
    state: str
    is_exploratory: bool = True

    @property
    def is_running(self) -> bool:
        """Say whether it is still being computed."""
        return self.state == "RUNNING"

    @property
    def is_refused(self) -> bool:
        """Say whether the judgments do not allow it."""
        return self.state == "REFUSED"


CENTRE = 1500.0
N_COLUMNS = 6  # beside the dimensions


def interval_of(row: Rating | HumanRating) -> Interval:
    """Return a rating with its intervals; what is made from people has none jointly."""
    ends = (row.elo_low, row.elo, row.elo_high)
    return (
        Interval(*ends, row.joint_low, row.joint_high)
        if isinstance(row, Rating)
        else Interval(*ends)
    )


@dataclass(frozen=True)
class PeopleRefusal:
    """A system made from people's texts that could not be rated, and why."""

    kind: str
    name: str
    reason: str


class Missing(NamedTuple):
    """What a board has too few of, by a name, and how many its study wants."""

    what: str
    n: int
    wanted: int


@dataclass(frozen=True)
class Board:
    """The ratings of one fit, best first, or why there are none; never shown without the fit.

    Where something is ``missing``, no system is ranked. ``joining`` are judgments that would join
    the groups of systems, ``components``, by names: each is a share for a winner against a loser,
    and where ``is_either_way``, as the groups never met, each of the two needs one.
    """

    fit: Fit
    rows: tuple[Rating, ...]
    refusal: str = ""
    components: tuple[tuple[str, ...], ...] = ()
    joining: tuple[dict[str, Any], ...] = ()
    people: tuple[HumanRating, ...] = ()
    people_refused: tuple[PeopleRefusal, ...] = ()
    analyses: tuple[AnalysisLink, ...] = ()
    missing: tuple[Missing, ...] = ()

    @property
    def is_implied(self) -> bool:
        """Say whether nobody compared messages: each was rated alone, and points imply pairs."""
        return self.fit.study.protocol == Protocol.LIKERT

    @cached_property
    def _drawn(self) -> tuple[tuple[Whisker | None, ...], tuple[Tick, ...]]:
        return whiskers(
            [*map(interval_of, self.rows), *map(interval_of, self.people)], centre=CENTRE
        )

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Return the ticks of the axis that all intervals share."""
        return self._drawn[1]

    @property
    def drawn_people(self) -> Iterator[tuple[HumanRating, Whisker | None]]:
        """Return what is made from people with its interval as drawn."""
        return zip(self.people, self._drawn[0][len(self.rows) :], strict=True)

    @property
    def leading(self) -> tuple[str, ...]:
        """Return the names of the systems that nothing sets apart from the first; of one, none."""
        if not self.has_tiers or len(self.rows) == 1:
            return ()
        return tuple(row.name for row in self.rows if self._is_leading(row))

    @property
    def behind(self) -> tuple[str, ...]:
        """Return the names of the systems that the intervals set apart from the first."""
        if not self.leading:
            return ()
        return tuple(row.name for row in self.rows if not self._is_leading(row))

    def _is_leading(self, row: Rating) -> bool:
        """Say whether neither tiers nor ranks, which may tell more, set it apart from the first."""
        first = self.rows[0]
        return row.tier == first.tier and row.rank_low <= first.rank_high

    @property
    def has_human_baseline(self) -> bool:
        """Say whether completions written for the study by people are among the systems."""
        return any(row.is_human for row in self.rows)

    @property
    def dimensions(self) -> tuple[DimensionShare, ...]:
        """Return the dimensions that have a column, as the first row has them."""
        return self.rows[0].dimensions if self.rows else ()

    @property
    def n_columns(self) -> int:
        """Return how many columns the table has."""
        return N_COLUMNS + len(self.dimensions)

    @property
    def tiers(self) -> list[tuple[int | None, list[tuple[Rating, Whisker | None]]]]:
        """Return the number of each tier with its rows and their intervals as drawn, in order.

        Systems of a tier are not set apart from the best of them. Fits made before there were
        tiers have one without a number.
        """
        drawn = zip(self.rows, self._drawn[0], strict=False)  # people follow
        groups = groupby(drawn, key=lambda one: one[0].tier)
        return [(number, list(rows)) for number, rows in groups]

    @property
    def has_tiers(self) -> bool:
        """Say whether the fit sorted its systems into tiers."""
        return any(row.tier is not None for row in self.rows)

    @property
    def has_joint_intervals(self) -> bool:
        """Say whether there are intervals that hold for all systems at once."""
        return any(row.joint_low is not None for row in self.rows)

    @property
    def sandwich_per_cent(self) -> float | None:
        """Return the closed-form error as a share of the bootstrap's, their median in per cent."""
        shares = [
            100.0 * row.sandwich_se / row.elo_se
            for row in self.rows
            if row.sandwich_se is not None and row.elo_se > 0
        ]
        return median(shares) if shares else None


def board_of(fit: Fit) -> Board:
    """Return what a leaderboard shows of the fit, best rated first. Up to four queries.

    Below the minimum of its study it has no ratings, in whatever form it leaves.
    """
    missing = missing_from(fit)
    components, joining = _groups(fit)
    return Board(
        fit,
        rows=() if missing else _ratings(fit),
        refusal=refusal_of(fit),
        components=components,
        joining=joining,
        people=() if missing else _human_ratings(fit),
        people_refused=_people_refused(fit),
        missing=missing,
    )


def missing_from(fit: Fit) -> tuple[Missing, ...]:
    """Return what the study wants more of before its systems are ranked."""
    names = {
        "judgments": _("judgments"),
        "dialogues": _("dialogues"),
        "raters": _("people who judge"),
    }
    n = {"n_judgments": fit.n_judgments, "n_dialogues": fit.n_units}
    missing = missing_of(fit.study.content, fit.diagnostics, **n)
    return tuple(Missing(names[key], *numbers) for key, numbers in missing.items())


def refusal_of(fit: Fit) -> str:
    """Return in a sentence why no system is ranked, or nothing."""
    missing = missing_from(fit)
    if fit.refusal or not missing:
        return fit.refusal
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


def _ratings(fit: Fit) -> tuple[Rating, ...]:
    """Return the ratings with the rubric's dimensions in its order, if any has a mark on any."""
    found = tuple(
        Rating.objects.filter(fit=fit)
        .select_related("system")
        .prefetch_related(
            Prefetch("dimension_rates", queryset=DimensionRate.objects.order_by("dimension"))
        )
        .order_by("rank", "system__name")
    )
    is_marked = any(rating.dimension_rates.all() for rating in found)
    dimensions = fit.study.content["rubric"]["dimensions"] if is_marked else ()
    for rating in found:
        rates = {rate.dimension: rate for rate in rating.dimension_rates.all()}
        rating.dimensions = tuple(
            _share(one["key"], one["name"], rates.get(one["key"])) for one in dimensions
        )
    return found


def _human_ratings(fit: Fit) -> tuple[HumanRating, ...]:
    """Return the ratings of systems made from people in the order they are shown."""
    found = fit.human_ratings.all()
    return tuple(sorted(found, key=lambda one: PeopleKind.values.index(one.kind)))


def _people_refused(fit: Fit) -> tuple[PeopleRefusal, ...]:
    refused = fit.diagnostics.get("people_refused", {})
    kinds = (kind for kind in PeopleKind if kind in refused)
    return tuple(PeopleRefusal(kind.value, kind.label, refused[kind]) for kind in kinds)


def _share(key: str, name: str, rate: DimensionRate | None) -> DimensionShare:
    if rate is None:
        return DimensionShare(key, name, None, 0)
    return DimensionShare(key, name, 100.0 * rate.wins / rate.n_marks, rate.n_marks)


def _groups(fit: Fit) -> tuple[tuple[tuple[str, ...], ...], tuple[dict[str, Any], ...]]:
    """Return the groups that a refused fit cannot compare, and what would join them, by names."""
    components = fit.diagnostics.get("components", [])
    slugs = {slug for group in components for slug in group}
    names = dict(System.objects.filter(slug__in=slugs).values_list("slug", "name"))
    pairs = (
        one | {"winner": names[one["winner"]], "loser": names[one["loser"]]}
        for one in fit.diagnostics.get("joining", [])
    )
    return tuple(tuple(names[slug] for slug in group) for group in components), tuple(pairs)


CAUTION = "Scores say how supportive short replies were perceived to be; they certify no safety."
SIMULATED = "Some systems, judges or dialogues are simulated: scores say nothing of real ones."

IMPLIED = (
    "Nobody compared messages: pairs are implied by points that one evaluator gave two of them."
)


def as_text(board: Board) -> str:
    """Write the board, its conditions first."""
    fit = board.fit
    contexts = fit.get_context_set_display().lower()
    lines = [
        f"{fit.study.title} ({fit.study.slug}): {fit.get_pool_display()}, {contexts}",
        f"{fit.n_judgments} judgments on {fit.n_units} source dialogues, fit {fit.key}",
        CAUTION,
    ]
    if fit.is_simulated:
        lines.append(SIMULATED)
    if board.is_implied:
        lines.append(IMPLIED)
    lines.append("")
    return "\n".join([*lines, *_ranked_lines(board), *_people_lines(board), *fit.warnings])


def _ranked_lines(board: Board) -> list[str]:
    if board.refusal:
        return [board.refusal, *(f"  {', '.join(group)}" for group in board.components)]
    width = max(len(_label(row)) for row in board.rows)
    heads = ["   Rank", f"{'System':<{width}}", "  Elo", "95 % interval", "Win %"]
    heads += [f"{dimension.key:>4}" for dimension in board.dimensions]
    return ["  ".join(heads), *(_row_line(row, width) for row in board.rows)]


def _row_line(row: Rating, width: int) -> str:
    interval = f"{row.elo_low:.0f} to {row.elo_high:.0f}"
    cells = [
        f"{row.rank_text:>7}",
        f"{_label(row):<{width}}",
        f"{row.elo:>5.0f}",
        f"{interval:>13}",
        f"{row.win_rate:>5.1f}",
    ]
    shares = (share.per_cent for share in row.dimensions)
    cells += [f"{'-' if share is None else f'{share:.0f}':>4}" for share in shares]
    return "  ".join(cells)


def _people_lines(board: Board) -> list[str]:
    """Write the rows made from people, which have no rank, under their own line."""
    lines = [*map(_people_line, board.people)]
    lines += [f"  {one.name}: {one.reason}" for one in board.people_refused]
    return ["", "Made from people, no systems of their own:", *lines, ""] if lines else []


def _people_line(row: HumanRating) -> str:
    caution = ", too high: chosen and scored by the same judgments" if row.is_optimistic else ""
    return f"  {row.name}: {row.elo:.0f} ({row.elo_low:.0f} to {row.elo_high:.0f}){caution}"


def _label(row: Rating) -> str:
    """Return the name with what it is; a simulated system's name says so by itself."""
    kinds = {"HUMAN": "people", "ORIGINAL": "original"}
    return f"{row.name} ({kinds[row.system.kind]})" if row.system.kind in kinds else row.name
