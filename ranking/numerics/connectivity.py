"""The graph of wins: whether it connects every system, so that strengths exist, and its circles."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ranking.numerics.arrays import Booleans, Floats, Integers


@dataclass(frozen=True)
class JoiningPair:
    """A judgment that would join groups: one that gives ``winner`` a share against ``loser``.

    Where the two groups have met, wins went one way only, and the way matters. Where they have
    not (``is_either_way``), each needs a share from the other: a tie, a soft score, or a win
    each way.
    """

    winner: int
    loser: int
    is_either_way: bool


class NotConnectedError(ValueError):
    """Some group of systems never takes, or never yields, a share of a win to the rest.

    Attributes
    ----------
    components : tuple of tuples of int
        Index sets inside which strengths can be compared, each sorted, by smallest index.
    joining : tuple of JoiningPair
        Judgments that together would make one component of them.
    """

    def __init__(
        self,
        components: tuple[tuple[int, ...], ...],
        joining: tuple[JoiningPair, ...] = (),
    ) -> None:
        super().__init__(f"the wins leave {len(components)} groups that cannot be compared")
        self.components = components
        self.joining = joining


def check_connected(wins: Floats, *, held: Sequence[int] = ()) -> None:
    """Raise NotConnectedError unless the wins are one strongly connected component.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        As in `strong_components`.
    held : sequence of int
        Systems whose strengths are given: they are comparable whatever the wins.
    """
    beats = np.array(wins, dtype=np.float64)
    for one, other in itertools.pairwise(held):
        beats[one, other] = beats[other, one] = 1.0
    components = strong_components(beats)
    if len(components) > 1:
        raise NotConnectedError(components, joining_pairs(beats))


def strong_components(wins: Floats) -> tuple[tuple[int, ...], ...]:
    """Group systems that beat each other directly or in a circle.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        ``wins[i, j]`` is the total weight of judgments that prefer ``i`` to ``j``
        (dimensionless, at least 0; only whether it is positive matters).

    Returns
    -------
    tuple of tuples of int
        The strongly connected components of "took a share of a win from": indices sorted
        inside a component, components sorted by smallest index. No systems, no components.

    Notes
    -----
    Bradley-Terry strengths have a finite maximum if and only if there is one component.
    Cost O(n_systems**2).

    References
    ----------
    .. [1] Ford (1957), Amer. Math. Monthly 64(8):28-33. doi:10.2307/2308513
    .. [2] Hunter (2004), Ann. Statist. 32:384-406. doi:10.1214/aos/1079120141
    """
    count, labels = csgraph.connected_components(np.asarray(wins) > 0, connection="strong")
    groups = (np.flatnonzero(labels == label) for label in range(count))
    return tuple(sorted(tuple(int(index) for index in group) for group in groups))


def connecting_wins(wins: Floats) -> Booleans:
    """Choose wins that alone make one strongly connected component, each of great weight.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        As in `strong_components`; all of them must make one component.

    Returns
    -------
    boolean array of shape (n_systems, n_systems)
        At most 2 (n_systems - 1) chosen cells. A sample of the judgments in which each of them
        is positive is connected, whatever the others are.

    Notes
    -----
    Among wins of at least half, a quarter, ... of the largest, the first set that connects all
    systems: from its first system a tree outwards and a tree inwards, by breadth.
    """
    strong = np.asarray(wins, dtype=np.float64)
    least = strong.max(initial=0.0) / 2.0
    while least > 0.0 and len(strong_components(strong >= least)) > 1:
        least /= 2.0
    edges = sparse.csr_array((strong >= least) & (strong > 0.0))
    chosen = np.zeros(strong.shape, dtype=np.bool_)
    for graph, cells in ((edges, chosen), (edges.T, chosen.T)):
        order, before = csgraph.breadth_first_order(graph, 0)
        cells[before[order[1:]], order[1:]] = True
    return chosen


def joining_pairs(wins: Floats) -> tuple[JoiningPair, ...]:
    """Name judgments that, added together, would leave one strongly connected component.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        As in `strong_components`.

    Returns
    -------
    tuple of JoiningPair
        First those between groups that never met, then those against the one way that wins
        went. Each group is stood for by its most judged system. Empty if there is one
        component already. There may be other ways, sometimes with fewer judgments.

    Notes
    -----
    Groups that never met are joined in a chain. Among groups that met, sorted so that wins go
    from earlier to later ones, each is joined to the next, where nothing leads there, and the
    last to the first: the circle that results is one component. Cost O(n_systems**3).
    """
    wins = np.asarray(wins, dtype=np.float64)
    _, islands = csgraph.connected_components(wins > 0, connection="weak")
    groups = [np.flatnonzero(islands == label) for label in np.unique(islands)]
    judged = wins.sum(axis=0) + wins.sum(axis=1)
    busiest = [int(group[judged[group].argmax()]) for group in groups]
    between = [
        JoiningPair(one, other, is_either_way=True) for one, other in itertools.pairwise(busiest)
    ]
    within = [pair for group in groups for pair in _close_circle(wins, group, judged)]
    return tuple(between + within)


def _close_circle(wins: Floats, group: Integers, judged: Floats) -> list[JoiningPair]:
    """Name the wins that would make one component of a group whose systems all met."""
    parts = [group[list(part)] for part in strong_components(wins[np.ix_(group, group)])]
    busiest = [int(part[judged[part].argmax()]) for part in parts]
    reaches = _reach(wins > 0)[np.ix_(busiest, busiest)]
    # What reaches more groups comes earlier: a win goes from an earlier group to a later one.
    order = np.argsort(-reaches.sum(axis=1), kind="stable")
    circle = [*zip(order, np.roll(order, -1), strict=True)] if len(order) > 1 else []
    return [
        JoiningPair(busiest[one], busiest[other], is_either_way=False)
        for one, other in circle
        if not reaches[one, other]
    ]


def _reach(edges: Booleans) -> Booleans:
    """Say which vertex reaches which along the edges, itself included."""
    reach = edges | np.eye(len(edges), dtype=np.bool_)
    while True:
        further = (reach.astype(np.float64) @ reach.astype(np.float64)) > 0
        if (further == reach).all():
            return reach
        reach = further


def strongly_connected(wins: Floats) -> Booleans:
    """Say for each of many win matrices whether it is one strongly connected component.

    Parameters
    ----------
    wins : array of shape (n_replicates, n_systems, n_systems)
        Weighted wins, as in `strong_components`, one matrix per replicate.

    Returns
    -------
    boolean array of shape (n_replicates,)

    Notes
    -----
    A directed graph is strongly connected when its first vertex reaches all others both
    forwards and backwards. Cost O(n_replicates * n_systems**2) per step outwards; dense
    comparison plans need two or three steps.
    """
    beats = np.asarray(wins) > 0
    return _first_reaches_all(beats) & _first_reaches_all(beats.swapaxes(1, 2))


def _first_reaches_all(edges: Booleans) -> Booleans:
    """Say for each graph (n_graphs, n, n) whether vertex 0 reaches every vertex."""
    reached = np.zeros(edges.shape[:2], dtype=np.bool_)
    reached[:, :1] = True
    while True:
        wider = reached | (reached[:, :, None] & edges).any(axis=1)
        if (wider == reached).all():
            return np.asarray(reached.all(axis=1))
        reached = wider


@dataclass(frozen=True)
class Triads:
    """How many threes were decided, and how many of these are circles.

    ``consistence`` is the coefficient of Kendall and Babington Smith: 1 without circles, 0 with as
    many as there can be; None unless every pair is decided and there are three systems.
    """

    n_decided: int
    n_circular: int
    consistence: float | None


def circular_triads(wins: Floats) -> Triads:
    """Count the circles among the majorities of the pairs.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        ``wins[i, j]`` is the weight with which ``i`` was preferred to ``j``. A pair is decided
        when one side has more.

    Returns
    -------
    Triads

    Raises
    ------
    ValueError
        If ``wins`` is not square, or has a negative or non-finite entry.

    Notes
    -----
    If each of n decided threes were decided by coins, n / 4 would be circles. Majorities of
    few judgments turn by chance: compare with `expected_circles`. Cost O(n_systems**3).

    References
    ----------
    .. [1] Kendall & Babington Smith (1940), Biometrika 31:324-345. doi:10.2307/2332613
    """
    wins = np.asarray(wins, dtype=np.float64)
    if wins.ndim != 2 or wins.shape[0] != wins.shape[1]:  # noqa: PLR2004 - a matrix
        msg = f"wins must be square, not of shape {wins.shape}"
        raise ValueError(msg)
    if not np.isfinite(wins).all() or (wins < 0).any():
        msg = "wins must be finite and not negative"
        raise ValueError(msg)
    beats = (wins > wins.T).astype(np.float64)
    decided = beats + beats.T
    n_decided = round(_closed_walks(decided) / 6)
    n_circular = round(_closed_walks(beats) / 3)
    return Triads(n_decided, n_circular, _consistence(len(wins), decided, n_circular))


def expected_circles(chance: Floats) -> float:
    """Return how many circles to expect if pairs are decided independently.

    Parameters
    ----------
    chance : array of shape (n_systems, n_systems)
        ``chance[i, j]`` is the probability that ``i`` has the majority over ``j``; 0 both ways
        where a pair was not judged.

    Notes
    -----
    Cost O(n_systems**3).
    """
    return _closed_walks(np.asarray(chance, dtype=np.float64)) / 3


def _closed_walks(matrix: Floats) -> float:
    """Return the sum of the products along all walks of three steps back to the start."""
    without = matrix * (1.0 - np.eye(len(matrix)))
    return float(((without @ without) * without.T).sum())


def _consistence(n: int, decided: Floats, n_circular: int) -> float | None:
    if n <= 2 or decided.sum() < n * (n - 1):  # noqa: PLR2004 - no three systems
        return None
    most = (n**3 - n) / 24 if n % 2 else (n**3 - 4 * n) / 24
    return 1.0 - n_circular / most
