"""Command line of people who write."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from django.utils import timezone

from access.console.csv_cells import csv_lines
from completions.choices import WriterState
from completions.dialogues import authoring, queries
from completions.files.refusals import InputFileError
from completions.files.text import text_lines
from completions.management.acting import (
    Action,
    ActionCommand,
    Progress,
    RefusedError,
    add_dataset,
    aligned,
    whole_file,
)
from completions.writers import emails, message_queries, pool_queries
from completions.writers.forms import read_addresses
from completions.writers.importing import written_file
from completions.writers.services import importing, inviting, leasing, pool, vetting


def _add_invite_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "who", nargs="+", metavar="FILE|ADDRESS", help="Addresses, or files with one on each line."
    )
    add_dataset(parser)
    parser.add_argument("--dry-run", action="store_true", help="Only count; invite nobody.")


def invite(options: argparse.Namespace, progress: Progress) -> str:
    """Invite each address once, and tell of what is none."""
    dataset = queries.dataset_named(options.dataset)
    good, bad = read_addresses("\n".join(_texts(options.who)))
    for word in bad:
        progress.say(f"{word}: is no e-mail address; not invited")
    if not good:
        msg = "no e-mail address was given; nobody was invited"
        raise RefusedError(msg)
    if options.dry_run:
        n_known = pool_queries.n_known(dataset, good)
        return _invited("Dry run: would invite", len(good) - n_known, n_known, len(bad))
    new, known = inviting.invite_writers(dataset=dataset, emails=good, now=timezone.now())
    if new and not emails.is_server_set_up():
        progress.say("No mail is set up: pass the links on yourself (writers list --links).")
    return _invited("Invited", len(new), len(known), len(bad))


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
            raise RefusedError(msg) from error


def _invited(done: str, n_new: int, n_known: int, n_bad: int) -> str:
    return f"{done} {n_new:,}; {n_known:,} in the pool already, {n_bad:,} not an address"


HEADS = ("code", "state", "sent", "accepted", "waiting", "returned")


def _add_list_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument(
        "--state", type=str.upper, choices=WriterState.values, default="", help="Only these."
    )
    parser.add_argument(
        "--links",
        action="store_true",
        help="Also the personal links: whoever has one can write in that person's place.",
    )


def list_writers(options: argparse.Namespace, _progress: Progress) -> str:
    """Return a table, one line for each writer in the order of their codes."""
    dataset = queries.dataset_named(options.dataset)
    rows = [row for row in pool_queries.writer_rows(dataset) if options.state in {"", row.state}]
    table = [HEADS, *(_cells(row) for row in rows)]
    linked = pool_queries.linked_writers(dataset) if options.links else []
    links = {writer.code: emails.personal_link(writer) for writer in linked}
    return "\n".join(
        f"{line}  {links.get(cells[0], '')}".rstrip()
        for cells, line in zip(table, aligned(table, n_words=2), strict=True)
    )


def _cells(row: Any) -> tuple[str, ...]:  # noqa: ANN401 (a writer with counts)
    counts = (row.n_sent, row.n_accepted, row.n_waiting, row.n_returned)
    return (row.code, row.state, *(f"{count:,}" for count in counts))


def _add_vetting_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("switch", choices=("on", "off"), help="Whether newcomers are tried.")
    add_dataset(parser)


def use_vetting(options: argparse.Namespace, progress: Progress) -> str:
    """Switch it, and tell what newcomers find from now on."""
    is_on = options.switch == "on"
    dataset = vetting.use_vetting(
        dataset=queries.dataset_named(options.dataset), now=timezone.now(), is_on=is_on
    )
    if dataset.vetting is None:
        progress.say("Whoever was on trial was let in, and is told by mail.")
        return f"{dataset.slug}: newcomers are let in at once"
    n_dialogues = dataset.vetting.contexts.count()
    return f"{dataset.slug}: newcomers write for {n_dialogues} trial conversations first"


def _add_import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="Context, text, author and more of each.")
    add_dataset(parser)
    parser.add_argument("--apply", action="store_true", help="Store it; without, only tell.")
    parser.add_argument(
        "--accepted",
        action="store_true",
        help="People read and accepted the messages elsewhere: review only what is flagged.",
    )
    parser.add_argument("--report", type=Path, help="Write the refused rows to this file, as CSV.")


def import_messages(options: argparse.Namespace, progress: Progress) -> str:
    """Check the file, store what is good if that is asked for, and tell of every refused row."""
    dataset = queries.dataset_named(options.dataset)
    act = importing.import_messages if options.apply else importing.try_messages
    with _opened(options.file) as file, _report_file(options) as table:
        found = written_file(file)
        try:
            report = act(
                dataset=dataset,
                rows=progress.over(found, of="rows checked"),
                now=timezone.now(),
                are_accepted=options.accepted,
            )
        except InputFileError as error:
            raise _refused(options.file, str(error)) from error
        except leasing.DatasetFrozenError as error:
            raise _refused(
                options.dataset, "is frozen: no message is added to it any more"
            ) from error
        if table is not None:
            table.writelines(map(str.encode, csv_lines(report.rows())))
    for note in found.notes:
        progress.say(note)
    return "\n".join(_import_lines(options, report))


def _import_lines(
    options: argparse.Namespace, report: importing.MessageImportReport
) -> Iterator[str]:
    """Yield the report, refused rows included."""
    if not options.apply:
        yield "Dry run: nothing was stored. With --apply it would be:"
    yield (
        f"{options.dataset}: {report.n_read:,} rows, {report.n_stored:,} messages stored "
        f"({report.n_waiting:,} wait for review, {report.n_accepted:,} accepted, "
        f"{report.n_flagged:,} flagged), {report.n_known:,} stored before, "
        f"{report.n_refused:,} refused; {report.n_new_authors:,} new authors"
    )
    for reason, n in report.by_reason.items():
        yield f"{n:>7,} refused: {reason}"
    yield from map(str, report.refused)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror}") from error
    with file:
        yield file


@contextmanager
def _report_file(options: argparse.Namespace) -> Iterator[BinaryIO | None]:
    """Open the report before anything is stored, so that no report is lost to a bad path."""
    if options.report is None:
        yield None
        return
    if options.report.resolve() == options.file.resolve():
        raise _refused(
            options.report, "is the file that is imported; choose another for the report"
        )
    with whole_file(options.report, is_forced=True) as file:
        yield file


def _refused(what: Path | str, reason: str) -> RefusedError:
    return RefusedError(f"{what}: {reason}")


def freeze(options: argparse.Namespace, _progress: Progress) -> str:
    """Freeze the texts, and tell what that ended and what is left to decide."""
    dataset = queries.dataset_named(options.dataset)
    if dataset.frozen_at is not None:
        return f"{dataset.slug}: frozen already, since {dataset.frozen_at:%Y-%m-%d %H:%M} UTC"
    n = pool.freeze_dataset(dataset=dataset, by=None, now=timezone.now())
    left = message_queries.settled(dataset)
    return (
        f"{dataset.slug}: frozen; {n:,} open claims given back with their drafts kept, "
        f"{left['n_waiting']:,} messages wait and can still be accepted or rejected, "
        f"{left['n_returned']:,} that were sent back stay so"
    )


def thaw(options: argparse.Namespace, _progress: Progress) -> str:
    """Let people write again."""
    dataset = queries.dataset_named(options.dataset)
    if not pool.thaw_dataset(dataset=dataset, by=None, now=timezone.now()):
        return f"{dataset.slug}: not frozen"
    n_fixed = message_queries.settled(dataset)["n_fixed"]
    return (
        f"{dataset.slug}: thawed; {n_fixed:,} texts that are compared or labelled stay as they are"
    )


ACTIONS = (
    Action("invite", "Invite people by their e-mail addresses.", _add_invite_arguments, invite),
    Action(
        "list", "List who writes for a dataset, and how much.", _add_list_arguments, list_writers
    ),
    Action(
        "vetting",
        "Try newcomers first, or let them in at once.",
        _add_vetting_arguments,
        use_vetting,
    ),
    Action(
        "import",
        "Bring messages in that people wrote elsewhere.",
        _add_import_arguments,
        import_messages,
    ),
    Action("freeze", "Stop all writing for a dataset; texts stay.", add_dataset, freeze),
    Action("thaw", "Let people write again for a frozen dataset.", add_dataset, thaw),
)


class Command(ActionCommand):
    """Invite people to write, list and try them, and bring in what was written elsewhere."""

    help = "Invite people to write for a dataset, list them, and import what they wrote elsewhere."
    actions = ACTIONS
    refusals = (
        authoring.DatasetTakenError,
        inviting.CannotBeInvitedError,
        queries.DatasetNotFoundError,
    )
