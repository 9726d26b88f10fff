"""Work through a queue of slow calls: many in flight, stored in small batches."""

from completions.runs.pulling.pull import Claimed, ItemSource, PullLimits, pull
from completions.runs.pulling.threads import STOPPING, BlockingQueue, pull_here, run_on_loop

__all__ = [
    "STOPPING",
    "BlockingQueue",
    "Claimed",
    "ItemSource",
    "PullLimits",
    "pull",
    "pull_here",
    "run_on_loop",
]
