"""Command line of exports: one table of a study, or the data dictionary, into a file."""

from argparse import SUPPRESS, ArgumentTypeError
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from annotation.management.studies import study_named
from annotation.models import Study
from completions.management.acting import Progress, RefusedError, positive, put, refusing
from ranking.choices import EvaluatorPool
from ranking.exports.data_dictionary import as_text
from ranking.exports.options import (
    FORMS,
    SPLITS,
    ExportFormat,
    ExportRefusedError,
    ExportRequest,
    Rule,
)
from ranking.exports.sources import export_of, n_rows_of
from ranking.exports.tables import TABLES
from ranking.exports.writing import file_name, written

DICTIONARY = "dictionary"
NAMES = (*(table.name for table in TABLES), DICTIONARY)


class Command(BaseCommand):
    """Export a study."""

    help = "Write judgments and all that belongs to them into a file (see docs/exports.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare what, of which study, how and where."""
        parser.add_argument("what", choices=NAMES)
        parser.add_argument("--study", help="slug of the study; the dictionary needs none")
        parser.add_argument("--format", choices=[*map(str, FORMS), "md", "json"])
        parser.add_argument("--out", type=_place, required=True, help="a file, or a folder")
        parser.add_argument("--force", action="store_true", help="overwrite a file that is there")
        parser.add_argument("--bom", action="store_true", help="CSV with a byte order mark")
        parser.add_argument("--blinded", action="store_true", help="without names of systems")
        parser.add_argument("--no-rationales", action="store_true", help="without reasons' words")
        about = "HUMAN, 0.5, 1, and 0.1 each for validation and test, unless told"
        pairs = parser.add_argument_group("preference pairs", about, argument_default=SUPPRESS)
        pairs.add_argument("--pool", choices=EvaluatorPool.values)
        pairs.add_argument("--least-agreement", type=_share, metavar="SHARE")
        pairs.add_argument("--least-judgments", type=positive, metavar="N")
        pairs.add_argument(
            "--without-ties",
            dest="leaves_ties_out",
            action="store_true",
            help="out of the shares",
        )
        pairs.add_argument("--split", choices=SPLITS, help="of source dialogues")
        pairs.add_argument("--validation", type=_share, metavar="SHARE")
        pairs.add_argument("--test", type=_share, metavar="SHARE")

    def handle(self, *, what: str, out: Path, **options: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Write the file whole or not at all, and say what was written."""
        with refusing(ExportRefusedError):
            asked = _asked(what, options)
            if what == DICTIONARY:
                path = _put_dictionary(out, options)
            else:
                path = self._put_table(_study(options["study"]), what, asked, out, options)
        self.stdout.write(f"{path} ({path.stat().st_size:,} bytes)")

    def _put_table(
        self, study: Study, what: str, asked: ExportRequest, out: Path, options: dict[str, Any]
    ) -> Path:
        form = _form(options, what, out)
        name = file_name(study, what, form)
        path = out / name if out.is_dir() else out
        if name.startswith("simulated") and "simulated" not in path.name.lower():
            msg = f"Simulated data are in it, and the name of the file has to say so: {name}"
            raise RefusedError(msg)
        if options["bom"] and form is not ExportFormat.CSV:
            msg = "Only CSV has a byte order mark: leave --bom out."
            raise RefusedError(msg)
        table, found = export_of(study, what, asked, now=timezone.now())
        total = n_rows_of(study, what)
        rows = Progress(self.stderr).over(found, of="rows", total=total)
        blocks = written(table, rows, form, bom=options["bom"])
        return put(blocks, path, is_forced=options["force"])


def _put_dictionary(out: Path, options: dict[str, Any]) -> Path:
    form = options["format"] or (out.suffix[1:] if not out.is_dir() else "md")
    path = out / f"heart-data-dictionary.{form}" if out.is_dir() else out
    try:
        text = as_text(TABLES, form)
    except KeyError:
        msg = f"The dictionary comes as csv, md or json, not as {form}."
        raise RefusedError(msg) from None
    return put(iter([text.encode()]), path, is_forced=options["force"])


def _form(options: dict[str, Any], what: str, out: Path) -> ExportFormat:
    """Return the form that is asked for, that the file's name tells, or the usual one."""
    usual = "jsonl" if what == "preferences" else "csv"
    told = out.suffix[1:]
    form = options["format"] or (told if told in FORMS else usual)
    if form not in FORMS:
        msg = f"There is no form {form} of {what}."
        raise ExportRefusedError(msg)
    return ExportFormat(form)


def _asked(what: str, options: dict[str, Any]) -> ExportRequest:
    names = ("split", *(one.name for one in fields(Rule)))
    given = {name: options[name] for name in names if name in options}
    if given and what != "preferences":
        msg = f"Pool, least, ties, split and shares are of preferences alone, not of {what}."
        raise ExportRefusedError(msg)
    split, rule = given.pop("split", ""), Rule(**given)
    if rule.validation + rule.test > 1.0:
        msg = "The shares for validation and test are more than all together."
        raise ExportRefusedError(msg)
    return ExportRequest(
        is_blinded=options["blinded"],
        with_rationales=not options["no_rationales"],
        rule=rule,
        split=split,
    )


def _study(slug: str | None) -> Study:
    if not slug:
        msg = "name a study with --study"
        raise RefusedError(msg)
    return study_named(slug)


def _place(text: str) -> Path:
    """Read a path. A slash at its end says that it is a folder, so no file gets that name."""
    if text.endswith("/") and not Path(text).is_dir():
        msg = f"{text} is no folder that is there"
        raise ArgumentTypeError(msg)
    return Path(text)


def _share(text: str) -> float:
    with suppress(ValueError):
        if 0.0 <= float(text) <= 1.0:
            return float(text)
    msg = f"{text} is no number between 0 and 1"
    raise ArgumentTypeError(msg)
