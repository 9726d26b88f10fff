"""Store what a quick study's file holds, and open a study on it; a second file adds to it."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from annotation.choices import StudyState
from annotation.models import Study
from annotation.planning import services as planning_services
from annotation.planning.services import PlanReport
from annotation.quick.layout import QuickFile, TextItem
from annotation.studies import queries as study_queries
from annotation.studies.protocol.files import FaultyError, check_values, shipped_study
from annotation.studies.protocol.study import StudyProtocol
from annotation.studies.rubric import load_rubric
from annotation.studies.services import drafts, states
from completions.choices import Way
from completions.dialogues.context_extraction import BATCH, cut_context, digest
from completions.files.refusals import InputFileError
from completions.models import Context, Dataset, Dialogue
from completions.systems.importing import ImportedRow
from completions.systems.services.importing import IntakeReport, import_completions
from completions.systems.services.registering import register_imported_system

MOST_JUDGMENTS = 1000
PLATFORMS = {"link": "any", "prolific": "prolific", "team": "any"}
"""Who rates, and the platform that the study then expects."""
LONGEST_NAME = 40
"""Characters of a study's address, so that those of its systems fit too."""


class QuickWish(NamedTuple):
    """What a file does not say: the study's name, the question, how many judge, from where."""

    name: str
    question: str
    judgments: int
    platform: str = "any"


class QuickReport(NamedTuple):
    """The study, and what came into it."""

    study: Study
    is_new: bool
    intake: IntakeReport
    plan: PlanReport


class QuickNameError(ValueError):
    """A name gives no address, or that of something else."""


class ItemChangedError(ValueError):
    """An item is there already with another context: what was judged never changes."""


REFUSALS = (
    FaultyError,
    InputFileError,
    ItemChangedError,
    QuickNameError,
    drafts.StudyExistsError,
    states.StudyStateError,
)
"""What a file and its answers may be told instead of becoming a study, but for faults of rows."""


@transaction.atomic
def make_quick_study(
    *,
    file: QuickFile,
    wish: QuickWish,
    now: dt.datetime,
    by: User | None = None,
    way: Way = Way.COMMAND,
) -> QuickReport:
    """Store items, systems and texts, and open a study that compares them; all of it or nothing.

    A study of that name that was made so gets what is new in the file; its protocol stays.

    Raises
    ------
    QuickNameError
        If the name gives no address, a dataset or study has it that was made otherwise, or the
        study is closed.
    ItemChangedError
        If an item is there with another context.
    InputFileError
        If a new study would have no pair.
    completions.systems.services.importing.RowsRefusedError
        If a system has another text for an item than before.
    annotation.studies.protocol.files.FaultyError
        If the question or the number of judgments cannot be used.
    """
    slug = slugify(wish.name)[:LONGEST_NAME].strip("-")
    study = _study_so_far(slug, wish.name)
    is_new = study is None
    if is_new and not file.n_pairs:
        msg = "no item has different texts by two systems: there is nothing to compare"
        raise InputFileError(msg)
    dataset = _dataset(slug, wish.name, now=now) if study is None else study.dataset
    keys = _store_items(dataset, list(file.items.values()), now=now)
    systems = {
        name: register_imported_system(dataset=dataset, name=name).slug for name in file.systems
    }
    intake = import_completions(rows=_rows(file, keys, systems), way=way, by=by, now=now)
    if study is None:
        protocol = _protocol(slug, wish, n_pairs=file.n_pairs)
        study = _open(protocol, dataset, now=now, by=by)
    plan = planning_services.plan_study(study=study, now=now, by=by)
    return QuickReport(study, is_new, intake, plan)


def _study_so_far(slug: str, name: str) -> Study | None:
    """Return the study of that address, if it was made from a file before."""
    if not slug:
        msg = f'"{name}" cannot name a study: its address needs a Latin letter or a digit'
        raise QuickNameError(msg)
    study = study_queries.study_by_slug(slug)
    if study is not None and study.dataset.slug != slug:
        msg = f'there is a study "{slug}" already, which was not made from a file: choose a name'
        raise QuickNameError(msg)
    if study is not None and study.title.casefold() != name.strip().casefold():
        msg = f'"{study.title}" has the address "{slug}" already: choose a name that differs more'
        raise QuickNameError(msg)
    if study is not None and study.state == StudyState.CLOSED:
        msg = f'the study "{slug}" is closed: choose another name'
        raise QuickNameError(msg)
    return study


def _dataset(slug: str, name: str, *, now: dt.datetime) -> Dataset:
    """Add the dataset; no writer is wanted for it."""
    row = Dataset(slug=slug, name=name, completions_per_context=0, created_at=now)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as error:
        msg = f'there is a dataset "{slug}" already: choose another name for the study'
        raise QuickNameError(msg) from error
    return row


def _store_items(
    dataset: Dataset, items: Sequence[TextItem], *, now: dt.datetime
) -> Mapping[str, str]:
    """Add the items that the dataset does not have, and return the keys of contexts by item.

    An item of one turn at most is no conversation: raters read a prompt, or the texts alone.
    One that is there with another context is refused; one without may be left out.
    """
    known = {row.content_hash: row for row in dataset.dialogues.all()}
    for item in items:
        there = known.get(_hash(item))
        if there is not None and item.turns and there.turns != item.stored_turns:
            msg = f'"{item.key}" is there already with another context: give the item another name'
            raise ItemChangedError(msg)
    new = [item for item in items if _hash(item) not in known]
    rows = [
        _dialogue(item, dataset, position=position, now=now)
        for position, item in enumerate(new, start=len(known))
    ]
    Dialogue.objects.bulk_create(rows, batch_size=BATCH)
    cut = [
        cut_context(row, max(0, len(row.turns) - 1), provenance={"item": row.source_id}, now=now)
        for row in rows
    ]
    Context.objects.bulk_create(cut, batch_size=BATCH)
    keys = {item.key for item in items}
    found = Context.objects.filter(dataset=dataset).values_list("dialogue__source_id", "key")
    return {item: key for item, key in found if item in keys}


def _hash(item: TextItem) -> str:
    """Return by what an item is known: its key, for two items may have one prompt."""
    return digest(f"item {item.key}")


def _dialogue(item: TextItem, dataset: Dataset, *, position: int, now: dt.datetime) -> Dialogue:
    """Return the dialogue that holds an item."""
    return Dialogue(
        dataset=dataset,
        position=position,
        content_hash=_hash(item),
        source_id=item.key,
        language=item.language,
        turns=item.stored_turns,
        n_utterances=len(item.turns),
        imported_at=now,
    )


def _rows(
    file: QuickFile, keys: Mapping[str, str], systems: Mapping[str, str]
) -> list[ImportedRow]:
    return [
        ImportedRow(one.line, keys[one.item], systems[one.system], one.text) for one in file.texts
    ]


def _open(protocol: StudyProtocol, dataset: Dataset, *, now: dt.datetime, by: User | None) -> Study:
    study = drafts.create_study(
        protocol=protocol,
        rubric=load_rubric(protocol.rubric),
        dataset=dataset,
        now=now,
        by=by,
        may_replace=False,
    )
    return states.open_study(study=study, now=now, by=by)


def usual() -> StudyProtocol:
    """Return the study file that ships for this; it has what nobody is asked for."""
    return shipped_study("quick")


def _protocol(slug: str, wish: QuickWish, *, n_pairs: int) -> StudyProtocol:
    """Return the usual study file with what was wished for.

    A session is no longer than there are pairs: people are told before how many come.
    """
    values = usual().model_dump(mode="json", exclude_none=True)
    values |= {
        "slug": slug,
        "title": wish.name,
        "question": wish.question,
        "judgments_per_pair": wish.judgments,
        "session_length": max(1, min(values["session_length"], n_pairs)),
        "crowd": values["crowd"] | {"platform": wish.platform},
    }
    return check_values(values)
