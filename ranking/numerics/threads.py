"""Work spread over threads: NumPy and SciPy let go of the interpreter in their loops."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def available_threads() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def in_threads(
    work: Callable[[Task], Result], tasks: Iterable[Task], *, n_threads: int
) -> list[Result]:
    """Return ``work`` of each task, in the order of the tasks, ``n_threads`` at a time."""
    waiting = list(tasks)
    if min(n_threads, len(waiting)) <= 1:
        return [work(task) for task in waiting]
    with ThreadPoolExecutor(max_workers=n_threads) as pool:
        return list(pool.map(work, waiting))
