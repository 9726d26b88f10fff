"""Tables that leave the site as CSV: which columns, and their rows one by one."""

import csv
import datetime as dt
from collections.abc import Iterable, Iterator, Mapping

from django.db.models import (
    BooleanField,
    Case,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    Subquery,
    When,
)
from django.db.models.expressions import Combinable

from annotation import verdict_selectors
from annotation.choices import Protocol
from annotation.models import DimensionMark, Judgment, Study
from annotation.selectors import dimension_keys
from ranking.accounting import CLASSES, AccountRow
from ranking.board import Board, BoardRow, PeopleRow
from ranking.findings import Table
from ranking.history_selectors import HistoryPoint
from ranking.rater_rows import RaterRow
from ranking.rule import SIMULATED, analysis_set

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
BATCH = 2000
Cell = str | int | float | bool | dt.datetime | None
Lines = Iterator[str]
Rows = Iterator[tuple[Cell, ...]]

# Nothing of a judgment leaves that is not named here. Raters go by their pseudonym; platform
# ids, sessions and time zones stay.
JUDGMENT_COLUMNS: dict[str, Combinable] = {
    "comparison": F("comparison__key"),
    "context": F("comparison__context__key"),
    "stratum": F("comparison__context__stratum"),
    "is_simulated_context": F("comparison__context__is_simulated"),
    "purpose": F("comparison__purpose"),
    "first_system": F("comparison__first__system__slug"),
    "second_system": F("comparison__second__system__slug"),
    "rater": F("rater__code"),
    "judge": F("judge__name"),
    "is_simulated": Case(When(SIMULATED, then=True), default=False),
    "protocol": F("protocol"),
    "protocol_hash": F("protocol_hash"),
    "verdict": F("verdict"),
    "side_of_first": F("first_side"),
    "is_check": Case(When(lease__quality_check__isnull=False, then=True), default=False),
    "is_repeat": Case(When(lease__repeats__isnull=False, then=True), default=False),
    "plan": F("comparison__study__plan"),
    "sampling_probability": F("lease__sampling_probability"),
    "sample": F("judge_call__sample"),
    "first_probability": F("judge_call__first_probability"),
    "addresses_judge": Case(When(judge_call__asked__has_key="addressed", then=True), default=False),
    "prompt_hash": F("judge_call__prompt_hash"),
    "shown_at": F("shown_at"),
    "submitted_at": F("submitted_at"),
    "hidden_ms": F("hidden_ms"),
    "paused_ms": F("paused_ms"),
    "is_surplus": F("is_surplus"),
    "is_revised": Exists(Judgment.objects.filter(revises=OuterRef("pk"))),
    "rationale": F("rationale"),
}
RATING_COLUMNS = (
    "fit",
    "fit_is_simulated",
    "tier",
    "rank",
    "rank_low",
    "rank_high",
    "system",
    "kind",
    "is_simulated",
    "elo",
    "elo_se",
    "elo_low",
    "elo_high",
    "joint_low",
    "joint_high",
    "sandwich_se",
    "win_per_cent",
    "n_judgments",
    "wins",
    "losses",
    "ties",
    "derived",
)

RATER_COLUMNS = (
    "rater",
    "is_simulated",
    "state",
    "answers",
    "median_seconds",
    "checks_seen",
    "checks_passed",
    "share_a",
    "infit",
    "agreement",
    "findings",
    "standing",
    "decided_by_rule",
    "decided_at",
    "reason",
)
HISTORY_COLUMNS = (
    *("fit", "fit_is_simulated", "as_of", "code_version", "n_judgments"),
    *("system", "elo", "elo_low", "elo_high"),
)
ACCOUNT_COLUMNS = ("evaluator", "is_simulated", "is_excluded", "n_calls", *CLASSES)


class _Line:
    """A file that hands back what was written to it."""

    def write(self, text: str) -> str:
        return text


ENSEMBLE_COLUMNS = (
    "comparison",
    "context",
    "stratum",
    "first_system",
    "second_system",
    "is_simulated",
    "verdict",
    "votes_first",
    "votes_second",
    "judges",
    "consistent",
)


def csv_lines(rows: Iterable[Iterable[Cell]]) -> Iterator[str]:
    """Turn rows into lines of CSV, one by one, with spreadsheet formulas made harmless."""
    writer = csv.writer(_Line())
    for row in rows:
        yield writer.writerow([defuse(cell) for cell in row])


def defuse(cell: Cell) -> Cell:
    """Put an apostrophe before text that a spreadsheet would run as a formula."""
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS):
        return f"'{cell}"
    return cell.isoformat() if isinstance(cell, dt.datetime) else cell


def judgment_rows(*, study: Study, now: dt.datetime) -> Iterator[tuple[Cell, ...]]:
    """Return a header and one row per judgment of the study, in the canonical frame.

    Verdicts and marks are positive when the first completion is ahead. ``counts`` says whether
    the judgment is in the analysis set as of now. One query, read in batches.
    """
    keys = dimension_keys(study)
    yield (*JUDGMENT_COLUMNS, "counts", *(f"mark_{key}" for key in keys))
    counted = Q(pk__in=analysis_set(study=study, as_of=now).values("pk"))
    rows = (
        Judgment.objects.filter(comparison__study=study)
        .order_by("pk")
        .values_list(
            *JUDGMENT_COLUMNS.values(),
            ExpressionWrapper(counted, output_field=BooleanField()),
            *(_mark(key) for key in keys),
        )
    )
    yield from rows.iterator(chunk_size=BATCH)


def rating_rows(board: Board) -> Iterator[tuple[Cell, ...]]:
    """Return a header, one row per system, best rated first, and what is made from people."""
    implied = ("is_implied",) if board.is_implied else ()  # by ratings of single messages
    shares = (f"win_per_cent_{share.key}" for share in board.dimensions)
    yield (*RATING_COLUMNS, *shares, *implied)
    head = (board.key, board.conditions.is_simulated)
    for row in board.rows:
        yield (*head, *_rating_cells(row), *(True for _ in implied))
    for one in board.people:
        yield (*head, *_people_cells(board, one))


def finding_rows(table: Table, *, terms: Mapping[str, Cell]) -> Iterator[tuple[Cell, ...]]:
    """Return a header and the rows of one table that an analysis found, systems by their slugs.

    Each row begins with the ``terms`` on which it holds, such as the fit.
    """
    yield (*terms, *(column.key for column in table.columns))
    for row in table.rows:
        yield (*terms.values(), *row)


def account_rows(rows: Iterable[AccountRow]) -> Iterator[tuple[Cell, ...]]:
    """Return a header and one row per judge and for people; the places sum to the calls."""
    yield ACCOUNT_COLUMNS
    for row in rows:
        yield (row.name, row.is_simulated, row.is_excluded, row.n_calls, *row.cells)


def history_rows(points: Iterable[HistoryPoint]) -> Iterator[tuple[Cell, ...]]:
    """Return a header and one row per fit and system, the oldest fit first."""
    yield HISTORY_COLUMNS
    for point in points:
        made = (point.as_of, point.code_version, point.n_judgments)
        head = (point.key, point.is_simulated, *made)
        for slug, band in point.systems.items():
            yield (*head, slug, *map(_rounded, band))


def file_name(*parts: str, is_simulated: bool) -> str:
    """Return the name of a download, which says by itself if simulated data are behind it."""
    return "-".join([*(["simulated"] if is_simulated else []), *parts])


def rater_rows(rows: Iterable[RaterRow]) -> Iterator[tuple[Cell, ...]]:
    """Return a header and one row per rater; nothing but the pseudonym tells who it is."""
    yield RATER_COLUMNS
    for row in rows:
        newest = row.head.decision
        decision = (newest.rule, newest.decided_at, newest.reason) if newest else (None,) * 3
        figures = (row.median_seconds, row.share_a, row.infit, row.agreement)
        seconds, *shares = (None if one is None else round(one, 4) for one in figures)
        yield (
            *(row.code, row.head.is_simulated, row.head.state.lower(), row.n_answers, seconds),
            *(row.n_checks, row.n_passed, *shares),
            " ".join(finding.rule for finding in row.findings),
            row.standing,
            *decision,
        )


def ensemble_rows(study: Study) -> Iterator[tuple[Cell, ...]]:
    """Return a header and one row per comparison with a verdict of its LLM judges.

    A column per judge says where that judge stands; it is named by the judge's name, which
    says "simulated" where it is. Comparisons of deleted texts are left out, and so are judges
    excluded from the analysis. Five queries, the long one read in batches.
    """
    panel = verdict_selectors.panel_of(study)
    judges = [judge for pk, judge in panel.judges.items() if pk not in panel.excluded]
    facts = verdict_selectors.facts_of(study)
    yield (*ENSEMBLE_COLUMNS, *(f"judge_{judge.name}" for judge in judges))
    if study.protocol == Protocol.LIKERT:
        return  # who rates a message alone names no winner
    for one in verdict_selectors.judged_comparisons(study, panel):
        if (found := one.ensemble) is None:
            continue
        fact = facts[one.comparison]
        said = [one.verdicts.get(judge.pk) for judge in judges]
        asked = [judge for judge, verdict in zip(judges, said, strict=True) if verdict]
        yield (
            *(fact.key, fact.context, fact.stratum, fact.first_system, fact.second_system),
            fact.is_simulated or any(judge.is_simulated for judge in asked),
            *(str(found.outcome), found.n_first, found.n_second, found.n_judges),
            found.is_consistent,
            *(str(verdict.winner or verdict.standing) if verdict else None for verdict in said),
        )


def _mark(dimension: str) -> Subquery:
    marks = DimensionMark.objects.filter(judgment=OuterRef("pk"), dimension=dimension)
    return Subquery(marks.values("advantage"))


def _rating_cells(row: BoardRow) -> tuple[Cell, ...]:
    shares = (share.per_cent for share in row.dimensions)
    return (
        *(row.tier, row.rank, row.rank_low, row.rank_high),
        *(row.name, row.kind, row.is_simulated),
        *map(_rounded, (row.elo, row.elo_se, row.elo_low, row.elo_high)),
        *map(_rounded, (row.joint_low, row.joint_high, row.sandwich_se, row.win_rate)),
        *(row.n_judgments, row.wins, row.losses, row.ties, None),
        *map(_rounded, shares),
    )


def _people_cells(board: Board, row: PeopleRow) -> tuple[Cell, ...]:
    """Return cells that name no system and no rank, and say by ``derived`` what they are of."""
    return (
        *(None, None, None, None, None, "DERIVED", board.conditions.is_simulated),
        *map(_rounded, (row.elo, row.elo_se, row.elo_low, row.elo_high)),
        *(None, None, None, None, row.n_judgments, None, None, None, row.name),
        *(None for _ in board.dimensions),
    )


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 2)
