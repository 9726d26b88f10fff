"""Scan rationales for personal data, and store what people decide about what was found."""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from access.log import record
from annotation.choices import TextOutcome, TextState
from annotation.models import Judgment, RationaleDecision, RationaleScan, Study
from annotation.rationales import passages, queries
from annotation.rationales.passages import Passage

BATCH = 500
LONGEST = dt.timedelta(minutes=2)
"""How long one turn of the periodic task scans; the next goes on where it ended."""


class NothingToMaskError(ValueError):
    """No passage is marked, or words that are not in the text; the message says which."""


@dataclass(frozen=True)
class TextWords:
    """What somebody decides about a rationale, and what else they marked in it."""

    outcome: TextOutcome
    reason: str = ""
    also: tuple[str, ...] = ()


def scan_rationales(
    *, clock: Callable[[], dt.datetime], study: Study | None = None, longest: dt.timedelta = LONGEST
) -> int:
    """Scan what the rules of now have not read, in batches; return how many rationales.

    It ends when nothing is left or ``longest`` is over. Each batch is stored by itself, so that
    repeating it, also after a fall, goes on with the rest. What somebody decided holds under new
    rules as long as these find nothing beyond what was marked then.
    """
    rules, end, n, after = passages.version(), clock() + longest, 0, 0
    while True:
        batch = queries.unscanned(rules=rules, study=study, after=after)[:BATCH]
        keys = list(batch.values_list("pk", flat=True))
        _store(keys, rules=rules, now=clock())
        n += len(keys)
        if len(keys) < BATCH or clock() >= end:
            return n
        after = keys[-1]


@transaction.atomic
def decide_rationale(
    *, study: Study, judgment: int, words: TextWords, by: User | None, now: dt.datetime
) -> RationaleDecision:
    """Release a rationale as it is, with passages removed, or not at all; the newest word holds.

    Words that are marked besides what the rules found are removed, too. The log says what was
    decided and of which kinds the passages are, and has no word of the text.

    Raises
    ------
    RationaleScan.DoesNotExist
        If no rationale of that judgment of the study was scanned, or it was erased.
    NothingToMaskError
        If passages are to be removed and none is marked, or if words were marked that are not
        there: what was meant would be released.
    """
    scan = (
        RationaleScan.objects.select_for_update(of=("self",))
        .select_related("judgment")
        .exclude(judgment__rationale="")
        .get(judgment=judgment, judgment__comparison__study=study)
    )
    found = _marked(scan, words)
    before = scan.state
    _set(scan, found, TextState(words.outcome))
    scan.save(update_fields=["passages", "n_passages", "state"])
    decision = RationaleDecision.objects.create(
        judgment_id=judgment,
        outcome=words.outcome,
        passages=scan.passages,
        reason=words.reason.strip(),
        decided_at=now,
        decided_by=by,
    )
    record(
        action=f"rationale.{words.outcome.lower()}",
        subject=f"judgment {judgment} in study {study.slug}",
        now=now,
        by=by,
        before={"state": before},
        after={"state": scan.state, "found": sorted(one.kind for one in found)},
    )
    return decision


def forget_scans(judgments: QuerySet[Judgment]) -> None:
    """Delete what was found in rationales that were erased, and the reasons of decisions.

    Offsets, kinds and hashes confirm a guess at the text; that somebody decided stays.
    """
    RationaleScan.objects.filter(judgment__in=judgments).delete()
    # The exception to rows that are written once (ADR-0008): a plain queryset, on purpose.
    decided: QuerySet[RationaleDecision] = QuerySet(RationaleDecision)
    decided.filter(judgment__in=judgments).update(reason="", passages=[])


def _marked(scan: RationaleScan, words: TextWords) -> tuple[Passage, ...]:
    text = scan.judgment.rationale
    if missing := [one for one in words.also if not passages.find_words(text, [one])]:
        msg = _("These words are not in the text: %(words)s.") % {"words": ", ".join(missing)}
        raise NothingToMaskError(msg)
    known = queries.passages_of(scan)
    found = passages.joined([*known, *passages.find_words(text, words.also)])
    if words.outcome == TextOutcome.MASKED and not found:
        msg = _("Nothing is marked. Write the words to remove, one to a line.")
        raise NothingToMaskError(msg)
    return found


@transaction.atomic
def _store(keys: Sequence[int], *, rules: str, now: dt.datetime) -> None:
    """Store what is found in a batch; rows that are decided about at the same time wait.

    Whoever erases rationales meanwhile waits, too, or was first: of those nothing is stored.
    """
    given = Judgment.objects.filter(pk__in=keys).exclude(rationale="").order_by("pk")
    texts = list(given.select_for_update(no_key=True).values_list("pk", "rationale"))
    held = RationaleScan.objects.filter(judgment__in=keys).order_by("pk").select_for_update()
    stored = {scan.judgment_id: scan for scan in held}
    scans = [_read(stored.get(pk), pk, text) for pk, text in texts]
    for scan in scans:
        scan.rules, scan.scanned_at = rules, now
    new = [scan for scan in scans if scan.judgment_id not in stored]
    # Two that scan at once read the same: whoever comes second has nothing to add.
    RationaleScan.objects.bulk_create(new, ignore_conflicts=True)
    RationaleScan.objects.bulk_update(
        [scan for scan in scans if scan.judgment_id in stored], CHANGED, batch_size=100
    )


CHANGED = ("rules", "text_hash", "passages", "n_passages", "state", "scanned_at")


def _read(scan: RationaleScan | None, judgment: int, text: str) -> RationaleScan:
    found, text_hash = passages.find(text), passages.digest(text)
    if scan is None:
        scan = RationaleScan(judgment_id=judgment, text_hash=text_hash)
    elif scan.text_hash == text_hash and passages.covers(queries.passages_of(scan), found):
        return scan
    scan.text_hash = text_hash
    _set(scan, found, TextState.WAITING if found else TextState.CLEAN)
    return scan


def _set(scan: RationaleScan, found: Iterable[Passage], state: TextState) -> None:
    scan.passages = [list(one) for one in found]
    scan.n_passages = len(scan.passages)
    scan.state = state
