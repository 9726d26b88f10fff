"""What an act of ``manage.py study`` consists of, and what several of them need."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.models import Study
from annotation.studies import selectors
from annotation.studies.protocol import STUDIES, StudyProtocol, load_protocol

Say = Callable[[str], object]
"""Writes one line for the person at the terminal."""


class RefusedError(Exception):
    """The act cannot be done as asked; the message says why, and nothing was written."""


@dataclass(frozen=True)
class Act:
    """One subcommand: its name, a line of help, its arguments, and what it does.

    ``refusals`` are the errors that mean bad input or a bad moment: their message is all that
    the person at the terminal sees, and the exit code is 2.
    """

    name: str
    help: str
    run: Callable[[Mapping[str, Any], Say], None]
    add_arguments: Callable[[CommandParser], None]
    refusals: tuple[type[Exception], ...] = ()


def add_study(parser: CommandParser) -> None:
    """Let the act be about one study."""
    parser.add_argument("study", help="the study's slug")


def the_study(options: Mapping[str, Any]) -> Study:
    """Return the study that was named.

    Raises
    ------
    RefusedError
        If there is none of that slug.
    """
    study = selectors.study_by_slug(options["study"])
    if study is None:
        msg = f'there is no study "{options["study"]}"'
        raise RefusedError(msg)
    return study


def the_protocol(file: str) -> StudyProtocol:
    """Read a study file: a path, or the name of a study that ships with the platform.

    Raises
    ------
    annotation.studies.protocol.ProtocolError
        If it cannot be read or used.
    """
    shipped = STUDIES / f"{file}.toml"
    return load_protocol(shipped if shipped.exists() else Path(file))
