"""``contexts check-screening``: hold the screening rules against labels that readers gave."""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from completions.contexts import screening
from completions.contexts.screening import checking
from completions.dialogues import ingest
from completions.dialogues.couplets import couplets
from completions.management.acting import Action, positive
from completions.management.progress import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
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


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Draw a sample, or print precision, recall and where rules and readers differ."""
    dialogues = _readable(ingest.read_dialogues(options.dialogues), progress)
    if options.draw:
        return "\n".join(
            f"{content_hash[: checking.PREFIX]}:{index}"
            for content_hash, index in checking.draw(
                ((one.content_hash, index) for one in dialogues for index in _couplets(one)),
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
        for found in screening.screen(_turns(one), situation=one.situation, language=one.language)
    }
    tallies = checking.compare(labels, screened)
    return checking.report(tallies, n=len(labels), rules=screening.rules_version("en"))


def _readable(
    records: Iterable[ingest.ParsedDialogue | ingest.BadRecord], progress: Progress
) -> Iterator[ingest.ParsedDialogue]:
    for record in records:
        if isinstance(record, ingest.BadRecord):
            progress.say(f"{record.place}: {record.reason}; skipped")
        else:
            yield record


def _couplets(dialogue: ingest.ParsedDialogue) -> list[int]:
    return couplets(_turns(dialogue))


def _turns(dialogue: ingest.ParsedDialogue) -> list[dict[str, str]]:
    return [{"role": turn.role, "text": turn.text} for turn in dialogue.turns]


ACTION = Action(
    "check-screening", "Hold the screening rules against readers' labels.", add_arguments, run
)
