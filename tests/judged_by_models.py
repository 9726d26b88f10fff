"""Studies whose comparisons were put to LLM judges, in one statement per table."""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

from annotation.choices import Protocol, Side
from annotation.models import Comparison, Judge, JudgeCall, Judgment
from completions.choices import CallState, SystemKind
from completions.models import Completion
from tests.factories import NOW, make_system, make_writer

Said = tuple[str, int]
"""Where the first completion stood, and the verdict in the canonical frame."""
DONE = {"state": CallState.DONE, "ended_at": NOW, "raw_answer": "{}"}


def judge_calls(
    comparison: Comparison, judge: Judge, said: Iterable[Said | str], **fields: Any
) -> list[JudgeCall]:
    """Put a comparison to a judge; each answer is "A+3": the first's side and the verdict.

    "B?" is a call with that side that has no answer; ``fields`` say how it stands.
    """
    calls = []
    for sample, one in enumerate(said):
        side, rest = str(one)[0], str(one)[1:]
        call = JudgeCall.objects.create(
            comparison=comparison,
            judge=judge,
            first_side=Side(side),
            sample=sample,
            judge_family=judge.family,
            created_at=NOW,
            **(fields if rest == "?" else DONE),
        )
        if rest != "?":
            judgment_of(call, int(rest)).save()
        calls.append(call)
    return calls


def judgment_of(call: JudgeCall, verdict: int) -> Judgment:
    """The judgment that an answered call became, not stored yet."""
    return Judgment(
        comparison_id=call.comparison_id,
        judge_id=call.judge_id,
        judge_call=call,
        protocol=Protocol.RUBRIC,
        verdict=verdict,
        first_side=call.first_side,
        rationale="It names the feeling.",
        shown_at=NOW,
        submitted_at=NOW + dt.timedelta(seconds=3),
        protocol_hash="0" * 64,
    )


def judge_in_bulk(comparisons: Sequence[Comparison], judges: Sequence[Judge]) -> None:
    """Have every judge answer every comparison in both orders, in a few statements."""
    calls = JudgeCall.objects.bulk_create(
        (
            JudgeCall(
                comparison=comparison,
                judge=judge,
                first_side=side,
                judge_family=judge.family,
                created_at=NOW,
                **DONE,
            )
            for comparison in comparisons
            for judge in judges
            for side in Side
        ),
        batch_size=2000,
    )
    Judgment.objects.bulk_create(
        (judgment_of(call, (n * 7 % 5 + 1) * (-1 if n % 3 else 1)) for n, call in enumerate(calls)),
        batch_size=2000,
    )


def delete_text(pk: int) -> None:
    """Leave of a completion what is left when a person had its text deleted."""
    person = {"writer": make_writer(), "system": make_system(kind=SystemKind.HUMAN)}
    Completion.objects.filter(pk=pk).update(text="", erased_at=NOW, fixed_at=NOW, **person)
