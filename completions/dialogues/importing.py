"""Import dialogues: as they are read, in one transaction, each of them once."""

import datetime as dt
import itertools
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.utils.text import slugify

from access.log import record
from completions.choices import Stratum
from completions.dialogues import couplets
from completions.dialogues.context_extraction import cut_context, store_contexts
from completions.dialogues.ingest.dialogue import (
    BadRecord,
    FixedContext,
    ParsedDialogue,
    Turn,
    content_hash,
)
from completions.files.rows import BATCH, batches
from completions.models import Context, Dataset, Dialogue

LONGEST_NAME = 50  # what a dataset's address takes


class DatasetNameError(ValueError):
    """A dataset's name gives no address."""


class StratumError(ValueError):
    """What was read cannot become contexts of the stratum that was asked for."""


@dataclass
class ImportReport:
    """What a file held, how much of it was new, and what could not be used."""

    dataset: Dataset
    n_dialogues: int = 0
    n_utterances: int = 0
    n_turns: int = 0
    n_couplets: int = 0
    n_added: int = 0
    n_contexts: int = 0
    n_contexts_added: int = 0
    bad: list[BadRecord] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    """Which dialogues of the file say what an earlier one says, or have its id."""

    @property
    def n_skipped(self) -> int:
        """How many records could not be used."""
        return len(self.bad)

    @property
    def summary(self) -> str:
        """What was read and what of it was new, in one line."""
        counts = [
            f"{self.n_dialogues:,} dialogues ({self.n_added:,} new)",
            f"{self.n_utterances:,} utterances",
            f"{self.n_turns:,} turns",
            f"{self.n_couplets:,} couplets",
        ]
        if self.n_contexts:
            counts.append(f"{self.n_contexts:,} contexts ({self.n_contexts_added:,} new)")
        if self.repeated:
            counts.append(f"{len(self.repeated):,} repeated")
        if self.n_skipped:
            counts.append(f"{self.n_skipped:,} skipped")
        return f"{self.dataset.name}: {', '.join(counts)}"


@transaction.atomic
def import_dialogues(
    *,
    dataset_name: str,
    dialogues: Iterable[ParsedDialogue | BadRecord],
    now: dt.datetime,
    licence: str = "",
    is_authored: bool = False,
    stratum: Stratum = Stratum.REGULAR,
) -> ImportReport:
    """Add the dialogues that the dataset does not have yet; make the dataset if need be.

    A dialogue is known by the hash of its turns, so repeating an import adds nothing, in
    whatever spelling. Where the file fixes contexts they are added as well, in ``stratum``. Bad
    records are skipped and reported. If reading fails, nothing is stored. ``licence`` and
    ``is_authored`` describe a new dataset and leave one that exists as it is.

    Raises
    ------
    DatasetNameError
        If the name has no Latin letter or digit for the dataset's address, or is too long.
    StratumError
        If dialogues that fix no contexts are to be adversarial, or a context that is there
        already is of the other stratum.
    IngestError
        If ``dialogues`` raises it.
    """
    dataset = _dataset(dataset_name, now=now, licence=licence, is_authored=is_authored)
    work = _Import(dataset, stratum, now)
    for batch in batches(dialogues, BATCH):
        work.add(batch)
    report = work.report
    if report.n_added or report.n_contexts_added:
        record(
            action="dialogues.imported",
            subject=f"dataset {dataset.slug}",
            now=now,
            after={
                "dialogues": report.n_dialogues,
                "added": report.n_added,
                "contexts_added": report.n_contexts_added,
                "skipped": report.n_skipped,
            },
        )
    return report


class _Import:
    """One import under way: what the dataset has by now, and the counts."""

    def __init__(self, dataset: Dataset, stratum: Stratum, now: dt.datetime) -> None:
        self.report = ImportReport(dataset)
        self._stratum = stratum
        self._now = now
        self._positions = itertools.count()
        self._dialogues = set(dataset.dialogues.values_list("content_hash", flat=True))
        self._contexts = dict(dataset.contexts.values_list("content_hash", "stratum"))
        self._seen = dict[tuple[str, str], int]()

    def add(self, batch: Sequence[ParsedDialogue | BadRecord]) -> None:
        """Store what is new among the next records of the file."""
        rows, fixed = [], []
        for one in batch:
            position = next(self._positions)
            if isinstance(one, BadRecord):
                self.report.bad.append(one)
                continue
            self._count(one)
            self._tell_repeated(one, position + 1)
            if one.points:
                fixed.append(one)
            if one.content_hash not in self._dialogues:
                self._dialogues.add(one.content_hash)
                rows.append(self._row(one, position))
        Dialogue.objects.bulk_create(rows, batch_size=BATCH)
        self.report.n_added += len(rows)
        if fixed:
            self._add_contexts(fixed)

    def _count(self, dialogue: ParsedDialogue) -> None:
        if self._stratum == Stratum.ADVERSARIAL and not dialogue.points:
            msg = "only a file of items, which fixes its contexts, can be adversarial"
            raise StratumError(msg)
        self.report.n_dialogues += 1
        self.report.n_utterances += dialogue.n_utterances
        self.report.n_turns += len(dialogue.turns)
        self.report.n_couplets += len(couplets.couplets(dialogue.stored_turns))
        self.report.n_contexts += len(dialogue.points)

    def _tell_repeated(self, dialogue: ParsedDialogue, number: int) -> None:
        """Report a dialogue of the file that is an earlier one, looks like it or has its id."""
        marks = {
            "is {}: stored once": dialogue.content_hash,
            "reads like {} and is spelled in other signs: both are stored": _look(dialogue),
            "has the id of {}: both are stored": dialogue.source_id,
        }
        told = ""
        for words, mark in marks.items():
            first = self._seen.setdefault((words, mark), number) if mark else number
            if first != number and not told:
                told = words.format(f"dialogue {first}")
        if told:
            self.report.repeated.append(f"dialogue {number} {told}")

    def _row(self, dialogue: ParsedDialogue, position: int) -> Dialogue:
        return Dialogue(
            dataset=self.report.dataset,
            position=position,
            content_hash=dialogue.content_hash,
            source_id=dialogue.source_id,
            language=dialogue.language,
            emotion_type=dialogue.emotion_type,
            problem_type=dialogue.problem_type,
            situation=dialogue.situation,
            source_labels=dialogue.source_labels,
            turns=dialogue.stored_turns,
            n_utterances=dialogue.n_utterances,
            imported_at=self._now,
        )

    def _add_contexts(self, fixed: Sequence[ParsedDialogue]) -> None:
        hashes = [dialogue.content_hash for dialogue in fixed]
        found = self.report.dataset.dialogues.filter(content_hash__in=hashes)
        rows = {row.content_hash: row for row in found}
        cut = [
            (context, point.reply)
            for dialogue in fixed
            for point in dialogue.points
            if self._is_new(context := self._context(rows[dialogue.content_hash], dialogue, point))
        ]
        store_contexts(cut)
        self.report.n_contexts_added += len(cut)

    def _context(self, row: Dialogue, dialogue: ParsedDialogue, point: FixedContext) -> Context:
        provenance = {
            "dialogue": row.content_hash,
            "turn_index": point.turn_index,
            "cell": [row.emotion_type, row.problem_type],
            "published": {"turn": point.turn, **dialogue.source_labels},
        }
        return cut_context(
            row, point.turn_index, provenance=provenance, now=self._now, stratum=self._stratum
        )

    def _is_new(self, context: Context) -> bool:
        stored = self._contexts.get(context.content_hash)
        if stored is None:
            self._contexts[context.content_hash] = self._stratum
        elif stored != self._stratum:
            msg = f"{context.dataset.slug} has one of these contexts already, as {stored.lower()}"
            raise StratumError(msg)
        return stored is None


def _look(dialogue: ParsedDialogue) -> str:
    """Return the hash of what a reader sees: other spellings of one letter are the same."""
    if all(turn.text.isascii() for turn in dialogue.turns):
        return dialogue.content_hash
    return content_hash(
        Turn(turn.role, unicodedata.normalize("NFKC", turn.text)) for turn in dialogue.turns
    )


def _dataset(name: str, *, now: dt.datetime, licence: str, is_authored: bool) -> Dataset:
    """Return the dataset, locked, so that two imports of one file do not meet."""
    slug = slugify(name)
    if not slug:
        msg = f'"{name}" cannot name a dataset: its address needs a Latin letter or a digit'
        raise DatasetNameError(msg)
    if len(slug) > LONGEST_NAME or len(name) > LONGEST_NAME:
        msg = f'"{name}" cannot name a dataset: it has more than {LONGEST_NAME} characters'
        raise DatasetNameError(msg)
    dataset, _ = Dataset.objects.get_or_create(
        slug=slug,
        defaults={
            "name": name,
            "licence": licence,
            "is_authored": is_authored,
            "created_at": now,
        },
    )
    if dataset.is_for_checks:
        msg = f'"{name}" holds the conversations of quality checks: choose another name'
        raise DatasetNameError(msg)
    return Dataset.objects.select_for_update().get(pk=dataset.pk)
