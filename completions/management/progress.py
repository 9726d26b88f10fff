"""Show how far long work is: a bar on a terminal, plain lines in a log."""

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import TypeVar

from django.core.management.base import OutputWrapper
from tqdm import tqdm

PLAIN_STEPS = 10
PLAIN_EVERY = 1_000

Item = TypeVar("Item")


class Progress:
    """Where a command tells how far it is; standard output stays free for its answer."""

    def __init__(self, out: OutputWrapper) -> None:
        self.out = out

    def say(self, line: str) -> None:
        """Print a line, above the bar if one is shown."""
        with tqdm.external_write_mode(file=self.out):
            self.out.write(line)

    def over(self, items: Iterable[Item], *, of: str, total: int | None = None) -> Iterator[Item]:
        """Yield the items and show how many have passed; ``of`` names them, in the plural."""
        total = len(items) if total is None and isinstance(items, Sized) else total
        if self.out.isatty():
            yield from tqdm(items, unit=f" {of}", total=total, leave=False, file=self.out)
            return
        every = max(1, -(-total // PLAIN_STEPS)) if total else PLAIN_EVERY
        n_passed = 0
        for n_passed, item in enumerate(items, start=1):
            yield item
            if n_passed % every == 0:
                self._tell(n_passed, of, total)
        if n_passed % every:
            self._tell(n_passed, of, total)

    @contextmanager
    def towards(self, of: str) -> Iterator[Callable[[int, int], None]]:
        """Give a function that takes how many there are and how many are wanted, and shows it."""
        with tqdm(unit=f" {of}", leave=False, file=self.out, disable=not self.out.isatty()) as bar:
            told = [0]

            def tell(n_done: int, n_wanted: int) -> None:
                bar.total, bar.n = n_wanted, n_done
                bar.refresh()
                is_step = PLAIN_STEPS * (n_done - told[-1]) >= n_wanted or n_done == n_wanted
                if bar.disable and is_step and n_done != told[-1]:
                    told.append(n_done)
                    self._tell(n_done, of, n_wanted)

            yield tell

    def _tell(self, n_passed: int, of: str, total: int | None) -> None:
        self.out.write(f"{n_passed:,}{f' of {total:,}' if total else ''} {of}")
