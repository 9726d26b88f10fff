"""``contexts export``: write a dataset's contexts as JSON lines."""

import argparse
import hashlib
import os
from pathlib import Path

from completions.contexts import export
from completions.dialogues import queries
from completions.management.acting import Action
from completions.management.progress import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")
    parser.add_argument("--output", type=Path, help="File to write; without it, standard output.")
    parser.add_argument(
        "--with-dropped", action="store_true", help="Also contexts that a reviewer dropped."
    )


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Write the file whole or not at all, and name it by its hash."""
    dataset = queries.dataset_named(options.dataset)
    lines = progress.over(
        export.context_lines(dataset, with_dropped=options.with_dropped), of="contexts"
    )
    text = "".join(f"{line}\n" for line in lines)
    if options.output is None:
        return text
    _write(options.output, text.encode())
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{options.output}: {text.count(chr(10)):,} contexts of {dataset.name}, SHA-256 {digest}"


def _write(path: Path, content: bytes) -> None:
    """Put the content in place in one step, so that a reader never finds half of it."""
    draft = path.with_name(f"{path.name}.part")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


ACTION = Action("export", "Write a dataset's contexts as JSON lines.", add_arguments, run)
