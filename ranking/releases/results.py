"""What was computed: ratings, analyses and figures of the released fits."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ranking import figures
from ranking.choices import FitState
from ranking.figures import FigureFormat, FigureRefusedError
from ranking.findings import Findings, Picture, Table
from ranking.fits import analysis_queries
from ranking.models import Analysis, DimensionRate, Fit, HumanRating, Rating
from ranking.plots.radar import ChosenRows
from ranking.released.identities import renamed
from ranking.releases.contents import Contents
from ranking.report import figures as report_figures

RATED = (
    *("theta", "elo", "elo_se", "elo_low", "elo_high", "rank", "rank_low", "rank_high"),
    *("joint_low", "joint_high", "tier", "sandwich_se"),
    *("n_judgments", "wins", "losses", "ties"),
)
OF_PEOPLE = ("elo", "elo_se", "elo_low", "elo_high", "n_judgments", "n_contexts", "detail")
KEPT_BACK = ("stamp",)  # keys of rows, which mean nothing elsewhere


def ratings(contents: Contents, fit: Fit) -> dict[str, Any]:
    """Return a fit with all its ratings."""
    rates = DimensionRate.objects.filter(rating__fit=fit)
    found: dict[int, dict[str, Any]] = {}
    for rating, dimension, wins, n in rates.values_list("rating", "dimension", "wins", "n_marks"):
        found.setdefault(rating, {})[dimension] = {"wins": wins, "n_marks": n}
    rows = Rating.objects.filter(fit=fit).select_related("system").order_by("system__slug")
    people = HumanRating.objects.filter(fit=fit).order_by("kind")
    known = {key: fit.diagnostics[key] for key in fit.diagnostics if key not in KEPT_BACK}
    return {
        "fit": fit.key,
        "pool": fit.pool,
        "context_set": fit.context_set,
        "as_of": fit.as_of.isoformat(),
        "code_version": fit.code_version,
        "method": fit.method,
        "is_simulated": fit.is_simulated,
        "n_judgments": fit.n_judgments,
        "n_units": fit.n_units,
        "state": fit.state,
        "refusal": fit.refusal,
        "diagnostics": renamed(known, contents.codes),
        "ratings": [
            {"system": row.system.slug, "dimensions": found.get(row.pk, {})}
            | {name: getattr(row, name) for name in RATED}
            for row in rows
        ],
        "people": [
            {"kind": row.kind} | {name: getattr(row, name) for name in OF_PEOPLE} for row in people
        ],
    }


def analyses(contents: Contents, fit: Fit) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the analyses of a fit that have ended, by their kinds in small letters.

    Raters go by their ids here as everywhere. What pages compute from beside the tables stays.
    """
    newest: dict[str, Analysis] = {}
    ended = Analysis.objects.filter(fit=fit).exclude(state=FitState.RUNNING)
    for row in ended.order_by("claimed_at", "pk"):
        newest[row.kind] = row
    for kind in sorted(newest):
        row = newest[kind]
        found = dict(row.result)
        found.pop("kept", None)
        yield (
            kind.lower(),
            {
                "fit": fit.key,
                "kind": kind,
                "code_version": row.code_version,
                "is_simulated": fit.is_simulated,
                "refusal": row.refusal,
                "findings": _without_codes(found, contents.codes) if found else None,
            },
        )


def _without_codes(found: dict[str, Any], codes: Mapping[str, str]) -> dict[str, Any]:
    cleaned: dict[str, Any] = renamed(found, codes)
    for table in cleaned["tables"]:
        if any(column["kind"] == "evaluator" for column in table["columns"]):
            table["rows"] = sorted(table["rows"], key=str)  # not in the order of pseudonyms
    return cleaned


def drawn(fit: Fit) -> Iterator[tuple[str, bytes]]:
    """Yield the figures of a fit as SVG by their names: its ratings, and what analyses draw.

    They are those of the public pages: no person is in them alone. What cannot be drawn in print
    is left out.
    """
    if fit.state == FitState.DONE:
        board, sign = report_figures.ratings_to_draw(fit)
        with suppress(FigureRefusedError):
            yield "ratings", figures.rendered(figures.board_drawing(board, sign), FigureFormat.SVG)
    for shown in analysis_queries.analyses_of(fit):
        for table in _with_pictures(shown.findings):
            if (content := _drawn(fit, shown.kind.lower(), table.key)) is not None:
                yield f"{shown.kind.lower()}-{table.key}", content


def _with_pictures(found: Findings | None) -> list[Table]:
    tables = found.tables if found else ()
    return [one for one in tables if one.picture not in {Picture.NONE, Picture.RADAR}]


def _drawn(fit: Fit, kind: str, table: str) -> bytes | None:
    named = report_figures.table_to_draw(fit, kind, table, ChosenRows.read([]))
    if named is None:
        return None
    try:
        return figures.rendered(figures.table_drawing(*named), FigureFormat.SVG)
    except FigureRefusedError:
        return None
