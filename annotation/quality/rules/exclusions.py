"""The two rules that exclude, failed checks and anomalous times, and what answers pass a check."""

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import fmean, median
from typing import NamedTuple

from annotation.quality.rules.records import RULES_VERSION, Finding, MainAnswer, RaterRecord, Rules

CHECKS = f"checks-{RULES_VERSION}"
WEAKEST = 1
SIGN = {"FIRST": 1, "SECOND": -1}
MIDDLE = 3  # of a rating from 1 to 5
TIMES = f"times-{RULES_VERSION}"
NORMAL_MAD = 1.4826  # a normal distribution's standard deviation over its median deviation
NORMAL_MEAN_DEVIATION = 1.2533  # the same over its mean absolute deviation, sqrt(pi / 2)
SHORTEST_S = 0.1  # nobody answers faster; keeps the logarithm finite


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


def is_passed(verdict: int | None, mark: int | None, *, expected: str) -> bool:
    """Say whether a preference passes a check, or the rating on its dimension; none does not."""
    if verdict is not None:
        return is_check_passed(verdict, expected=expected)
    return mark is not None and is_rating_passed(mark, expected=expected)


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
    if seen < rules.min_checks or failed / seen < rules.failed_share:
        return None
    by_kind = {
        kind: sum(check.kind == kind and not check.is_passed for check in record.checks)
        for kind in sorted({check.kind for check in record.checks})
    }
    return Finding(
        rule=CHECKS,
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


def active_seconds(
    shown_at: dt.datetime, submitted_at: dt.datetime, *, hidden_ms: int, paused_ms: int = 0
) -> float:
    """Return the time from shown to submitted without what was hidden or paused, in seconds."""
    away = (hidden_ms + paused_ms) / 1000
    return max(SHORTEST_S, (submitted_at - shown_at).total_seconds() - away)


class TimePerWord(NamedTuple):
    """Middle and spread of log seconds per word over a study's main answers.

    ``spread`` is on the scale of a standard deviation, and 0 when it cannot be told.
    """

    middle: float
    spread: float

    def z(self, answer: MainAnswer) -> float | None:
        """Return how many robust standard deviations the answer lies from the middle."""
        if not self.spread or not answer.words:
            return None
        return (_log_pace(answer) - self.middle) / self.spread


def pace_of(answers: Iterable[MainAnswer], rules: Rules) -> TimePerWord:
    """Return the pace of a study.

    The spread is 1.4826 times the median absolute deviation from the median. When more than half
    of the answers took the same time per word, that is 0, and 1.2533 times the mean absolute
    deviation stands in. With all the same, or with fewer than
    ``min_study_answers``, there is no spread, and no answer is anomalous by it.
    """
    paces = [_log_pace(answer) for answer in answers if answer.words]
    if len(paces) < rules.min_study_answers:
        return TimePerWord(0.0, 0.0)
    middle = median(paces)
    away = [abs(pace - middle) for pace in paces]
    spread = NORMAL_MAD * median(away) or NORMAL_MEAN_DEVIATION * fmean(away)
    return TimePerWord(middle, spread)


def anomalous_times(record: RaterRecord, pace: TimePerWord, rules: Rules) -> Finding | None:
    """Return the finding that too many of a rater's times are anomalous, if so.

    The rule: on more than ``anomalous_share`` of the answers, from ``min_answers`` on, the robust z
    is beyond ``robust_z``, to either side, or the reading was faster than ``words_per_minute``.
    """
    timed = [answer for answer in record.answers if answer.words]
    if len(timed) < rules.min_answers:
        return None
    z = [pace.z(answer) for answer in timed]
    too_fast = [60 * answer.words > rules.words_per_minute * answer.seconds for answer in timed]
    far = [one is not None and abs(one) > rules.robust_z for one in z]
    n_anomalous = sum(fast or beyond for fast, beyond in zip(too_fast, far, strict=True))
    if n_anomalous / len(timed) <= rules.anomalous_share:
        return None
    return Finding(
        rule=TIMES,
        value=n_anomalous / len(timed),
        threshold=rules.anomalous_share,
        evidence={
            "n_answers": len(timed),
            "n_anomalous": n_anomalous,
            "n_beyond_z": sum(far),
            "n_beyond_reading_speed": sum(too_fast),
            "median_words_per_minute": round(
                median(60 * answer.words / answer.seconds for answer in timed), 1
            ),
            "robust_z": rules.robust_z,
            "words_per_minute": rules.words_per_minute,
            "study_middle": round(pace.middle, 6),
            "study_spread": round(pace.spread, 6),
        },
        is_exclusion=True,
    )


def _log_pace(answer: MainAnswer) -> float:
    return math.log(answer.seconds / answer.words)
