"""Anomalous times: a robust z of log seconds per word, and a floor of reading speed."""

import datetime as dt
import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, median

from annotation.quality.rules.records import RULES_VERSION, Finding, MainAnswer, RaterRecord, Rules

RULE = f"times-{RULES_VERSION}"
NORMAL_MAD = 1.4826  # a normal distribution's standard deviation over its median deviation
NORMAL_MEAN_DEVIATION = 1.2533  # the same over its mean absolute deviation, sqrt(pi / 2)
SHORTEST_S = 0.1  # nobody answers faster; keeps the logarithm finite


def active_seconds(
    shown_at: dt.datetime, submitted_at: dt.datetime, *, hidden_ms: int, paused_ms: int = 0
) -> float:
    """Return the time from shown to submitted without what was hidden or paused, in seconds."""
    away = (hidden_ms + paused_ms) / 1000
    return max(SHORTEST_S, (submitted_at - shown_at).total_seconds() - away)


@dataclass(frozen=True)
class TimePerWord:
    """Middle and spread of log seconds per word over a study's main answers.

    ``spread`` is on the scale of a standard deviation, and 0 when it cannot be told.
    """

    middle: float
    spread: float
    n: int

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
        return TimePerWord(0.0, 0.0, len(paces))
    middle = median(paces)
    away = [abs(pace - middle) for pace in paces]
    spread = NORMAL_MAD * median(away) or NORMAL_MEAN_DEVIATION * fmean(away)
    return TimePerWord(middle, spread, len(paces))


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
    if n_anomalous <= rules.anomalous_share * len(timed):
        return None
    return Finding(
        rule=RULE,
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
