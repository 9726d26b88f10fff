"""The embedded default's broker: messages between the threads of one process, waited for.

Kombu's own asks every queue again and again; this one wakes the worker when a message has come.
"""

import threading
from queue import Empty
from typing import Any

from kombu.transport import memory

WOKEN = threading.Event()
"""There is one consumer: the worker of the process."""


class Channel(memory.Channel):
    """A channel that wakes the worker."""

    def _put(self, queue: str, message: dict[str, Any], **options: Any) -> None:  # noqa: ANN401
        super()._put(queue, message, **options)
        WOKEN.set()

    def _put_fanout(self, *message: Any, **options: Any) -> None:  # noqa: ANN401 (Kombu's own)
        super()._put_fanout(*message, **options)
        WOKEN.set()


class Transport(memory.Transport):
    """A transport whose consumer sleeps until it is woken."""

    Channel = Channel

    def drain_events(
        self,
        connection: Any,  # noqa: ANN401, ARG002 (Kombu's own)
        timeout: float | None = None,
        **_options: Any,  # noqa: ANN401 (Kombu's own)
    ) -> None:
        """Hand out what has come, or wait for it.

        Raises
        ------
        TimeoutError
            After a wait, whether or not something has come: the worker looks again.
        """
        cycle: Any = self.cycle  # there since the transport is
        WOKEN.clear()  # before looking, so that what comes from now on is noticed
        try:
            cycle.get(self._deliver, timeout=timeout)
        except Empty:
            WOKEN.wait(timeout)
            raise TimeoutError from None
