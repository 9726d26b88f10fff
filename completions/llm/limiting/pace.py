"""When those who were turned away come again: one after another, not all at once."""

from dataclasses import dataclass

from completions.llm.limiting.limits import Limits

LONGEST_S = 600.0
"""Nobody is sent away for longer than this, or than the provider asked."""
HURRY = 0.8
"""They come a little sooner than they can be served, so that somebody always waits."""
_WEIGHT = 0.1


@dataclass
class Pace:
    """What one process knows about the speed of a provider."""

    at_once: int
    """How many questions the process asks at once where nothing else is said."""
    hold_s: float = 1.0
    """How long an answer took lately; at first a guess."""
    promised_at: float = 0.0

    def held(self, seconds: float) -> None:
        """Learn how long an answer took."""
        self.hold_s += _WEIGHT * (max(0.0, seconds) - self.hold_s)

    def next_turn_s(self, wait_s: float, limits: Limits, n_tokens: int, now: float) -> float:
        """Return when to come again, in seconds: not before ``wait_s``, and after the last one."""
        step_s = HURRY * self._step_s(limits, n_tokens)
        longest = max(wait_s, LONGEST_S)
        behind_s = self.promised_at + step_s - now
        turn_s = max(wait_s, behind_s) if behind_s <= longest else longest
        self.promised_at = now + turn_s
        return turn_s

    def _step_s(self, limits: Limits, n_tokens: int) -> float:
        """Return the time that each question takes up at this provider."""
        steps = [self.hold_s / (limits.concurrency or self.at_once)]
        if limits.requests_per_minute is not None:
            steps.append(60 / limits.requests_per_minute)
        if limits.tokens_per_minute is not None:
            steps.append(60 * n_tokens / limits.tokens_per_minute)
        return max(steps)
