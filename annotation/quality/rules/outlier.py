"""A test of outliers that may be looked at any time: raters whose answers are not the others'."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from annotation.quality.rules.records import Finding, RaterRecord
from annotation.quality.rules.rules import RULES_VERSION, Rules

RULE = f"outlier-{RULES_VERSION}"
BETS = (0.5, 1.0, 2.0)
FEWEST = 3  # of two answers that differ, neither is the outlier


@dataclass(frozen=True)
class PairAnswers:
    """The first answers to a pair, as many as it asks for: who gave them, and which won.

    It is fixed from the moment the last of them comes; pairs are given in that order.
    """

    pair: int
    winners: Mapping[str, int]

    @cached_property
    def answers(self) -> tuple[int, ...]:
        """Return the winners named, sorted, whoever named them."""
        return tuple(sorted(self.winners.values()))


@cache
def e_value(own: int, all_answers: tuple[int, ...], bet: float) -> float:
    """Return the evidence of one pair that the rater is not one of those who answered it.

    Parameters
    ----------
    own : int
        The rater's answer in the canonical frame: 1 first, -1 second, 0 neither.
    all_answers : tuple of int
        The answers of all raters to the pair, the rater's own included, sorted.
    bet : float
        More than 0: how much a lonely answer weighs.

    Returns
    -------
    float
        An e-value: never negative, and 1 in the mean under the null hypothesis. With score s_j
        the share of the other answers that prefer the other completion than answer j does, it is
        exp(bet * s_own) over the mean of exp(bet * s_j) over all answers j.

    Notes
    -----
    Null hypothesis: raters are exchangeable on the pair, that is, given the answers it received,
    each is as likely as any other to be this rater's. Then the mean of the e-value over the
    rater's place is (1/n) sum_j f_j / ((1/n) sum_i f_i) = 1, exactly, whatever ties there are.

    The p of the rank of the same score, turned into 1 / (2p), is no e-value: for untied ranks
    k/n its mean is (1/n) sum_k n/(2k) = H_n / 2, which is above 1 from n = 4 on (25/24), and the
    calibrator 1/(2p) has no finite integral over (0, 1). Its product grows without any outlier.

    References
    ----------
    .. [1] Vovk & Wang (2021), Ann. Statist. 49:1736-1754. doi:10.1214/20-AOS2020 (calibrators
       from p to e must integrate to at most 1; products of e-values).
    .. [2] Shafer, Shen, Vereshchagin & Vovk (2011), Statist. Sci. 26:84-101.
       doi:10.1214/10-STS347 (test martingales).
    """
    counts = Counter(all_answers)
    weights = {answer: math.exp(bet * _opposed(answer, counts)) for answer in counts}
    mean = sum(counts[answer] * weights[answer] for answer in sorted(counts)) / len(all_answers)
    return weights[own] / mean


def _opposed(answer: int, counts: Counter[int]) -> float:
    """Return the share of the other answers that prefer the other completion."""
    return counts[-answer] / (counts.total() - 1) if answer else 0.0


def evidence(rater: str, pairs: Iterable[PairAnswers]) -> Iterator[float]:
    """Return the running evidence against a rater after each pair: a test martingale.

    For every bet the e-values are multiplied; the evidence is the mean of the products. Starting
    from 1, under the null hypothesis it ever reaches 1/alpha with probability at most alpha
    (Ville 1939), however often and whenever one looks.
    """
    products = [1.0] * len(BETS)
    for pair in pairs:
        own = pair.winners.get(rater)
        if own is None or len(pair.winners) < FEWEST:
            continue
        products = [
            product * e_value(own, pair.answers, bet)
            for product, bet in zip(products, BETS, strict=True)
        ]
        yield sum(products) / len(products)


def outlier(record: RaterRecord, pairs: Sequence[PairAnswers], rules: Rules) -> Finding | None:
    """Return a warning when a rater's winners are too often not those of the others.

    The rule: the evidence reached 1 / ``alpha`` at some pair. The null hypothesis is
    that raters are exchangeable on each pair, independently from pair to pair; a person with a
    taste of their own is not, and that is no fault. So this only ever warns.
    """
    running = list(evidence(record.rater, pairs))
    highest = max(running, default=1.0)
    if highest < 1 / rules.alpha:
        return None
    first = next(n for n, value in enumerate(running, 1) if value >= 1 / rules.alpha)
    return Finding(
        rule=RULE,
        value=highest,
        threshold=1 / rules.alpha,
        evidence={"n_pairs": len(running), "n_pairs_at_alarm": first, "now": running[-1]},
        is_exclusion=False,
    )
