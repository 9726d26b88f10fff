"""Warnings about answers that do not depend on what was read: one answer, or one side, always."""

from collections import Counter
from functools import lru_cache
from itertools import groupby

from annotation.quality.rules.records import Finding, RaterRecord
from annotation.quality.rules.rules import RULES_VERSION, Rules

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
