"""Virtual time: whose turn it is, without anybody waiting."""

import datetime as dt
import heapq
from collections.abc import Iterator


class VirtualClock:
    """Raters in the order in which they act; time never goes back, whoever asks."""

    def __init__(self, start: dt.datetime) -> None:
        self.now = start
        self._waiting: list[tuple[dt.datetime, int]] = []

    def wake(self, index: int, *, at: dt.datetime) -> None:
        """Let rater ``index`` act at a time, or now if that has passed."""
        heapq.heappush(self._waiting, (max(at, self.now), index))

    def turns(self) -> Iterator[int]:
        """Yield who acts next and move ``now`` there, until nobody is waiting."""
        while self._waiting:
            self.now, index = heapq.heappop(self._waiting)
            yield index
