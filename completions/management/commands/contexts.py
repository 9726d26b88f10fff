"""Command line of dialogues and contexts."""

import argparse
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from django.utils import timezone

from completions.choices import Stratum
from completions.contexts.queries import context_lines
from completions.contexts.screening import checking, rules
from completions.contexts.screening.checking import LabelsError
from completions.contexts.selection import SelectionError
from completions.contexts.services import building, opinions, rewriting
from completions.contexts.services.rewrite_planning import Assistants, NoSourceLeftError
from completions.dialogues import importing, queries
from completions.dialogues.couplets import couplets
from completions.dialogues.importing import DatasetNameError, StratumError
from completions.dialogues.ingest.dialogue import (
    BadRecord,
    IngestError,
    ParsedDialogue,
    language_tag,
)
from completions.dialogues.ingest.files import read_dialogues, strictly
from completions.management.acting import (
    Action,
    ActionCommand,
    Progress,
    add_dataset,
    positive,
    put,
    whole,
)
from completions.management.assisting import add_assistant, answering
from completions.management.context_funnel import FUNNEL
from completions.models import Dataset
from completions.runs.services.exclusive import AnotherAtWorkError
from completions.runs.services.states import ProviderRefusesError
from completions.systems.services.registering import ModelIdError, assistant_for

SHOWN = 20
"""Lines of one kind that are told one by one."""


def _add_import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="A file in one of the formats of dialogues.")
    parser.add_argument("--dataset", help="Name of the dataset; without it, the file's.")
    parser.add_argument(
        "--language",
        type=_language_tag,
        help="Language of dialogues that state none, such as he or zh-Hans (BCP 47).",
    )
    parser.add_argument("--licence", default="", help="Licence of a new dataset.")
    parser.add_argument(
        "--authored",
        action="store_true",
        help="A new dataset was written for this product and records no real people.",
    )
    parser.add_argument(
        "--strict", action="store_true", help="Store nothing if there is a bad record."
    )
    parser.add_argument(
        "--adversarial",
        action="store_true",
        help="The contexts that a file of items fixes are adversarial.",
    )


def _language_tag(text: str) -> str:
    """Return a tag of BCP 47 in its usual spelling."""
    try:
        return language_tag(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def import_dialogues(options: argparse.Namespace, progress: Progress) -> str:
    """Import the file; nothing is stored if it cannot be read."""
    records = progress.over(read_dialogues(options.file, options.language or ""), of="records")
    report = importing.import_dialogues(
        dataset_name=options.dataset or options.file.stem,
        dialogues=strictly(records) if options.strict else records,
        now=timezone.now(),
        licence=options.licence,
        is_authored=options.authored,
        stratum=Stratum.ADVERSARIAL if options.adversarial else Stratum.REGULAR,
    )
    _tell(report.repeated, progress, others="dialogues that stand there already")
    _tell([f"{record}; skipped" for record in report.bad], progress, others="bad records; skipped")
    return report.summary


def _tell(lines: Sequence[str], progress: Progress, *, others: str) -> None:
    """Say what is worth a look: the first of it one by one."""
    for line in lines[:SHOWN]:
        progress.say(line)
    if len(lines) > SHOWN:
        progress.say(f"and {len(lines) - SHOWN:,} more {others}")


def _add_screen_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument(
        "--opinions",
        action="store_true",
        help="Ask an assistant about every suitable candidate; what the rules found stands.",
    )
    add_assistant(parser, "--assistant", "Who gives the opinions")


def screen(options: argparse.Namespace, progress: Progress) -> str:
    """Screen what has not been screened by the rules as they are, then ask."""
    dataset = queries.dataset_named(options.dataset)
    report = building.screen_dataset(
        dataset=dataset,
        now=timezone.now(),
        shown=partial(progress.over, of="dialogues screened"),
    )
    said = f"{dataset.name}: {report.n_candidates:,} couplets, {report.n_suitable:,} suitable"
    return f"{said}\n{_ask(dataset, options.assistant, progress)}" if options.opinions else said


def _ask(dataset: Dataset, model: str, progress: Progress) -> str:
    assistant = assistant_for("screener", model)
    with answering(assistant), progress.towards("opinions") as told:
        report = opinions.gather_opinions(
            dataset=dataset, assistant=assistant, clock=timezone.now, told=told
        )
    return f"{assistant.name}: {report.summary}"


def _add_check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dialogues", type=Path, required=True, help="The file of dialogues that was labelled."
    )
    parser.add_argument(
        "--file",
        type=Path,
        default=checking.LABELS / "tuning.csv",
        help="The labels: dialogue, turn, and what a reader found.",
    )
    parser.add_argument(
        "--draw", type=positive, help="Draw so many couplets to label, in place of a check."
    )
    parser.add_argument(
        "--after", type=positive, default=0, help="Pass over the first so many of the draw."
    )


def check_screening(options: argparse.Namespace, progress: Progress) -> str:
    """Draw a sample, or print precision, recall and where rules and readers differ."""
    dialogues = _readable(read_dialogues(options.dialogues), progress)
    if options.draw:
        return "\n".join(
            f"{content_hash[: checking.PREFIX]}:{index}"
            for content_hash, index in checking.draw(
                (
                    (one.content_hash, index)
                    for one in dialogues
                    for index in couplets(one.stored_turns)
                ),
                n=options.draw,
                after=options.after,
            )
        )
    labels = checking.read_labels(options.file)
    points = {label.point[0] for label in labels}
    screened = {
        (one.content_hash[: checking.PREFIX], found.turn_index): found
        for one in dialogues
        if one.content_hash[: checking.PREFIX] in points
        for found in rules.screen(one.stored_turns, situation=one.situation, language=one.language)
    }
    tallies = checking.compare(labels, screened)
    return checking.report(tallies, n=len(labels), rules=rules.rules_version("en"))


def _readable(
    records: Iterable[ParsedDialogue | BadRecord], progress: Progress
) -> Iterator[ParsedDialogue]:
    for record in records:
        if isinstance(record, BadRecord):
            progress.say(f"{record.place}: {record.reason}; skipped")
        else:
            yield record


def _add_build_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument(
        "--regular", type=positive, default=280, help="How many regular contexts to reach."
    )
    parser.add_argument("--adversarial", type=whole, help="How many adversarial contexts to reach.")
    parser.add_argument("--seed", type=int, default=7, help="Fixes the choice.")
    add_assistant(parser, "--rewriter", "Who rewrites the seekers of adversarial contexts")
    add_assistant(parser, "--hostility-rater", "Who rates how hostile they came out")


def build(options: argparse.Namespace, progress: Progress) -> str:
    """Build what is missing."""
    said = _regular(options, progress)
    return f"{said}\n{_adversarial(options, progress)}" if options.adversarial else said


def _regular(options: argparse.Namespace, progress: Progress) -> str:
    report = building.build_contexts(
        dataset_name=options.dataset,
        n=options.regular,
        seed=options.seed,
        now=timezone.now(),
        shown=partial(progress.over, of="dialogues screened"),
    )
    return f"{options.dataset}: {report.summary}, seed {options.seed}"


def _adversarial(options: argparse.Namespace, progress: Progress) -> str:
    assistants = Assistants(
        rewriter=assistant_for("rewriter", options.rewriter),
        hostility_rater=assistant_for("hostility-rater", options.hostility_rater),
    )
    who = (assistants.rewriter, assistants.hostility_rater)
    with answering(*who), progress.towards("adversarial contexts") as told:
        report = rewriting.make_adversarial_contexts(
            dataset=queries.dataset_named(options.dataset),
            n=options.adversarial,
            seed=options.seed,
            assistants=assistants,
            clock=timezone.now,
            told=told,
        )
    for reason in report.dropped:
        progress.say(f"Dropped: {reason}")
    return f"{options.dataset}: {report.summary}"


def _add_export_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument("--output", type=Path, help="File to write; without it, standard output.")
    parser.add_argument(
        "--with-dropped", action="store_true", help="Also contexts that a reviewer dropped."
    )


def export_contexts(options: argparse.Namespace, progress: Progress) -> str:
    """Write the file whole or not at all, and name it by its hash."""
    dataset = queries.dataset_named(options.dataset)
    lines = progress.over(context_lines(dataset, with_dropped=options.with_dropped), of="contexts")
    text = "".join(f"{line}\n" for line in lines)
    if options.output is None:
        return text
    content = text.encode()
    put(iter([content]), options.output, is_forced=True)
    digest = hashlib.sha256(content).hexdigest()
    return f"{options.output}: {text.count(chr(10)):,} contexts of {dataset.name}, SHA-256 {digest}"


ACTIONS = (
    Action(
        "import",
        "Add the dialogues of a file to a dataset.",
        _add_import_arguments,
        import_dialogues,
    ),
    Action("screen", "Screen a dataset's couplets.", _add_screen_arguments, screen),
    Action(
        "check-screening",
        "Hold the screening rules against readers' labels.",
        _add_check_arguments,
        check_screening,
    ),
    Action("build", "Choose contexts from a dataset's dialogues.", _add_build_arguments, build),
    FUNNEL,
    Action(
        "export",
        "Write a dataset's contexts as JSON lines.",
        _add_export_arguments,
        export_contexts,
    ),
)


class Command(ActionCommand):
    """Import dialogues, screen them, and make contexts of them."""

    help = "Import dialogues and build contexts from them."
    actions = ACTIONS
    refusals = (
        IngestError,
        DatasetNameError,
        StratumError,
        queries.DatasetNotFoundError,
        LabelsError,
        ModelIdError,
        SelectionError,
        NoSourceLeftError,
        ProviderRefusesError,
        AnotherAtWorkError,
    )
