"""How little would have to be left out for another system to come first."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry, fit_replicates
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.sandwich import fisher_covariance
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate, tabulate_by

MOST_ROUNDS = 30
MOST_ONE_BY_ONE = 20
MOST_TRIED = 3
N_CHALLENGERS = 10
BLOCK_BYTES = 32 * 2**20
NOTHING = 1e-9  # share of a weight: what is left of a subtraction is rounding


@dataclass(frozen=True)
class SmallestRemoval:
    """What to leave out so that another system comes first.

    Attributes
    ----------
    leader : int
        The system that comes first with all judgments.
    by_influence : int or None
        Groups to leave out by the linear approximation; None if no number is enough by it.
    groups : integer array
        Groups whose removal, by an exact refit, does put another system first, most
        influential first; empty if none were found.
    new_first : int or None
        The system that comes first without them.
    """

    leader: int
    by_influence: int | None
    groups: Integers
    new_first: int | None


def smallest_removal(
    pairs: WeightedPairs, group: Integers, log_strengths: Floats
) -> SmallestRemoval:
    """Search for the fewest groups of judgments whose removal changes the first place.

    Parameters
    ----------
    pairs : WeightedPairs
        The judgments, one row each; ``unit`` is not looked at.
    group : integer array of shape (n_rows,)
        What is left out together, as indices from 0: the rows themselves, units, or raters.
    log_strengths : array of shape (n_systems,)
        The fit of all rows (natural log).

    Returns
    -------
    SmallestRemoval

    Raises
    ------
    ValueError
        If columns differ in length or an index is out of range.

    Notes
    -----
    Leaving out group g moves the lead of a over b by about ``-(e_a - e_b)' H^- U_g``. The groups
    that support the lead most are left out until, by that sum, it is gone; the rest is fitted
    anew, and groups are added, by their influence at the new fit, until the refit confirms
    the change. The list is then cut back by halves, and a short one group by group, as far as
    refits still confirm. What is returned is therefore enough for certain, and near the fewest,
    but a smaller set may exist.
    Cost O(n_rows) per challenger and refit.

    References
    ----------
    .. [1] Broderick, Giordano & Meager (2020), arXiv:2011.14999.
    .. [2] Huang, Shen, Wei & Broderick (2025), arXiv:2508.11847.
    """
    if group.shape != pairs.first.shape:
        msg = f"columns differ in length: {group.shape}, {pairs.first.shape}"
        raise ValueError(msg)
    removal = _Removal(pairs, group, len(log_strengths))
    order = (-log_strengths).argsort(kind="stable")
    leader = int(order[0])
    everything = np.ones(removal.n_groups, dtype=np.bool_)
    bread = fisher_covariance(removal.tables(everything), log_strengths)
    found = []
    for challenger in order[1 : 1 + N_CHALLENGERS]:
        lead = _Lead(leader, int(challenger), log_strengths, bread)
        chosen, is_enough = removal.next_out(lead, everything)
        found.append((len(chosen) if is_enough else math.inf, lead))
    found.sort(key=lambda one: one[0])
    confirmed = [removal.confirm(lead) for _, lead in found[:MOST_TRIED]]
    best = min(confirmed, key=lambda one: (one.new_first is None, len(one.groups)))
    count = found[0][0]
    return replace(best, by_influence=None if math.isinf(count) else int(count))


def without_each(pairs: WeightedPairs, group: Integers, log_strengths: Floats) -> Floats:
    """Fit the judgments again without each group in turn.

    Parameters
    ----------
    pairs, group, log_strengths
        As in `smallest_removal`.

    Returns
    -------
    array of shape (n_groups, n_systems)
        Log strengths (natural log); a row of NaN for a group without which the others do not
        connect.

    Notes
    -----
    Exact refits, from a warm start. Cost O(n_groups * n_systems**3).
    """
    tables = tabulate_by(group, pairs, n_systems=len(log_strengths))
    n_groups, n_systems, total = tables.n_units, tables.n_systems, tables.total()
    step = max(1, BLOCK_BYTES // (8 * n_systems**2))
    fits = [
        fit_replicates(_less(total, tables, np.arange(at, min(at + step, n_groups))), log_strengths)
        for at in range(0, n_groups, step)
    ]
    return np.concatenate([np.empty((0, n_systems)), *fits])


@dataclass(frozen=True)
class _Lead:
    """The lead of one system over another at a fit, and the bread of that fit."""

    leader: int
    challenger: int
    log_strengths: Floats
    bread: Floats

    @property
    def gap(self) -> float:
        return float(self.log_strengths[self.leader] - self.log_strengths[self.challenger])

    @property
    def is_lost(self) -> bool:
        return self.gap < -NOTHING

    def support(self, pairs: WeightedPairs) -> Floats:
        """Return what each row adds to the lead, to first order."""
        direction = self.bread[self.leader] - self.bread[self.challenger]
        theta = self.log_strengths
        p = special.expit(theta[pairs.first] - theta[pairs.second])
        score = pairs.to_first * (1.0 - p) - pairs.to_second * p
        support: Floats = score * (direction[pairs.first] - direction[pairs.second])
        return support


@dataclass(frozen=True)
class _Removal:
    """Judgments in groups that can be left out."""

    pairs: WeightedPairs
    group: Integers
    n_systems: int

    @property
    def n_groups(self) -> int:
        return int(self.group.max(initial=-1)) + 1

    def tables(self, kept: Booleans) -> WinTables:
        """Return the judgments of the groups kept, as if of one unit."""
        rows = kept[self.group]
        pairs = replace(self.pairs.part(rows), unit=np.zeros(int(rows.sum()), dtype=np.int64))
        return tabulate(pairs, n_units=1, n_systems=self.n_systems)

    def next_out(self, lead: _Lead, kept: Booleans) -> tuple[Integers, bool]:
        """Return the groups to leave out next, by their influence, and whether these suffice.

        If all that support the lead do not suffice, to first order, it is half of them.
        """
        support = np.bincount(self.group, lead.support(self.pairs), self.n_groups)
        order = np.where(kept, support, -np.inf).argsort(kind="stable")[::-1]
        order = order[: int((support[kept] > 0).sum())]
        gone = np.cumsum(support[order]) > lead.gap
        if gone.any():
            return order[: int(gone.argmax()) + 1], True
        return order[: (len(order) + 1) // 2], False

    def confirm(self, lead: _Lead) -> SmallestRemoval:
        """Leave out groups until a refit puts another system first, then as few as will do."""
        kept = np.ones(self.n_groups, dtype=np.bool_)
        chosen: list[int] = []
        start = lead
        for _ in range(MOST_ROUNDS):
            more, _ = self.next_out(start, kept)
            if not more.size:
                break
            chosen += more.tolist()
            kept[more] = False
            refit = self.refit(kept, lead)
            if refit is None:
                break
            if refit.is_lost:
                return self.shortened(lead, chosen, refit.challenger)
            start = refit
        return SmallestRemoval(lead.leader, None, np.empty(0, dtype=np.int64), None)

    def shortened(self, lead: _Lead, chosen: list[int], new_first: int) -> SmallestRemoval:
        """Cut the list back as far as the first place still changes: by halves, then one by one."""
        low, high = 0, len(chosen)
        while high - low > 1:
            middle = (low + high) // 2
            refit = self.without(chosen[:middle], lead)
            if refit is not None and refit.is_lost:
                high, new_first = middle, refit.challenger
            else:
                low = middle
        few = chosen[:high]
        if high <= MOST_ONE_BY_ONE:
            tried = (self.needed(lead, few, order, new_first) for order in (few, few[::-1]))
            few, new_first = min(tried, key=lambda one: len(one[0]))
        return SmallestRemoval(lead.leader, None, np.array(few, dtype=np.int64), new_first)

    def needed(
        self, lead: _Lead, chosen: list[int], order: list[int], new_first: int
    ) -> tuple[list[int], int]:
        """Take back each group, in that order, without which the first place changes as well."""
        for one in order:
            fewer = [other for other in chosen if other != one]
            refit = self.without(fewer, lead)
            if refit is not None and refit.is_lost:
                chosen, new_first = fewer, refit.challenger
        return chosen, new_first

    def without(self, chosen: list[int], lead: _Lead) -> _Lead | None:
        """Refit without the groups chosen."""
        kept = np.ones(self.n_groups, dtype=np.bool_)
        kept[chosen] = False
        return self.refit(kept, lead)

    def refit(self, kept: Booleans, lead: _Lead) -> _Lead | None:
        """Return the lead over whoever is strongest of the others without the groups left out.

        While the leader still leads, the challenger stays the same. None without a maximum.
        """
        tables = self.tables(kept)
        try:
            theta = fit_bradley_terry(tables.total()).log_strengths
        except (NotConnectedError, NotConvergedError):
            return None
        others = np.where(np.arange(self.n_systems) == lead.leader, -np.inf, theta)
        strongest = int(others.argmax())
        ahead = theta[lead.leader] - theta[strongest] < -NOTHING
        challenger = strongest if ahead else lead.challenger
        return _Lead(lead.leader, challenger, theta, fisher_covariance(tables, theta))


def _less(total: Floats, tables: WinTables, groups: Integers) -> Floats:
    """Return the total less each of the groups, shape (n, n_systems, n_systems)."""
    theirs = tables.rows[groups].toarray().reshape(len(groups), *total.shape)
    left = total - theirs
    return np.where(left > NOTHING * total, left, 0.0)
