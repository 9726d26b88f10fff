"""When an answer passes a check, how many may fail, and how often raters agree."""

from collections import Counter
from collections.abc import Iterable, Mapping

from annotation.quality.rules.records import RULES_VERSION, Finding, RaterRecord, Rules

RULE = f"checks-{RULES_VERSION}"
WEAKEST = 1
SIGN = {"FIRST": 1, "SECOND": -1}
MIDDLE = 3  # of a rating from 1 to 5


def is_check_passed(verdict: int, *, expected: str) -> bool:
    """Say whether an answer passes an attention or gold check: expected is FIRST or SECOND.

    Only the completion known to be better passes. "About the same" fails: these pairs are made
    so that whoever reads them sees a difference, and if a tie passed, a rater could pass every
    check without reading by always answering the middle.
    """
    return verdict * SIGN[expected] > 0


def is_repeat_consistent(earlier: int, later: int) -> bool:
    """Say whether a second answer to the same pair agrees with the first, in the canonical frame.

    It fails when the two prefer different completions and at least one of them by more than the
    weakest step. So on five points "slightly" against "slightly" passes, as "about the same"
    does against anything: near the middle people honestly waver. "Much" against "slightly" on
    the other side fails. The same holds of a forced choice: + against + passes, ++ fails.
    """
    opposite = earlier * later < 0
    return not (opposite and max(abs(earlier), abs(later)) > WEAKEST)


def is_rating_passed(mark: int, *, expected: str) -> bool:
    """Say whether a rating from 1 to 5 passes a check: 4 or 5 for HIGH, 1 or 2 for LOW."""
    return {"HIGH": mark > MIDDLE, "LOW": mark < MIDDLE}[expected]


def are_ratings_consistent(earlier: Mapping[str, int], later: Mapping[str, int]) -> bool:
    """Say whether a second rating of one completion agrees with the first, by dimension.

    It fails when on more than half of the dimensions rated both times one rating lies above the
    middle of the scale and the other below.
    """
    both = earlier.keys() & later.keys()
    opposite = sum((earlier[key] - MIDDLE) * (later[key] - MIDDLE) < 0 for key in both)
    return 2 * opposite <= len(both)


def failed_checks(record: RaterRecord, rules: Rules) -> Finding | None:
    """Return the finding that a rater failed too many of the checks seen, if so.

    The rule: failed / seen >= ``failed_share``, from ``min_checks`` checks seen on.
    """
    seen = len(record.checks)
    failed = sum(not check.is_passed for check in record.checks)
    if seen < rules.min_checks or failed < rules.failed_share * seen:
        return None
    by_kind = {
        kind: sum(check.kind == kind and not check.is_passed for check in record.checks)
        for kind in sorted({check.kind for check in record.checks})
    }
    return Finding(
        rule=RULE,
        value=failed / seen,
        threshold=rules.failed_share,
        evidence={"n_checks": seen, "n_failed": failed, "failed_by_kind": by_kind},
        is_exclusion=True,
    )


def agreement_by_rater(pairs: Iterable[Mapping[str, int]]) -> dict[str, float]:
    """Return for each rater the share of others' answers to the same pairs that are the same.

    ``pairs`` maps raters to their winners (1 first, -1 second, 0 neither), a mapping per pair.
    Each answer of another rater counts once. A rater whose pairs nobody else answered is left out.
    """
    same, all_others = Counter[str](), Counter[str]()
    for winners in pairs:
        counts = Counter(winners.values())
        for rater, winner in winners.items():
            same[rater] += counts[winner] - 1
            all_others[rater] += len(winners) - 1
    return {rater: same[rater] / n for rater, n in all_others.items() if n}
