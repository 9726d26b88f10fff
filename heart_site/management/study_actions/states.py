"""Take a study from its file to its end: create, lock, open, pause, close, and show it."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from django.utils import timezone

from annotation.management.studies import study_named
from annotation.models import Study
from annotation.overview import queries
from annotation.studies import counts
from annotation.studies.protocol.files import STUDIES, load_protocol
from annotation.studies.protocol.study import StudyProtocol
from annotation.studies.rubric import load_rubric
from annotation.studies.services import drafts, states
from completions.dialogues.queries import dataset_named
from completions.management.acting import Action
from completions.management.progress import Progress
from heart_site.management.study_actions import add_study


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a path, or the name of a shipped study")


def _add_file_and_dataset(parser: argparse.ArgumentParser) -> None:
    _add_file(parser)
    parser.add_argument("--dataset", required=True, help="the dataset whose contexts are judged")


def _protocol(file: str) -> StudyProtocol:
    """Read a study file: a path, or the name of a study that ships with the platform."""
    shipped = STUDIES / f"{file}.toml"
    return load_protocol(shipped if shipped.exists() else Path(file))


def _create(options: argparse.Namespace, _progress: Progress) -> str:
    protocol, dataset = _protocol(options.file), dataset_named(options.dataset)
    study = drafts.create_study(
        protocol=protocol,
        rubric=load_rubric(protocol.rubric),
        dataset=dataset,
        now=timezone.now(),
    )
    return f"{study.slug}: draft on {dataset.slug}{_seeded(protocol)}"


def _version(options: argparse.Namespace, _progress: Progress) -> str:
    protocol = _protocol(options.file)
    study = drafts.create_version(
        protocol=protocol, rubric=load_rubric(protocol.rubric), now=timezone.now()
    )
    return f"{study.slug}: draft of version {study.version} of {study.name}{_seeded(protocol)}"


def _seeded(protocol: StudyProtocol) -> str:
    return "" if protocol.seed else ", with a seed of its own, secret until the study is closed"


def _lock(options: argparse.Namespace, _progress: Progress) -> str:
    study = states.lock_study(study=study_named(options.study), now=timezone.now())
    return f"{study.slug}: locked, version {study.version}, protocol {study.protocol_hash}"


def _move(name: str, text: str, change: Callable[..., Study]) -> Action:
    def run(options: argparse.Namespace, _progress: Progress) -> str:
        study = change(study=study_named(options.study), now=timezone.now())
        return f"{study.slug}: {study.state.lower()}"

    return Action(name, text, add_study, run)


def _show(options: argparse.Namespace, _progress: Progress) -> Iterator[str]:
    study = study_named(options.study)
    tally = counts.study_counts(study, timezone.now()).tally
    confirmatory = (study.content.get("analysis") or {}).get("confirmatory", ())
    stands = study.get_state_display().lower()
    yield f"{study.slug}: {study.title}"
    yield f"  version {study.version} of {study.name}, {stands}, on {study.dataset.name}"
    yield f"  {study.get_protocol_display()}"
    yield f"  {study.get_plan_display()}"
    yield f"  protocol {study.protocol_hash or 'not locked yet'}"
    if not queries.is_intact(study):
        yield "  THE STORED CONTENT IS NOT WHAT WAS LOCKED: its hash is another one"
    yield f"  confirmatory: {', '.join(confirmatory) or 'nothing is named'}"
    yield f"  {tally.contexts:,} contexts, {tally.completions:,} completions"
    n_checks = queries.active_checks(study).count()
    yield f"  {tally.comparisons:,} comparisons, {n_checks:,} quality checks"
    yield f"  {tally.done:,} of {tally.wanted:,} judgments by people"
    yield f"  {tally.by_judges:,} judgments by models"


CREATE = Action("create", "store a study file as a draft", _add_file_and_dataset, _create)
VERSION = Action(
    "version",
    "store a changed file of a locked study as the draft of its next version",
    _add_file,
    _version,
)
LOCK = Action(
    "lock",
    "freeze a study under the hash of its content; after that only its state changes",
    add_study,
    _lock,
)
MOVES = (
    _move("open", "let raters in, for the first time or again", states.open_study),
    _move("pause", "hand out no new pairs for now", states.pause_study),
    _move("close", "end a study's judging for good", states.close_study),
)
SHOW = Action("show", "show a study's state, version, protocol hash and numbers", add_study, _show)
