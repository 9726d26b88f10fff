"""``writers invite``: invite people to write for a dataset, by their e-mail addresses."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.utils import timezone

from completions.dialogues import queries
from completions.files import InputFileError, text_lines
from completions.management.acting import Action
from completions.management.progress import Progress
from completions.writers import emails, pool_queries, services
from completions.writers.pool_forms import read_addresses


class NoAddressError(ValueError):
    """Nothing in what was given can be invited; the message says what is wrong."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "who", nargs="+", metavar="FILE|ADDRESS", help="Addresses, or files with one on each line."
    )
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")
    parser.add_argument("--dry-run", action="store_true", help="Only count; invite nobody.")


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Invite each address once, and tell of what is none."""
    dataset = queries.dataset_named(options.dataset)
    found = read_addresses("\n".join(_texts(options.who)))
    for word in found.bad:
        progress.say(f"{word}: is no e-mail address; not invited")
    if not found.good:
        msg = "no e-mail address was given; nobody was invited"
        raise NoAddressError(msg)
    if options.dry_run:
        n_known = pool_queries.n_known(dataset, found.good)
        return _told("Dry run: would invite", len(found.good) - n_known, n_known, len(found.bad))
    done = services.invite_writers(dataset=dataset, emails=found.good, now=timezone.now())
    if done.invited and not emails.is_server_set_up():
        progress.say("No mail is set up: pass the links on yourself (writers list --links).")
    return _told("Invited", len(done.invited), len(done.known), len(found.bad))


def _texts(who: Sequence[str]) -> Iterator[str]:
    """Yield what was given; a word with an @ is an address, any other one names a file."""
    for word in who:
        if "@" in word and not Path(word).exists():
            yield word
            continue
        try:
            yield "".join(text_lines(Path(word)))
        except InputFileError as error:
            msg = f"{word}: {error}"
            raise NoAddressError(msg) from error


def _told(done: str, n_new: int, n_known: int, n_bad: int) -> str:
    return f"{done} {n_new:,}; {n_known:,} in the pool already, {n_bad:,} not an address"


ACTION = Action("invite", "Invite people by their e-mail addresses.", add_arguments, run)
