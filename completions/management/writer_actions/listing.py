"""``writers list``: who writes for a dataset, and how much."""

import argparse
from collections.abc import Iterator, Sequence

from completions.choices import WriterState
from completions.dialogues import queries
from completions.management.acting import Action
from completions.management.progress import Progress
from completions.writers import emails, pool_queries
from completions.writers.pool_queries import WriterRow

HEADS = ("code", "state", "sent", "accepted", "waiting", "returned")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")
    parser.add_argument(
        "--state", type=str.upper, choices=WriterState.values, default="", help="Only these."
    )
    parser.add_argument(
        "--links",
        action="store_true",
        help="Also the personal links: whoever has one can write in that person's place.",
    )


def run(options: argparse.Namespace, _progress: Progress) -> str:
    """Return a table, one line for each writer in the order of their codes."""
    dataset = queries.dataset_named(options.dataset)
    rows = [row for row in pool_queries.writer_rows(dataset) if options.state in {"", row.state}]
    table = [HEADS, *(_cells(row) for row in rows)]
    linked = pool_queries.linked_writers(dataset) if options.links else []
    links = {writer.code: emails.personal_link(writer) for writer in linked}
    return "\n".join(
        f"{line}  {links.get(cells[0], '')}".rstrip()
        for cells, line in zip(table, _aligned(table), strict=True)
    )


def _cells(row: WriterRow) -> tuple[str, ...]:
    counts = (row.n_sent, row.n_accepted, row.n_waiting, row.n_returned)
    return (row.code, row.state, *(f"{count:,}" for count in counts))


def _aligned(table: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield each row with its columns under each other: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        sides = "<<" + ">" * (len(cells) - 2)
        yield "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(cells, sides, widths, strict=True)
        )


ACTION = Action("list", "List who writes for a dataset, and how much.", add_arguments, run)
