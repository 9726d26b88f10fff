"""The calls that put one comparison to judges: orders, verdicts, reasons, and what was asked."""

import json
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from django.core.exceptions import ObjectDoesNotExist

from annotation.choices import Side
from annotation.judges.ensembles import EnsembleVerdict, Fate, JudgeVerdict, fate
from annotation.judges.verdict_queries.tallies import Judged, judged_comparisons, panel_of
from annotation.models import Comparison, Judge, JudgeCall, Judgment, Study
from annotation.studies.selectors import shown_text
from completions.choices import Stratum
from completions.dialogues.display import DialogueView


@dataclass(frozen=True)
class CallRow:
    """One call: how the pair was shown, what was asked, and what came."""

    is_first_a: bool
    sample: int
    """From 1."""
    fate: Fate
    verdict: int | None
    marks: tuple[tuple[str, int], ...]
    """Dimensions with the advantage of the first completion, where one was ahead."""
    probability: float | None
    rationale: str
    raw_answer: str
    fault: str
    asked: str
    prompt_hash: str
    is_addressed: bool
    """Whether one of the texts spoke to the judge."""
    attempts: int
    latency_ms: int | None
    cost_usd: Decimal | None

    @property
    def strength(self) -> int:
        """The size of the verdict."""
        return abs(self.verdict or 0)


@dataclass(frozen=True)
class JudgeSection:
    """One judge's calls on the comparison, and the verdict that follows from them."""

    judge: Judge
    is_excluded: bool
    verdict: JudgeVerdict
    calls: tuple[CallRow, ...]


@dataclass(frozen=True)
class JudgedPair:
    """A comparison with what every judge said of it."""

    comparison: Comparison
    stratum_label: str
    dialogue: DialogueView
    first: str
    second: str
    is_erased: bool
    is_simulated: bool
    ensemble: EnsembleVerdict | None
    judges: tuple[JudgeSection, ...]


def judged_pair(study: Study, key: str) -> JudgedPair | None:
    """Return the study's comparison of that key if judges were asked of it, in six queries."""
    related = ("context", "first__system", "second__system")
    pairs = study.comparisons.select_related(*related).filter(key=key, second__isnull=False)
    comparison = pairs.order_by("pk").first()
    if comparison is None:
        return None
    panel = panel_of(study)
    judged = next(judged_comparisons(study, panel, only=[comparison.pk]), None)
    if judged is None:
        return None
    first, second = comparison.pair
    simulated = (comparison.context, first.system, second.system, study)
    return JudgedPair(
        comparison=comparison,
        stratum_label=Stratum(comparison.context.stratum).label,
        dialogue=DialogueView.of(
            comparison.context.turns, is_simulated=comparison.context.is_simulated
        ),
        first=shown_text(first),
        second=shown_text(second),
        is_erased=judged.is_erased,
        is_simulated=panel.has_simulated or any(one.is_simulated for one in simulated),
        ensemble=judged.ensemble,
        judges=_sections(comparison, judged, excluded=panel.excluded),
    )


def _sections(
    comparison: Comparison, judged: Judged, *, excluded: frozenset[int]
) -> tuple[JudgeSection, ...]:
    calls = JudgeCall.objects.filter(comparison=comparison).select_related("judge", "judgment")
    rows = calls.prefetch_related("judgment__marks").order_by(
        "judge__name", "judge", "first_side", "sample"
    )
    return tuple(
        JudgeSection(
            judge=judge,
            is_excluded=judge.pk in excluded,
            verdict=judged.verdicts[judge.pk],
            calls=tuple(_call(row, is_erased=judged.is_erased) for row in of_judge),
        )
        for judge, of_judge in groupby(rows, key=lambda row: row.judge)
    )


def _call(call: JudgeCall, *, is_erased: bool) -> CallRow:
    """Return what is shown of a call; of a deleted text nothing that may quote it."""
    judgment = _judgment(call)
    return CallRow(
        is_first_a=call.first_side == Side.A,
        sample=call.sample + 1,
        fate=fate(call.state, call.error_kind),
        verdict=None if judgment is None else judgment.verdict,
        marks=() if judgment is None else _marks(judgment),
        probability=call.first_probability,
        rationale="" if is_erased or judgment is None else judgment.rationale,
        raw_answer="" if is_erased else call.raw_answer,
        fault=": ".join(filter(None, (call.error_kind, "" if is_erased else call.error_detail))),
        asked="" if is_erased else _asked(call),
        prompt_hash=call.prompt_hash,
        is_addressed=bool(call.asked.get("addressed")),
        attempts=call.attempts,
        latency_ms=call.latency_ms,
        cost_usd=call.cost_usd,
    )


def _judgment(call: JudgeCall) -> Judgment | None:
    try:
        return call.judgment
    except ObjectDoesNotExist:
        return None


def _marks(judgment: Judgment) -> tuple[tuple[str, int], ...]:
    marks = ((mark.dimension, mark.advantage) for mark in judgment.marks.all())
    return tuple(sorted(mark for mark in marks if mark[1]))


def _asked(call: JudgeCall) -> str:
    """Return the parameters as wanted, as stored; an unusable first answer is one of them."""
    return (
        json.dumps(call.asked, ensure_ascii=False, indent=2, sort_keys=True) if call.asked else ""
    )
