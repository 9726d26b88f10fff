"""Other rankers beside the ratings: what they would have said."""

from dataclasses import dataclass

import numpy as np
import scipy

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import FittedBoard, best_first, decimal, fitted, judgment_weights
from ranking.findings import Cell, Column, ColumnKind, Findings, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.elo import to_elo
from ranking.numerics.rankers import (
    DAMPING,
    K_FACTOR,
    average_win_rates,
    eigenvector_scores,
    online_elo,
    pagerank,
    skills,
)

METHOD = (
    f"Average win rate; online Elo (factor {K_FACTOR:g}) averaged over seeded orders; the "
    "Plackett-Luce skill of Weng and Lin (2011) by OpenSkill; PageRank (damping "
    f"{DAMPING:g}) and the leading eigenvector of the wins. None but Bradley-Terry allows for "
    "who met whom on stated assumptions."
)
ORDERS = 20
MOST_ONLINE = 50_000
MOST_SKILL = 20_000


@dataclass(frozen=True)
class _Ranker:
    """One way to rank: its key, its words, what its figures are, and the figures."""

    key: str
    label: str
    kind: ColumnKind
    scores: Floats
    digits: int = 4


def analyse(inputs: AnalysisInputs) -> Findings:
    """Rank the systems by other ways.

    Raises
    ------
    AnalysisRefusedError
        If there are no ratings.
    """
    found, columns = fitted(inputs), inputs.columns
    rng = np.random.default_rng(inputs.method.seed)
    rankers = _rankers(found, columns, rng)
    order = best_first(found.log_strengths)
    tables = (
        _figures(rankers, columns, order),
        _ranks(rankers, columns, order),
        _agreement(rankers),
    )
    return Findings(METHOD, tables, _warnings(inputs))


def _rankers(
    found: FittedBoard, columns: JudgmentColumns, rng: np.random.Generator
) -> tuple[_Ranker, ...]:
    wins, n = found.tables.total(), len(columns.systems)
    pairs = np.stack([columns.first, columns.second])
    taken = found.pairs.to_first / (found.pairs.to_first + found.pairs.to_second)
    some = _some(columns.n_judgments, MOST_ONLINE, rng)
    orders = np.array([rng.permutation(len(some)) for _ in range(ORDERS)])
    online = online_elo(pairs[:, some], taken[some], orders, n_systems=n)
    few = _some(columns.n_judgments, MOST_SKILL, rng)
    skill = skills(pairs[:, few], taken[few], n_systems=n)
    elo, number = ColumnKind.ELO, ColumnKind.NUMBER
    return (
        _Ranker("bradley_terry", "Bradley-Terry", elo, to_elo(found.log_strengths), 1),
        _Ranker("win_rate", "Average win rate", ColumnKind.SHARE, average_win_rates(wins)),
        _Ranker("online_elo", "Online Elo", elo, online.mean(axis=0), 1),
        _Ranker("skill", "OpenSkill", number, skill, 2),
        _Ranker("pagerank", "PageRank", number, pagerank(wins)),
        _Ranker("eigenvector", "Eigenvector", number, eigenvector_scores(wins)),
    )


def _some(n: int, most: int, rng: np.random.Generator) -> Integers:
    """Return all judgments, or as many as are allowed, in the order given."""
    if n <= most:
        return np.arange(n)
    return np.sort(rng.choice(n, most, replace=False))


def _figures(rankers: tuple[_Ranker, ...], columns: JudgmentColumns, order: list[int]) -> Table:
    rows = tuple(
        (columns.systems[i], *(decimal(one.scores[i], one.digits) for one in rankers))
        for i in order
    )
    return Table(
        "figures",
        "The figures of other rankers",
        "Each column has a scale of its own; compare orders, not figures. Shares are those of the "
        "board: with soft scores a win is not a whole one.",
        (
            Column("system", "System", ColumnKind.SYSTEM),
            *(Column(one.key, one.label, one.kind) for one in rankers),
        ),
        rows,
    )


def _ranks(rankers: tuple[_Ranker, ...], columns: JudgmentColumns, order: list[int]) -> Table:
    ranks = [_rank(one) for one in rankers]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (columns.systems[i], *(int(rank[i]) for rank in ranks)) for i in order
    )
    return Table(
        "ranks",
        "The ranks by other rankers",
        "1 is the best; equal figures share the better rank. Where a row changes, the rank rests "
        "on the way of ranking as much as on the judgments.",
        (
            Column("system", "System", ColumnKind.SYSTEM),
            *(Column(one.key, one.label, ColumnKind.COUNT) for one in rankers),
        ),
        rows,
    )


def _rank(ranker: _Ranker) -> Integers:
    rounded = np.round(ranker.scores, 9)
    return np.asarray(1 + (rounded[None, :] > rounded[:, None]).sum(axis=1), dtype=np.int64)


def _agreement(rankers: tuple[_Ranker, ...]) -> Table:
    own = _rank(rankers[0])
    rows = []
    for one in rankers[1:]:
        rank = _rank(one)
        alike = len(set(own.tolist())) == 1 or len(set(rank.tolist())) == 1
        tau = np.nan if alike else float(scipy.stats.kendalltau(own, rank).statistic)
        rows.append((one.label, decimal(tau, 3), int((own != rank).sum())))
    return Table(
        "agreement",
        "Agreement with the ratings",
        "Kendall's tau is 1 where two rankings agree in every pair of systems and -1 where they "
        "disagree in every one.",
        (
            Column("ranker", "Ranker", ColumnKind.TEXT),
            Column("tau", "Kendall's tau"),
            Column("moved", "Systems with another rank", ColumnKind.COUNT),
        ),
        tuple(rows),
    )


def _warnings(inputs: AnalysisInputs) -> tuple[str, ...]:
    n, weigh = inputs.columns.n_judgments, judgment_weights(inputs.columns, inputs.method)
    samples = ((MOST_ONLINE, "online Elo"), (MOST_SKILL, "OpenSkill"))
    warnings = [
        f"Of {n:,} judgments {most:,} drawn at random are used for {name}."
        for most, name in samples
        if n > most
    ]
    if np.ptp(weigh) > 0.0:
        warnings.append(
            "Online Elo and OpenSkill count each judgment once; the board and the other rankers "
            "weigh people and judges by declared masses."
        )
    return tuple(warnings)
