"""Store a study file: as a new study, or as the next version of a locked one."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from annotation.studies import services
from annotation.studies.protocol import ProtocolError, StudyProtocol
from annotation.studies.rubric import RubricError, load_rubric
from completions.dialogues import queries as completions
from heart_site.management.studies.act import Act, Say, the_protocol


def _add_file(parser: CommandParser) -> None:
    parser.add_argument("file", help="a path, or the name of a shipped study")


def _add_file_and_dataset(parser: CommandParser) -> None:
    _add_file(parser)
    parser.add_argument("--dataset", required=True, help="the dataset whose contexts are judged")


def _create(options: Mapping[str, Any], say: Say) -> None:
    protocol = the_protocol(options["file"])
    dataset = completions.dataset_named(options["dataset"])
    study = services.create_study(
        protocol=protocol,
        rubric=load_rubric(protocol.rubric),
        dataset=dataset,
        now=timezone.now(),
    )
    say(f"{study.slug}: draft on {dataset.slug}{_seeded(protocol)}")


def _version(options: Mapping[str, Any], say: Say) -> None:
    protocol = the_protocol(options["file"])
    study = services.create_version(
        protocol=protocol, rubric=load_rubric(protocol.rubric), now=timezone.now()
    )
    say(f"{study.slug}: draft of version {study.version} of {study.name}{_seeded(protocol)}")


def _seeded(protocol: StudyProtocol) -> str:
    return "" if protocol.seed else ", with a seed of its own, secret until the study is closed"


CREATE = Act(
    name="create",
    help="store a study file as a draft",
    run=_create,
    add_arguments=_add_file_and_dataset,
    refusals=(
        completions.DatasetNotFoundError,
        ProtocolError,
        RubricError,
        services.DimensionUnknownError,
        services.RubricShownError,
        services.SeedTakenError,
        services.StudyExistsError,
    ),
)
VERSION = Act(
    name="version",
    help="store a changed file of a locked study as the draft of its next version",
    run=_version,
    add_arguments=_add_file,
    refusals=(
        ProtocolError,
        RubricError,
        services.NothingChangedError,
        services.DimensionUnknownError,
        services.RubricShownError,
        services.SeedTakenError,
        services.StudyNotFoundError,
        services.StudyStateError,
    ),
)
