"""The exports of a study: tables, counts and rows, preference pairs among them."""

import datetime as dt
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias

from annotation.models import Comparison, ExternalJudgment, Judgment, Study
from annotation.studies.queries import dimension_keys
from completions.models import Completion
from ranking.choices import ContextSet, EvaluatorPool
from ranking.exports import rows
from ranking.exports.data_dictionary import ExportColumn, ExportTable
from ranking.exports.options import ExportFormat, ExportRefusedError, ExportRequest, Rule
from ranking.exports.rows import has_texts, streamed
from ranking.exports.tables import TABLES
from ranking.judgments.analysis_set import Selection, selected_answers, selected_pairs

BY_NAME = {table.name: table for table in TABLES}


def export_of(
    study: Study, name: str, request: ExportRequest, *, now: dt.datetime
) -> tuple[ExportTable, Iterator[tuple[Any, ...]]]:
    """Return the table of that name with the columns asked for, and its rows.

    Rows have a cell for each column, and are read while they are taken.

    Raises
    ------
    ExportRefusedError
        If there is none of that name, or a licence stands against it.
    """
    table = BY_NAME.get(name)
    if table is None:
        msg = f"There is no export {name}: there are {', '.join(BY_NAME)}."
        raise ExportRefusedError(msg)
    columns = columns_of(study, table, request)
    match name:
        case "judgments":
            found: Iterator[tuple[Any, ...]] = rows.judgments(study, columns, now=now)
        case "raters":
            found = rows.raters(study, columns, now=now)
        case "external":
            found = rows.external(study, columns, now=now)
        case "preferences":
            found = preferences(study, columns, request, now=now)
        case "contexts":
            found = rows.contexts(study, columns)
        case "completions":
            found = rows.completions(study, columns)
        case _:
            found = rows.comparisons(study, columns)
    return replace(table, columns=columns), found


def tables_of(study: Study) -> tuple[ExportTable, ...]:
    """Return all tables with the columns that they have in the study."""
    dimensions = dimension_keys(study)
    return tuple(replace(table, columns=table.of(dimensions)) for table in TABLES)


def columns_of(
    study: Study, table: ExportTable, request: ExportRequest
) -> tuple[ExportColumn, ...]:
    """Return the columns of a table as they are asked for."""
    hidden = {one.name for one in table.columns if request.is_blinded and one.shows_system}
    if not request.with_rationales:
        hidden.add("rationale")
    return table.of(dimension_keys(study), without=hidden)


COUNTED: Mapping[str, Callable[[Study], int]] = {
    "judgments": lambda study: Judgment.objects.filter(comparison__study=study).count(),
    "comparisons": lambda study: study.comparisons.count(),
    "contexts": lambda study: study.comparisons.values("context").distinct().count(),
    "raters": lambda study: study.raters.count(),
    "external": lambda study: ExternalJudgment.objects.filter(batch__study=study).count(),
}
"""Exports of which the rows are counted without reading them."""


def n_rows_of(study: Study, name: str) -> int | None:
    """Return how many rows an export has, if that is known before they are read."""
    return COUNTED[name](study) if name in COUNTED else None


def offers(study: Study, *, n_judgments: int | None = None) -> list[dict[str, Any]]:
    """Return each export with its forms and how many rows it has, as far as that is known.

    A handful of queries that count; who has counted the judgments before gives ``n_judgments``.
    """
    known = {} if n_judgments is None else {"judgments": n_judgments}
    return [
        {
            "table": table,
            "n_rows": known[table.name] if table.name in known else n_rows_of(study, table.name),
            "forms": [ExportFormat.JSONL] if table.is_nested else list(ExportFormat),
        }
        for table in TABLES
    ]


ROUNDING = 1e-9
PAIRS = 500
"""Comparisons of which judgments and texts are read at once."""


Vote: TypeAlias = tuple[str, int]
"""Whose judgment it is, and the sign of its verdict in the canonical frame."""
Preference: TypeAlias = tuple[bool, dict[str, object]]
"""Whether the first completion is preferred, and how clearly: cells of the export by column."""
Judged: TypeAlias = Mapping[int, Sequence[tuple[Vote, bool]]]


def preferences(
    study: Study, columns: tuple[ExportColumn, ...], request: ExportRequest, *, now: dt.datetime
) -> Iterator[tuple[Any, ...]]:
    """Yield one row per comparison with a preferred completion; two queries a batch.

    Raises
    ------
    ExportRefusedError
        If the licence of the dataset does not let its texts be passed on.
    """
    if not has_texts(study):
        licence = study.dataset.licence or "none is named"
        msg = f"The dataset's licence ({licence}) is not known to let its texts be passed on."
        raise ExportRefusedError(msg)
    return _preference_rows(study, columns, request, now)


def _preference_rows(
    study: Study, columns: tuple[ExportColumn, ...], request: ExportRequest, now: dt.datetime
) -> Iterator[tuple[Any, ...]]:
    selection = Selection(study, EvaluatorPool(request.rule.pool), ContextSet.ALL, now)
    keys = selected_pairs(selection).order_by("pk").values_list("pk", flat=True)
    waiting = streamed(keys)
    while batch := list(islice(waiting, PAIRS)):
        for cells in _of_batch(selection, batch, request):
            yield tuple(cells[column.name] for column in columns)


def _of_batch(
    selection: Selection, keys: Sequence[int], request: ExportRequest
) -> Iterator[dict[str, object]]:
    judged = _judged(selection, keys)
    related = ("context__dialogue", "first__system", "second__system")
    pairs = Comparison.objects.filter(pk__in=judged.keys()).select_related(*related)
    for pair in pairs.order_by("pk"):
        votes = judged[pair.pk]
        found = preference([vote for vote, _ in votes], request.rule)
        split = _split(selection.study, pair, request)
        if found is not None and request.split in ("", split):
            by_program = any(is_simulated for _, is_simulated in votes)
            yield _cells(selection.study, pair, found, request) | {
                "split": split,
                "is_simulated": by_program or _is_simulated(pair),
            }


def _judged(selection: Selection, keys: Sequence[int]) -> Judged:
    """Return the votes that count on each of the comparisons."""
    answers = selected_answers(selection).filter(comparison__in=keys, verdict__isnull=False)
    found = answers.order_by("pk").values_list(
        *("comparison", "verdict", "rater", "judge"),
        *("rater__is_simulated", "judge__is_simulated"),
    )
    judged: dict[int, list[tuple[Vote, bool]]] = defaultdict(list)
    for comparison, verdict, rater, judge, *simulated in found:
        evaluator = f"rater {rater}" if judge is None else f"judge {judge}"
        judged[comparison].append(((evaluator, verdict), any(simulated)))
    return judged


def _cells(
    study: Study, pair: Comparison, found: Preference, request: ExportRequest
) -> dict[str, object]:
    first_is_chosen, counts = found
    first, second = pair.pair
    chosen, rejected = (first, second) if first_is_chosen else (second, first)
    return counts | {
        "prompt": as_messages(pair.context.turns),
        "chosen": _said(chosen),
        "rejected": _said(rejected),
        "context": pair.context.key,
        "dialogue": pair.context.dialogue.content_hash,
        "comparison": pair.key,
        "pool": request.rule.pool,
        "chosen_system": chosen.system.slug,
        "rejected_system": rejected.system.slug,
        "chosen_completion": chosen.content_hash,
        "rejected_completion": rejected.content_hash,
        "licence": study.dataset.licence,
        "study": study.slug,
        "is_simulated_study": study.is_simulated,
    }


def _said(completion: Completion) -> list[dict[str, str]]:
    return as_messages([{"role": "supporter", "text": completion.text}])


def _split(study: Study, pair: Comparison, request: ExportRequest) -> str:
    """Return the part of the source dialogue: the same in every study of the dataset."""
    dialogue = pair.context.dialogue.content_hash
    return split_of(dialogue, seed=study.dataset.slug, rule=request.rule)


def _is_simulated(pair: Comparison) -> bool:
    systems = (one.system for one in pair.completions)
    return pair.context.is_simulated or any(one.is_simulated for one in systems)


def preference(votes: Sequence[Vote], rule: Rule) -> Preference | None:
    """Return the preferred completion of one comparison, or None where there is none.

    Votes are of evaluators: each has one, divided over that evaluator's judgments of the pair, so
    that a judge asked in both orders weighs what a person does, and one who names another
    completion in each order favours neither. There is no preference without a lead of one over
    the other, with fewer judgments than the rule asks for, or with less agreement.
    """
    first, second, neither = _shares(votes)
    total = first + second + (0.0 if rule.leaves_ties_out else neither)
    if len(votes) < max(1, rule.least_judgments) or _is_even(first, second):
        return None
    ahead, behind = max(first, second), min(first, second)
    if ahead / total < rule.least_agreement - ROUNDING:
        return None
    return first > second, {
        "agreement": round(ahead / total, 6),
        "margin": round((ahead - behind) / total, 6),
        "n_judgments": len(votes),
        "n_evaluators": len({evaluator for evaluator, _ in votes}),
        "votes_chosen": round(ahead, 6),
        "votes_rejected": round(behind, 6),
        "votes_tied": round(neither, 6),
    }


def split_of(dialogue: str, *, seed: str, rule: Rule) -> str:
    """Return the part that a source dialogue belongs to, the same whenever it is asked.

    Parts are drawn by a hash of seed and dialogue: whatever is exported, and however many
    dialogues there are, a dialogue stays where it was.
    """
    digest = hashlib.sha256(f"{seed}\n{dialogue}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2.0**64
    if place < rule.test:
        return "test"
    return "validation" if place < rule.test + rule.validation else "train"


def as_messages(turns: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return turns of a dialogue as chat messages: the seeker is the user."""
    roles = {"seeker": "user", "supporter": "assistant"}
    return [{"role": roles[turn["role"]], "content": turn["text"]} for turn in turns]


def _shares(votes: Iterable[Vote]) -> tuple[float, float, float]:
    """Return the votes for the first, for the second and for neither; one per evaluator."""
    said: dict[str, list[int]] = defaultdict(list)
    for evaluator, sign in votes:
        said[evaluator].append((sign > 0) - (sign < 0))
    parts = [[signs.count(sign) / len(signs) for sign in (1, -1, 0)] for signs in said.values()]
    if not parts:
        return 0.0, 0.0, 0.0
    first, second, neither = (sum(column) for column in zip(*parts, strict=True))
    return first, second, neither


def _is_even(first: float, second: float) -> bool:
    return abs(first - second) < ROUNDING
