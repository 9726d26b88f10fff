"""Keep what counts of a study added up, so that a refit counts only what is new (ADR-0018).

The judgments stay the truth. All of them are counted anew each day, after each decision about
somebody's answers, and when the rule was changed; between, comparisons that were answered since
are counted again, each as a whole. So a revision, an answer that came in late and an import need no
arithmetic of their own.
"""

import datetime as dt
import logging
from collections.abc import Iterator

import numpy as np
from django.db import transaction
from django.db.models import Max, Min, Q

from annotation.choices import Protocol
from annotation.models import Comparison, Judgment, Study
from ranking.choices import ContextSet, EvaluatorPool
from ranking.judgments.analysis_set import (
    OVERLAP,
    Selection,
    is_decided_after,
    n_decisions,
    n_near,
    newest_judgment,
)
from ranking.judgments.frames.groups import ANSWER, FACTS, read_answers, read_pairs
from ranking.judgments.frames.kept import (
    ROW,
    Rows,
    all_rows,
    joined,
    packed,
    rule,
    share,
    stored_rows,
    unpacked,
    without,
)
from ranking.models import KeptCounts
from ranking.numerics.arrays import Integers

MOST = 10_000  # comparisons that are counted again one by one
AT_ONCE = 250_000  # keys of comparisons that are counted in one query, which takes 100 MB
MUCH = 16  # of so many parts, one that is newer has all of it written anew
EACH = dt.timedelta(days=1)
NEVER = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
NOTHING = packed(np.empty(0, dtype=ROW))
Changed = list[str]
"""Names of columns."""

logger = logging.getLogger(__name__)


@transaction.atomic
def keep_counts(*, study: Study, now: dt.datetime) -> None:
    """Bring what is kept of a study up to now; of ratings of single messages nothing is kept."""
    if study.protocol == Protocol.LIKERT:
        return
    kept = _locked(study)
    if kept.until > now:
        return
    # Noted before anything is counted: what comes in meanwhile is looked at again the next time.
    newest, decisions = newest_judgment(), n_decisions(study)
    n_newest = n_near(newest)
    has_held = kept.rule == rule() and kept.n_decisions == decisions
    n_then = n_newest if newest == kept.newest else n_near(kept.newest)
    has_late = n_then != kept.n_newest
    if has_held and not has_late and (kept.until, kept.newest) == (now, newest):
        return
    # A new decision is noticed by their number; one that was there and dated ahead, by its time.
    is_decided = not has_held or is_decided_after(study, kept.until)
    answered = None if is_decided else _answered_since(kept, has_late=has_late)
    if answered is None or now - kept.counted_at >= EACH:
        changed = _count_anew(study, kept, answered, now)
    else:
        changed = _count_again(study, kept, answered, now)
    kept.until, kept.n_decisions, kept.rule = now, decisions, rule()
    kept.newest, kept.n_newest = newest, n_newest
    kept.save(update_fields=["until", "newest", "n_newest", "n_decisions", "rule", *changed])


def _locked(study: Study) -> KeptCounts:
    """Lock what is kept of a study, whose rows are read when somebody asks for them."""
    there = KeptCounts.objects.select_for_update().defer("rows", "newer_rows")
    kept = there.filter(study=study).first()
    if kept is None:
        times = dict.fromkeys(("since", "until", "counted_at"), NEVER)
        nothing = {**times, "rows": NOTHING, "newer_rows": NOTHING}
        KeptCounts.objects.get_or_create(study_id=study.pk, defaults=nothing)
        kept = there.get(study=study)
    return kept  # not known to the study, which would keep its rows alive


def _count_anew(
    study: Study, kept: KeptCounts, answered: Integers | None, now: dt.datetime
) -> Changed:
    """Count everything; what was kept until now must have been right but for what came since."""
    kept.counted_at = now
    found, before = bytearray(), stored_rows(kept)  # of ten million judgments 150 MB each
    was_right = True
    for keys, part in _counted(study, now):
        if answered is not None:
            known = _of_range(before, keys)
            was_right &= _is_same(without(part, answered), without(known, answered))
        found += part.tobytes()
    if not was_right:
        logger.error("what was kept of %s was not what counts; it is now", study.slug)
    rows = np.frombuffer(found, dtype=ROW)
    changed = ["counted_at", "mark"]
    if not _is_same(rows, before):
        kept.rows, kept.newer_rows, kept.since = packed(rows), NOTHING, now
        changed += ["rows", "newer_rows", "since"]
    share(kept, rows)
    return changed


def _count_again(study: Study, kept: KeptCounts, answered: Integers, now: dt.datetime) -> Changed:
    """Count the answers to some comparisons, and keep them in place of what was kept of these."""
    if not len(answered):
        return []
    before = all_rows(kept)
    known = before[np.isin(before["comparison"], answered)]
    found = _counted_again(study, now, answered, known)
    if _is_same(found, known):
        return []
    gone = np.zeros(len(answered), dtype=ROW)
    gone["comparison"] = answered
    changed = np.concatenate([found, without(gone, found["comparison"])])
    newer = np.concatenate([without(unpacked(bytes(kept.newer_rows)), answered), changed])
    rows = joined(before, changed)
    kept.newer_rows, kept.since = packed(newer), now
    names = ["newer_rows", "mark", "since"]
    if len(newer) * MUCH >= len(before):
        kept.rows, kept.newer_rows = packed(rows), NOTHING
        names.append("rows")
    share(kept, rows)
    return names


def _counted_again(study: Study, now: dt.datetime, answered: Integers, known: Rows) -> Rows:
    """Add up the answers to some comparisons; of those known it is known what they compare."""
    selection = _everybody(study, now)
    new = np.setdiff1d(answered, known["comparison"])
    places = np.unique(known["comparison"], return_index=True)[1]
    facts = [known[name][places].astype(np.int64) for name in ("comparison", *FACTS)]
    pairs = np.concatenate([np.stack(facts, axis=1), read_pairs(selection, only=new.tolist())])
    return _counted_part(selection, pairs[np.argsort(pairs[:, 0])], answered.tolist())


def _counted(study: Study, now: dt.datetime) -> Iterator[tuple[range, Rows]]:
    """Add up the answers that count, sorted by comparison, a range of these after the other."""
    selection = _everybody(study, now)
    keys = Comparison.objects.filter(study=study).aggregate(first=Min("pk"), last=Max("pk"))
    for start in range(keys["first"] or 0, (keys["last"] or 0) + 1, AT_ONCE):
        some = range(start, start + AT_ONCE)
        yield some, _counted_part(selection, read_pairs(selection, only=some))


def _of_range(rows: Rows, keys: range) -> Rows:
    start, stop = np.searchsorted(rows["comparison"], [keys.start, keys.stop])
    return rows[start:stop]


def _everybody(study: Study, now: dt.datetime) -> Selection:
    return Selection(study, EvaluatorPool.COMBINED, ContextSet.ALL, now)


def _counted_part(selection: Selection, pairs: Integers, only: list[int] | None = None) -> Rows:
    answers = read_answers(selection, pairs, only=only)
    answers = answers[np.lexsort(answers[:, 2::-1].T)]
    facts = pairs[np.searchsorted(pairs[:, 0], answers[:, 0])]
    rows = np.empty(len(answers), dtype=ROW)
    columns = (*facts.T, *answers[:, 1:].T)
    for name, column in zip(("comparison", *FACTS, *ANSWER), columns, strict=True):
        rows[name] = column
    return rows


def _answered_since(kept: KeptCounts, *, has_late: bool) -> Integers | None:
    """Return the comparisons that got judgments since the last look, or None if they are many."""
    key = kept.newest - OVERLAP if has_late else kept.newest
    since = Q(pk__gt=key) | Q(submitted_at__gt=kept.until)  # new, or dated ahead at the last look
    judged = Judgment.objects.filter(since, comparison__study=kept.study_id)
    found = judged.order_by("comparison").values_list("comparison", flat=True).distinct()
    answered = np.fromiter(found[: MOST + 1], dtype=np.int64)
    return answered if len(answered) <= MOST else None


def _is_same(one: Rows, other: Rows) -> bool:
    return np.array_equal(one.view("<i8"), other.view("<i8"))
