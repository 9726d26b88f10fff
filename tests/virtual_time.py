"""An event loop in which waiting takes no time: its clock jumps to the next thing that happens."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Returned = TypeVar("Returned")


class _NoWaiting(selectors.SelectSelector):
    """Instead of waiting for something to happen, pass the time that would have gone by."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            msg = "Everybody waits and nothing will ever happen."
            raise AssertionError(msg)
        self.now += timeout
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _NoWaiting()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


def run(main: Coroutine[Any, Any, Returned]) -> Returned:
    """Run a coroutine; ``now`` and ``asyncio.sleep`` inside it go by the virtual clock."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(main)


def now() -> float:
    """Return the time of the running loop."""
    return asyncio.get_running_loop().time()
