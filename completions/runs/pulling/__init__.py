"""Work through a queue of slow calls: many in flight, stored in small batches."""

from completions.runs.pulling.pull import Claimed, Limits, Source, pull
from completions.runs.pulling.threads import STOPPING, Queue, pull_here, run_on_loop

__all__ = ["STOPPING", "Claimed", "Limits", "Queue", "Source", "pull", "pull_here", "run_on_loop"]
