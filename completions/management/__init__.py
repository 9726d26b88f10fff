"""Commands of the completions app, and how every command ends."""

import argparse
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from completions.files.refusals import shown

STOPPED, UNREAD = 130, 141  # as shells count what Ctrl-C or a closed pipe ended
UNAVAILABLE, UNWRITTEN, MISCONFIGURED = 69, 74, 78  # as sysexits.h has it
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def folder(text: str) -> Path:
    """Read the path of a folder that is there."""
    if not Path(text).is_dir():
        msg = f"{shown(text)} is no folder; unpack what was downloaded and name its folder"
        raise argparse.ArgumentTypeError(msg)
    return Path(text)


@contextmanager
def printing() -> Iterator[None]:
    """Write out what the block prints, and end in one line where it cannot be written.

    Ctrl-C, a reader who has read enough and a full disk have exit codes of their own, since the
    usual ones tell what a command found.
    """
    _have_streams()
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        stop("Stopped.", STOPPED)
    except BrokenPipeError:
        stop("", UNREAD)
    except OSError as error:
        if error.errno not in FULL:
            raise
        stop(f"The answer could not be written: {error.strerror}.", UNWRITTEN)


def _have_streams() -> None:
    """Write nowhere what goes to a stream that whoever started the process closed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115


def stop(said: str, code: int) -> NoReturn:
    """End with one line; what could not be written is not tried again at the end."""
    for stream, text in ((sys.stderr, said and f"{said}\n"), (sys.stdout, "")):
        try:
            stream.write(text)
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)
