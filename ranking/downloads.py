"""Tables that leave the site as CSV: which columns, and their rows one by one."""

from collections.abc import Iterable, Iterator, Mapping

from access.console.csv_cells import Cell
from annotation.choices import Protocol
from annotation.judges import queries, verdict_queries
from annotation.models import Study
from annotation.quality.queries.records import ListedAnswer
from ranking.boards import Board
from ranking.findings import Table
from ranking.fits.analysis_queries import HistoryPoint
from ranking.models import Fit, HumanRating, Rating
from ranking.raters.accounting import CLASSES, AccountRow
from ranking.raters.rows import RaterRow

BATCH = 2000
Rows = Iterator[tuple[Cell, ...]]

RATING_COLUMNS = (
    "fit",
    "fit_is_simulated",
    "fit_is_embargoed",
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
    "is_team",
    "state",
    "answers",
    "median_seconds",
    "checks_seen",
    "checks_passed",
    "share_a",
    "infit",
    "agreement",
    "last_answer",
    "findings",
    "standing",
    "decided_by_rule",
    "decided_at",
    "reason",
)
ANSWER_COLUMNS = (
    *("rater", "sent_at", "kind", "first_system", "second_system", "verdict", "marks"),
    *("side_of_first", "seconds", "is_passed"),
)
HISTORY_COLUMNS = (
    *("fit", "fit_is_simulated", "as_of", "code_version", "n_judgments"),
    *("system", "elo", "elo_low", "elo_high"),
)
ACCOUNT_COLUMNS = ("evaluator", "is_simulated", "is_excluded", "n_calls", *CLASSES)


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


def rating_rows(board: Board) -> Iterator[tuple[Cell, ...]]:
    """Return a header, one row per system, best rated first, and what is made from people."""
    implied = ("is_implied",) if board.is_implied else ()  # by ratings of single messages
    shares = (f"win_per_cent_{share.key}" for share in board.dimensions)
    yield (*RATING_COLUMNS, *shares, *implied)
    head = (board.fit.key, board.fit.is_simulated, board.fit.is_embargoed)
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


def file_name(*parts: str, is_simulated: bool, is_embargoed: bool) -> str:
    """Return the name of a download, which says by itself what must be known before it is used."""
    said = {"embargoed": is_embargoed, "simulated": is_simulated}
    return "-".join([*(word for word, holds in said.items() if holds), *parts])


def name_of_fit_file(fit: Fit, what: str, *, is_simulated: bool | None = None) -> str:
    """Return the name of a download about a fit.

    ``is_simulated`` says so of what is in it, where that may be more than the fit itself knows.
    """
    return file_name(
        *(fit.study.slug, fit.key, what),
        is_simulated=fit.is_simulated if is_simulated is None else is_simulated,
        is_embargoed=fit.is_embargoed,
    )


def rater_rows(rows: Iterable[RaterRow]) -> Iterator[tuple[Cell, ...]]:
    """Return a header and one row per rater; nothing but the pseudonym tells who it is."""
    yield RATER_COLUMNS
    for row in rows:
        newest = row.decision
        decision = (newest.rule, newest.decided_at, newest.reason) if newest else (None,) * 3
        figures = (row.median_seconds, row.share_a, row.infit, row.agreement)
        seconds, *shares = (None if one is None else round(one, 4) for one in figures)
        yield (
            *(row.code, row.rater.is_simulated, row.rater.is_team, row.rater.state.lower()),
            *(row.n_answers, seconds),
            *(row.n_checks, row.n_passed, *shares, row.last_at),
            " ".join(finding.rule for finding in row.findings),
            row.status,
            *decision,
        )


def answer_rows(rater: str, rows: Iterable[ListedAnswer]) -> Iterator[tuple[Cell, ...]]:
    """Return a header and one row per answer of a rater, in the canonical frame."""
    yield ANSWER_COLUMNS
    for row in rows:
        marks = " ".join(f"{name}={value}" for name, value in row.marks)
        yield (
            *(rater, row.at, row.kind.lower(), row.first, row.second, row.verdict, marks),
            *(row.first_side, round(row.seconds, 1), row.is_passed),
        )


def ensemble_rows(study: Study) -> Iterator[tuple[Cell, ...]]:
    """Return a header and one row per comparison with a verdict of its LLM judges.

    A column per judge says where that judge stands; it is named by the judge's name, which
    says "simulated" where it is. Comparisons of deleted texts are left out, and so are judges
    excluded from the analysis. Five queries, the long one read in batches.
    """
    panel = queries.panel_of(study)
    judges = [judge for pk, judge in panel.judges.items() if pk not in panel.excluded]
    yield (*ENSEMBLE_COLUMNS, *(f"judge_{judge.name}" for judge in judges))
    if study.protocol == Protocol.LIKERT:
        return  # who rates a message alone names no winner
    for fact, one in verdict_queries.named_comparisons(study, panel):
        if (found := one.ensemble) is None:
            continue
        said = [one.verdicts.get(judge.pk) for judge in judges]
        answering = [judge for judge, verdict in zip(judges, said, strict=True) if verdict]
        yield (
            *(fact.key, fact.context, fact.stratum, fact.first_system, fact.second_system),
            fact.is_simulated or any(judge.is_simulated for judge in answering),
            *(str(found.outcome), found.n_first, found.n_second, found.n_judges),
            found.is_consistent,
            *(str(verdict.winner or verdict.status) if verdict else None for verdict in said),
        )


def _rating_cells(row: Rating) -> tuple[Cell, ...]:
    shares = (share.per_cent for share in row.dimensions)
    return (
        *(row.tier, row.rank, row.rank_low, row.rank_high),
        *(row.name, row.system.kind, row.system.is_simulated),
        *map(_rounded, (row.elo, row.elo_se, row.elo_low, row.elo_high)),
        *map(_rounded, (row.joint_low, row.joint_high, row.sandwich_se, row.win_rate)),
        *(row.n_judgments, row.wins, row.losses, row.ties, None),
        *map(_rounded, shares),
    )


def _people_cells(board: Board, row: HumanRating) -> tuple[Cell, ...]:
    """Return cells that name no system and no rank, and say by ``derived`` what they are of."""
    return (
        *(None, None, None, None, None, "DERIVED", board.fit.is_simulated),
        *map(_rounded, (row.elo, row.elo_se, row.elo_low, row.elo_high)),
        *(None, None, None, None, row.n_judgments, None, None, None, row.name),
        *(None for _ in board.dimensions),
    )


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 2)
