#!/usr/bin/env python
"""Entry point for management commands."""

import os
import secrets
import sqlite3
import sys
from collections.abc import MutableMapping
from importlib import import_module
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db.utils import DatabaseError, OperationalError, ProgrammingError

from completions.management import MISCONFIGURED, UNAVAILABLE, printing, stop

OF_FILES = ("agreement", "rank")
"""Commands that read a file and ask nothing of the site: its applications take longer to load."""

UNFIT = ("no such table", "no such column", "does not exist")  # SQLite's words, and PostgreSQL's
NO_KEY = (
    "HEART_SECRET_KEY is not set. `make setup` keeps one for this machine in var/secret-key; "
    "docs/deployment.md says how a server sets its own."
)


def is_of_files(words: list[str]) -> bool:
    """Say whether the command reads a file alone."""
    return words[1:2] != [] and words[1] in OF_FILES


def find_key(words: list[str], environment: MutableMapping[str, str], folder: Path) -> None:
    """Take the key that make keeps where none is set; what signs nothing needs none of its own."""
    if environment.get("HEART_SECRET_KEY") or environment.get("HEART_SECRET_KEY_FILE"):
        return
    kept = folder / "var" / "secret-key"
    if kept.exists():
        environment["HEART_SECRET_KEY_FILE"] = str(kept)
    elif is_of_files(words) or words[1:3] == ["release", "verify"]:
        environment["HEART_SECRET_KEY"] = secrets.token_urlsafe(50)
    else:
        sys.exit(NO_KEY)


def of_database(error: DatabaseError) -> str:
    """Return why a database of another version, or one that is away, ends a command; else raise."""
    said = str(error).partition("\n")[0]
    code = getattr(error.__cause__, "sqlite_errorcode", None)
    if isinstance(error, ProgrammingError) or code == sqlite3.SQLITE_ERROR:
        if any(words in said for words in UNFIT):
            return f"The database is not of this version ({said}): run `manage.py migrate`."
        raise error
    if type(error) not in (DatabaseError, OperationalError):
        raise error
    return f"The database cannot be used: {said}."


def main(words: list[str]) -> None:
    """Run the command of ``words``, the name of this script first."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heart_site.settings")
    find_key(words, os.environ, Path(__file__).parent)
    with printing():
        if is_of_files(words):
            import_module(f"ranking.management.commands.{words[1]}").Command().run_from_argv(words)
            return
        try:
            execute_from_command_line(words)
        except DatabaseError as error:
            stop(of_database(error), UNAVAILABLE)
        except ImproperlyConfigured as error:
            stop(f"{error}.", MISCONFIGURED)


if __name__ == "__main__":
    main(sys.argv)
