"""Which of several texts of a context is best, chosen by random halves of the evaluators."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Booleans, Floats, Integers

PRIOR_WEIGHT = 5.0  # judgments that come out as expected, given to every text before any came
DIGITS = 6  # of a mean of counts: what is behind them is rounding
ALIKE = 1e-9  # scores nearer than this are the same: rounding must not choose


@dataclass(frozen=True)
class TextJudgments:
    """Judgments of texts against systems, or groups of alike ones, as columns of (n_rows,).

    ``text``, ``opponent`` and ``evaluator`` are indices from 0; ``to_text`` and ``to_opponent``
    are the weights (dimensionless, at least 0) that go to each side. ``context`` has shape
    (n_texts,): the index of the context that each text answers, every one having a text.
    """

    text: Integers
    opponent: Integers
    evaluator: Integers
    to_text: Floats
    to_opponent: Floats
    context: Integers

    @property
    def weight(self) -> Floats:
        """Return the weight of each row, shape (n_rows,)."""
        return self.to_text + self.to_opponent

    @property
    def n_contexts(self) -> int:
        """Return how many contexts there are."""
        return len(np.unique(self.context))


@dataclass(frozen=True)
class BestOf:
    """How much each row counts for the best text of its context, 0 to 1, shape (n_rows,).

    ``n_contexts`` is the number of contexts that have a say and ``n_left_out`` that of the
    others, both means over the splits.
    """

    share: Floats
    n_contexts: float
    n_left_out: float


def whole(mean: float) -> int:
    """Round a mean of counts; one that is a half goes to the even number in any order of adding."""
    return round(round(mean, DIGITS))


def choose_and_score(judgments: TextJudgments, strengths: Floats, average: float) -> BestOf:
    """Choose the best text of each context, and score it on the very same judgments.

    Parameters
    ----------
    judgments : TextJudgments
        All judgments of the texts.
    strengths : array of shape (n_systems,)
        Log strengths (natural log) of the opponents.
    average : float
        Log strength of all texts together, on the same scale.

    Returns
    -------
    BestOf
        ``share`` is 1 for the judgments of the chosen text, or 1/m for each of m texts with the
        same best score, and 0 for the others.

    Raises
    ------
    ValueError
        If the columns do not fit each other or there are no rows.

    Notes
    -----
    A text's score is the mean over its judgments of what it took less what a text of average
    strength takes from that opponent, shrunk by `PRIOR_WEIGHT` judgments without surprise:
    sum(to_text - weight * p) / (sum(weight) + 5). So it matters neither which opponents a text
    happened to meet nor, much, how few. The best of several is best by luck too: what these
    rows say of it is too good (the winner's curse). Cost O(n_rows).

    References
    ----------
    .. [1] Efron & Morris (1975), J. Am. Stat. Assoc. 70:311-319 (shrinkage).
       doi:10.1080/01621459.1975.10479864
    .. [2] HEART (2026), arXiv:2601.19922, section 9.3: the top-scoring completion is scored on
       what it was chosen by.
    """
    _check(judgments, strengths)
    surprise = _surprise(judgments, strengths, average)
    share = _choose(judgments, surprise)[judgments.text]
    n = _n_contexts_with(judgments, share)
    return BestOf(share, n, judgments.n_contexts - n)


def cross_fit(
    judgments: TextJudgments, strengths: Floats, average: float, halves: Booleans
) -> BestOf:
    """Choose by one half of the evaluators and score by the other; swap; average.

    Parameters
    ----------
    judgments, strengths, average
        As in `choose_and_score`.
    halves : boolean array of shape (n_splits, n_evaluators)
        Which evaluators are in the second half, for each way to split them.

    Returns
    -------
    BestOf
        ``share`` is how much a row counted on average over the splits. In each split, a row
        scores the choice that the half without its evaluator made.

    Raises
    ------
    ValueError
        If the columns do not fit each other, there are no rows or no splits, or a half has no
        evaluator.

    Notes
    -----
    All judgments of an evaluator are in one half. That alone would not do: both halves saw the
    same opponents, and a text that met a weak completion looks good to both. So the choice that
    is scored against an opponent does not count what its texts took from that very opponent,
    but only by how much one took more than another. Where each text met one opponent, and no
    two the same, hardly anything is left to choose by, and the best is rated near the average.

    A text that the choosing half did not judge has the score 0, what is expected of it. Where
    it judged none there is no choice, and where the scoring half did not judge the chosen one
    there is no score; ``n_left_out`` counts these, half a context for each half of a split. The
    choice is made on less than all judgments, so the score is on the low side for the best
    text. Cost O(n_splits * (n_rows + n_texts * opponents per context)).

    References
    ----------
    .. [1] Stone (1974), J. R. Stat. Soc. B 36:111-147. doi:10.1111/j.2517-6161.1974.tb00994.x
    .. [2] Chernozhukov et al. (2018), Econometrics J. 21:C1-C68. doi:10.1111/ectj.12097
    """
    _check(judgments, strengths)
    _check_halves(judgments, halves)
    surprise = _surprise(judgments, strengths, average)
    meetings = _Meetings.of(judgments, n_systems=len(strengths))
    share, n = np.zeros(len(judgments.text)), 0.0
    for half in halves:
        second = half[judgments.evaluator]
        for scoring in (second, ~second):
            chosen = meetings.choose(surprise * ~scoring, judgments.weight * ~scoring)
            scored = np.where(scoring, chosen, 0.0)
            share += scored / len(halves)
            n += _n_contexts_with(judgments, scored) / (2 * len(halves))
    return BestOf(share, n, judgments.n_contexts - n)


def _surprise(judgments: TextJudgments, strengths: Floats, average: float) -> Floats:
    """Return how much more each row gave its text than a text of average strength gets."""
    expected: Floats = special.expit(average - strengths[judgments.opponent])
    return judgments.to_text - judgments.weight * expected


def _choose(judgments: TextJudgments, surprise: Floats) -> Floats:
    """Return the share of each text in the choice of its context."""
    n_texts = len(judgments.context)
    weight = _sums(judgments.text, judgments.weight, n_texts)
    surprises = _sums(judgments.text, surprise, n_texts)
    return _best_of_each(judgments.context, surprises, weight)


def _best_of_each(group: Integers, surprise: Floats, weight: Floats) -> Floats:
    """Share 1 among the best scores of each group, 0 where none of it has any weight."""
    n_groups = int(group.max()) + 1
    score = surprise / (weight + PRIOR_WEIGHT)
    best = np.full(n_groups, -np.inf)
    np.maximum.at(best, group, score)
    has_weight = _sums(group, weight, n_groups) > ALIKE
    is_best = (score >= best[group] - ALIKE) & has_weight[group]
    n_best = _sums(group, is_best.astype(np.float64), n_groups)
    share: Floats = is_best / np.maximum(n_best, 1.0)[group]
    return share


@dataclass(frozen=True)
class _Meetings:
    """The texts that compete whenever their context is scored against one opponent.

    A cell is a text and an opponent that met. A candidate is a text of a context and an
    opponent that any text of that context met: ``text``, ``group`` (context and opponent) and
    ``cell`` (one past the last if the two did not meet) have shape (n_candidates,).
    """

    cell_of_row: Integers
    text_of_cell: Integers
    group_of_cell: Integers
    text: Integers
    group: Integers
    cell: Integers
    candidate_of_cell: Integers

    @classmethod
    def of(cls, judgments: TextJudgments, *, n_systems: int) -> "_Meetings":
        """Find out which texts met which opponents."""
        cells, cell_of_row = np.unique(
            judgments.text * n_systems + judgments.opponent, return_inverse=True
        )
        text_of_cell, opponent = np.divmod(cells, n_systems)
        groups, group_of_cell = np.unique(
            judgments.context[text_of_cell] * n_systems + opponent, return_inverse=True
        )
        text, group = _pairs_of_equals(judgments.context, groups // n_systems)
        keys = text * n_systems + groups[group] % n_systems
        place = np.minimum(np.searchsorted(cells, keys), len(cells) - 1)
        met = cells[place] == keys
        candidate_of_cell = np.empty(len(cells), dtype=np.int64)
        candidate_of_cell[place[met]] = np.flatnonzero(met)
        cell = np.where(met, place, len(cells))
        return cls(cell_of_row, text_of_cell, group_of_cell, text, group, cell, candidate_of_cell)

    def choose(self, surprise: Floats, weight: Floats) -> Floats:
        """Return for each row the share of its text in the choice scored against its opponent."""
        n_cells, n_texts = len(self.text_of_cell), int(self.text.max()) + 1
        in_cell = [_sums(self.cell_of_row, one, n_cells) for one in (surprise, weight)]
        by_text, weight_of_text = (_sums(self.text_of_cell, one, n_texts) for one in in_cell)
        by_group, weight_of_group = (_sums(self.group_of_cell, one) for one in in_cell)
        scale = np.maximum(weight_of_group, ALIKE)
        met = np.append(in_cell[1], 0.0)[self.cell]
        share = _best_of_each(
            self.group,
            by_text[self.text] - met * (by_group / scale)[self.group],
            weight_of_text[self.text] - met**2 / scale[self.group],
        )
        chosen: Floats = share[self.candidate_of_cell][self.cell_of_row]
        return chosen


def _sums(index: Integers, weights: Floats, n: int = 0) -> Floats:
    """Add up the weights of each index, of ``n`` indices or more."""
    return np.bincount(index, weights, n).astype(np.float64, copy=False)


def _pairs_of_equals(left: Integers, right: Integers) -> tuple[Integers, Integers]:
    """Return all (i, j) at which ``left[i] == right[j]``."""
    order = np.argsort(left, kind="stable")
    start, stop = (np.searchsorted(left[order], right, side=side) for side in ("left", "right"))
    n = stop - start
    j = np.arange(len(right)).repeat(n)
    within = np.arange(n.sum()) - (np.cumsum(n) - n)[j]
    return order[start[j] + within], j


def _n_contexts_with(judgments: TextJudgments, share: Floats) -> float:
    """Count the contexts that rows with a share are about."""
    return float(len(np.unique(judgments.context[judgments.text[share > 0]])))


def _check(judgments: TextJudgments, strengths: Floats) -> None:
    """Raise ValueError unless the columns fit each other and there is a row."""
    rows = (judgments.text, judgments.opponent, judgments.evaluator)
    shapes = {one.shape for one in (*rows, judgments.to_text, judgments.to_opponent)}
    if len(shapes) > 1 or not judgments.text.size:
        msg = f"columns must be of one length above 0, not {sorted(shapes)}"
        raise ValueError(msg)
    bounds = (len(judgments.context), len(strengths), np.inf)
    for name, index, bound in zip(("text", "opponent", "evaluator"), rows, bounds, strict=True):
        if index.min() < 0 or index.max() >= bound:
            msg = f"{name} must lie between 0 and {bound - 1}"
            raise ValueError(msg)
    weights = np.concatenate([judgments.to_text, judgments.to_opponent])
    if not np.isfinite(weights).all() or (weights < 0).any():
        msg = "weights must be finite and not negative"
        raise ValueError(msg)


def _check_halves(judgments: TextJudgments, halves: Booleans) -> None:
    """Raise ValueError unless every split has an evaluator on both sides."""
    if halves.ndim != 2 or not len(halves) or judgments.evaluator.max() >= halves.shape[1]:  # noqa: PLR2004
        msg = f"halves must be of shape (n_splits, n_evaluators), not {halves.shape}"
        raise ValueError(msg)
    if halves.all(axis=1).any() or not halves.any(axis=1).all():
        msg = "both halves must have an evaluator"
        raise ValueError(msg)


FEWEST_EVALUATORS = 2


def draw_halves(strata: Integers, *, n_splits: int, rng: np.random.Generator) -> Booleans:
    """Split evaluators into halves at random, each stratum as evenly as it goes.

    Parameters
    ----------
    strata : integer array of shape (n_evaluators,)
        What is to be spread over both halves: say 0 for people, 1 for judges.
    n_splits : int
        How many ways to split them, above 0.
    rng : numpy.random.Generator
        The only source of chance.

    Returns
    -------
    boolean array of shape (n_splits, n_evaluators)
        The halves differ by one evaluator at most, in all and in each stratum.

    Raises
    ------
    ValueError
        If there are fewer than two evaluators, or no splits are asked for.
    """
    if len(strata) < FEWEST_EVALUATORS or n_splits < 1:
        msg = f"cannot split {len(strata)} evaluators {n_splits} times"
        raise ValueError(msg)
    halves = np.empty((n_splits, len(strata)), dtype=np.bool_)
    turns = np.arange(len(strata)) % 2 == 0
    for half in halves:
        half[np.lexsort((rng.random(len(strata)), strata))] = turns ^ bool(rng.integers(2))
    return halves
