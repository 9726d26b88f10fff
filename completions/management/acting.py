"""What commands have in common: actions, progress, refusals, files written whole."""

import argparse
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ClassVar, TypeVar

from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper
from tqdm import tqdm

from completions.files.refusals import shown

BAD_INPUT = 2
PLAIN_STEPS = 10
PLAIN_EVERY = 1_000

Item = TypeVar("Item")


class RefusedError(CommandError):
    """The command cannot do what it is asked; the message says why. It ends with exit code 2."""

    def __init__(self, message: str) -> None:
        super().__init__("\n".join(map(shown, message.split("\n"))), returncode=BAD_INPUT)


RefusedError.__name__ = CommandError.__name__  # Django prints it before the message


@contextmanager
def refusing(*errors: type[Exception]) -> Iterator[None]:
    """End the command with exit code 2 and the error's own words where one of these is raised."""
    try:
        yield
    except errors as error:
        raise RefusedError(str(error)) from error


class Progress:
    """Where a command tells how far it is: a bar on a terminal, plain lines in a log.

    Standard output stays free for the answer.
    """

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


@dataclass(frozen=True)
class Action:
    """One word after a command: its options, what it does, and what it answers.

    ``run`` returns the text for standard output, or yields its lines as it comes to them; progress
    and remarks go to ``Progress``.
    """

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Progress], str | Iterator[str]]


def whole(text: str, *, least: int = 0) -> int:
    """Read a whole number from ``least`` (0 or 1) on."""
    if not text.isdecimal() or int(text) < least:
        msg = f"{text!r} is not a whole number{' above zero' if least else ''}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def positive(text: str) -> int:
    """Read a whole number above zero."""
    return whole(text, least=1)


def aligned(table: Sequence[Sequence[str]], *, n_words: int = 1) -> Iterator[str]:
    """Yield each row with its columns under each other: words to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    sides = "<" * n_words + ">" * (len(widths) - n_words)
    for row in table:
        cells = zip(row, sides, widths, strict=True)
        yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in cells).rstrip()


def add_dataset(parser: argparse.ArgumentParser) -> None:
    """Declare the name of the dataset that an action is about."""
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")


class ActionCommand(BaseCommand):
    """Run one of ``actions``; errors in ``refusals`` say that it cannot be done as asked."""

    actions: ClassVar[Sequence[Action]]
    refusals: ClassVar[tuple[type[Exception], ...]] = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the actions and their options."""
        words = parser.add_subparsers(dest="action", required=True)
        for action in self.actions:
            parser = words.add_parser(action.name, help=action.help, description=action.help)
            action.add_arguments(parser)

    def handle(self, *_args: object, **options: object) -> str:
        """Run the action; what it refuses changes nothing."""
        arguments = argparse.Namespace(**options)
        action = next(one for one in self.actions if one.name == arguments.action)
        with refusing(*self.refusals):
            said = action.run(arguments, Progress(self.stderr))
            if isinstance(said, str):
                return said
            for line in said:
                self.stdout.write(line)
        return ""


@contextmanager
def whole_file(path: Path, *, is_forced: bool) -> Iterator[BinaryIO]:
    """Give a file to write that gets its name when it is whole.

    Meanwhile it has another name; a failure leaves nothing behind. A link is followed, and a
    device or a pipe is written as it stands: a file must not take its place.

    Raises
    ------
    RefusedError
        If the file is there and not to be overwritten, or nothing can be written there.
    """
    is_stream = path.exists() and not path.is_file() and not path.is_dir()
    if path.is_file() and not is_forced:
        msg = f"{path} is there already; --force overwrites it."
        raise RefusedError(msg)
    try:
        with path.open("wb") if is_stream else _beside(path.resolve()) as stream:
            yield stream
    except BrokenPipeError:
        raise
    except OSError as error:  # as on a full disk
        msg = f"{path}: cannot be written: {error.strerror}. Nothing was left there."
        raise RefusedError(msg) from error


@contextmanager
def _beside(place: Path) -> Iterator[BinaryIO]:
    part = place.with_name(f".{place.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with part.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(place)
    finally:
        with suppress(OSError):  # it has its place by now, or never had one
            part.unlink()


def put(blocks: Iterable[bytes], path: Path, *, is_forced: bool) -> Path:
    """Write blocks to a file that appears when it is whole, and return its path.

    Raises
    ------
    RefusedError
        As `whole_file`, or if there is nothing to write.
    """
    with whole_file(path, is_forced=is_forced) as stream:
        if not sum(map(stream.write, blocks)):
            msg = f"There is nothing to write, so {path} was not made."
            raise RefusedError(msg)
    return path
