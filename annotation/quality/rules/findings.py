"""Hold every rule against every rater: warnings, with a test that may be looked at any time."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain, groupby
from operator import mul

from annotation.quality.rules.exclusions import anomalous_times, failed_checks, pace_of
from annotation.quality.rules.records import RULES_VERSION, Finding, RaterRecord, Rules

STRAIGHT_LINING = f"straight-lining-{RULES_VERSION}"
ONE_SIDED = f"one-sided-{RULES_VERSION}"


def straight_lining(record: RaterRecord, rules: Rules) -> Finding | None:
    """Return a warning when the same answer stood on the screen too long or too often.

    Sides are drawn anew for each pair, so a reader's answers move about the screen.
    """
    answers = [answer.shown for answer in record.answers]
    if len(answers) < rules.min_warned_answers:
        return None
    longest = max(len(list(run)) for _answer, run in groupby(answers))
    most, n_most = max(Counter(answers).items(), key=lambda item: (item[1], item[0]))
    share = n_most / len(answers)
    if longest < rules.longest_run and share < rules.same_share:
        return None
    by_run = longest >= rules.longest_run
    return Finding(
        rule=STRAIGHT_LINING,
        value=longest if by_run else share,
        threshold=rules.longest_run if by_run else rules.same_share,
        evidence={
            "n_answers": len(answers),
            "longest_run": longest,
            "most_common": most,
            "share_of_most_common": share,
        },
        is_exclusion=False,
    )


def one_sided(record: RaterRecord, rules: Rules) -> Finding | None:
    """Return a warning when a rater chose one side of the screen too often to be chance.

    Exact binomial test, two-sided, of the choices of A among those of A or B against one half:
    sides are drawn independently of the texts, so whoever judges texts chooses both alike.
    """
    n_a = sum(answer.side > 0 for answer in record.answers)
    n_b = sum(answer.side < 0 for answer in record.answers)
    if n_a + n_b < rules.min_warned_answers:
        return None
    p = even_p(n_a, n_a + n_b)
    if p >= rules.side_p:
        return None
    return Finding(
        rule=ONE_SIDED,
        value=p,
        threshold=rules.side_p,
        evidence={"n_a": n_a, "n_b": n_b, "share_a": n_a / (n_a + n_b)},
        is_exclusion=False,
    )


@lru_cache  # exact sums are slow with many answers, and pages ask more than once
def even_p(n_a: int, n: int) -> float:
    """Return the two-sided exact p of ``n_a`` out of ``n`` when both sides are as probable."""
    ways = tail = 1
    for k in range(min(n_a, n - n_a)):  # the next binomial from the last: exact, and fast
        ways = ways * (n - k) // (k + 1)
        tail += ways
    return min(1.0, tail / (1 << n) * 2)


MISFIT_RULE = f"misfit-{RULES_VERSION}"
BY_CHANCE = 2.0


@dataclass(frozen=True)
class Infit:
    """The information-weighted mean square of a rater's residuals, and the same standardised.

    ``mean_square`` is 1 in the mean for answers drawn from the predictions, whoever gave them;
    ``z`` is its Wilson-Hilferty transform, standard normal nearly, for the same answers.
    """

    mean_square: float
    z: float
    n: int


def infit(predictions: Collection[tuple[float, float]]) -> Infit | None:
    """Return the infit of one rater's answers.

    Parameters
    ----------
    predictions : collection of (y, p)
        Of each answer the outcome y (1 first, 0 second, 0.5 neither) and the probability p of 1,
        dimensionless. The strengths behind p must not have seen this rater's answers, or the
        rater is compared with themself.

    Returns
    -------
    Infit or None
        sum (y - p)^2 / sum p (1 - p), with its variance sum p(1-p)(1-4p(1-p)) over the square
        of that denominator; ``z`` = (v^(1/3) - 1) (3/q) + q/3 with q the standard deviation, 0
        when q is 0 (every p one half: then the mean square is 1 for any answers but ties).
        None without answers or when every p is 0 or 1.

    Notes
    -----
    A tie counts as half a win. It lies nearer to any p than a win on the wrong side does, so
    many ties make the mean square smaller, never larger. Cost O(n).

    References
    ----------
    .. [1] Wright & Masters (1982), Rating Scale Analysis, chapter 5 (mean squares and t).
    .. [2] Pollitt (2012), Assess. Educ. 19:281-300. doi:10.1080/0969594X.2012.665354 (misfit of
       judges in comparative judgment).
    """
    variances = [p * (1 - p) for _y, p in predictions]
    information = math.fsum(variances)
    if not information:
        return None
    squares = math.fsum((y - p) ** 2 for y, p in predictions)
    mean_square = squares / information
    spread = math.sqrt(math.fsum(v * (1 - 4 * v) for v in variances)) / information
    z = (mean_square ** (1 / 3) - 1) * 3 / spread + spread / 3 if spread else 0.0
    return Infit(mean_square, z, len(predictions))


def misfit(measured: Infit | None, rules: Rules) -> Finding | None:
    """Return a warning when a rater's answers miss the predictions by too much.

    The rule: a mean square above ``misfit`` whose standardised value is above 2 as well (with few
    answers the mean square strays far by chance), from ``min_warned_answers`` on.
    """
    if measured is None or measured.n < rules.min_warned_answers:
        return None
    if measured.mean_square <= rules.misfit or measured.z <= BY_CHANCE:
        return None
    return Finding(
        rule=MISFIT_RULE,
        value=measured.mean_square,
        threshold=rules.misfit,
        evidence={"n_answers": measured.n, "z": round(measured.z, 4)},
        is_exclusion=False,
    )


OUTLIER_RULE = f"outlier-{RULES_VERSION}"
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


@cache
def _e_values(own: int, all_answers: tuple[int, ...]) -> tuple[float, ...]:
    return tuple(e_value(own, all_answers, bet) for bet in BETS)


def _opposed(answer: int, counts: Counter[int]) -> float:
    """Return the share of the other answers that prefer the other completion."""
    return counts[-answer] / (counts.total() - 1) if answer else 0.0


def evidence(rater: str, pairs: Iterable[PairAnswers]) -> Iterator[float]:
    """Return the running evidence against a rater after each pair: a test martingale.

    For every bet the e-values are multiplied; the evidence is the mean of the products. Starting
    from 1, under the null hypothesis it ever reaches 1/alpha with probability at most alpha
    (Ville 1939), however often and whenever one looks.
    """
    products = (1.0,) * len(BETS)
    for pair in pairs:
        own = pair.winners.get(rater)
        if own is None or len(pair.winners) < FEWEST:
            continue
        products = tuple(map(mul, products, _e_values(own, pair.answers)))
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
        rule=OUTLIER_RULE,
        value=highest,
        threshold=1 / rules.alpha,
        evidence={"n_pairs": len(running), "n_pairs_at_alarm": first, "now": running[-1]},
        is_exclusion=False,
    )


NO_INFITS: Mapping[str, Infit | None] = {}


def examine(
    records: Sequence[RaterRecord],
    rules: Rules,
    *,
    pairs: Sequence[PairAnswers] = (),
    infits: Mapping[str, Infit | None] = NO_INFITS,
) -> dict[str, tuple[Finding, ...]]:
    """Return the findings of every rater of a study, those that exclude first.

    ``pairs`` are those that have all their answers.

    The pace of the study is taken over all its raters, excluded ones too: a decision must not
    change the evidence on which the next one rests. Whoever a person took back is excluded on
    later evidence only; warnings look at all there is.
    """
    pace = pace_of(chain.from_iterable(record.answers for record in records), rules)
    pairs_of = defaultdict[str, list[PairAnswers]](list)
    for pair in pairs:
        for rater in pair.winners:
            pairs_of[rater].append(pair)
    found = {}
    for record in records:
        new = record.since_reinstated()
        all_rules = (
            failed_checks(new, rules),
            anomalous_times(new, pace, rules),
            straight_lining(record, rules),
            one_sided(record, rules),
            misfit(infits.get(record.rater), rules),
            outlier(record, pairs_of[record.rater], rules),
        )
        found[record.rater] = tuple(finding for finding in all_rules if finding is not None)
    return found
