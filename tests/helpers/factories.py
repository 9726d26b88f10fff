"""Typed builders of valid rows; a test names only the fields it is about."""

import datetime as dt
import hashlib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from annotation.choices import Protocol, Purpose, Side, StudyState
from annotation.models import (
    Comparison,
    Judge,
    JudgeCall,
    Judgment,
    Lease,
    PlatformSubmission,
    QualityCheck,
    Rater,
    Study,
)
from annotation.studies.protocol import files
from annotation.studies.protocol.parts import Checks, ResultsMinimum, Screening
from completions.choices import (
    CallState,
    EscalationProfile,
    LeaseOutcome,
    RewriteStep,
    SystemKind,
    WriterState,
)
from completions.models import (
    Assistant,
    Candidate,
    Completion,
    Context,
    Dataset,
    Dialogue,
    GenerationCall,
    Rewrite,
    RewriteCall,
    ScreeningCall,
    System,
    Writer,
    WritingLease,
)

NOW = dt.datetime(2026, 1, 5, 9, 0, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
TURNS = [
    {"role": "seeker", "text": "I moved here in May and still know nobody."},
    {"role": "supporter", "text": "That sounds lonely. What are the evenings like?"},
    {"role": "seeker", "text": "Quiet. I call my sister, but she is busy with the baby now."},
]
RUBRIC = {
    "name": "heart",
    "version": "1",
    "dimensions": [
        {"key": key, "name": f"Dimension {key}", "asks": "?", "high": "good", "low": "bad"}
        for key in "HEART"
    ],
    "checklist": ["Ignore length."],
}
CONTENT = (
    files.load_protocol(files.STUDIES / "heart-preference.toml")
    .model_copy(
        update={
            "checks": Checks(),
            "screening": Screening(),
            "comprehension": (),
            "source_guesses": 0,
            "results": ResultsMinimum(),
        }
    )
    .content(RUBRIC, normaliser="normaliser-0")
)
"""The file of a study that plants nothing and asks nothing before the first pair."""


class Numbers:
    """Count the rows that are made: their keys, names and seeds follow from it.

    `tests/conftest.py` begins anew for each test, so that nothing a test draws hangs on which
    tests ran before it.
    """

    def __init__(self) -> None:
        self.last = 0

    def next(self) -> int:
        self.last += 1
        return self.last


numbers = Numbers()


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def make_dataset(**fields: Any) -> Dataset:
    n = numbers.next()
    return Dataset.objects.create(
        **{"slug": f"dataset-{n}", "name": f"Dataset {n}", "created_at": NOW} | fields
    )


def make_dialogue(*, dataset: Dataset | None = None, **fields: Any) -> Dialogue:
    n = numbers.next()
    return Dialogue.objects.create(
        dataset=dataset or make_dataset(),
        **{
            "position": n,
            "content_hash": digest(f"dialogue {n}"),
            "turns": TURNS,
            "n_utterances": len(TURNS),
            "imported_at": NOW,
        }
        | fields,
    )


def make_context(*, dialogue: Dialogue | None = None, **fields: Any) -> Context:
    n = numbers.next()
    dialogue = dialogue or make_dialogue()
    return Context.objects.create(
        dialogue=dialogue,
        dataset=dialogue.dataset,
        **{
            "key": f"ctx-{n}",
            "turn_index": n,
            "turns": TURNS,
            "content_hash": digest(f"context {n}"),
            "slots_left": 3,
            "created_at": NOW,
        }
        | fields,
    )


def make_candidate(*, dialogue: Dialogue | None = None, **fields: Any) -> Candidate:
    return Candidate.objects.create(
        dialogue=dialogue or make_dialogue(),
        **{
            "turn_index": 2,
            "rules": "screening-0 test",
            "is_suitable": True,
            "screened_at": NOW,
        }
        | fields,
    )


def make_assistant(**fields: Any) -> Assistant:
    n = numbers.next()
    return Assistant.objects.create(
        **{"slug": f"assistant-{n}", "name": f"Assistant {n}", "model_id": f"openai/helper-{n}"}
        | fields
    )


def make_screening_call(**fields: Any) -> ScreeningCall:
    candidate = fields.pop("candidate", None) or make_candidate()
    assistant = fields.pop("assistant", None) or make_assistant()
    return ScreeningCall.objects.create(
        candidate=candidate, assistant=assistant, **{"created_at": NOW} | fields
    )


def make_rewrite(**fields: Any) -> Rewrite:
    source = fields.pop("source_context", None) or make_context()
    rewriter = fields.pop("rewriter", None) or make_assistant()
    rater = fields.pop("hostility_rater", None) or make_assistant()
    return Rewrite.objects.create(
        source_context=source,
        rewriter=rewriter,
        hostility_rater=rater,
        **{"profile": EscalationProfile.ALWAYS_10, "target": [10, 10], "created_at": NOW} | fields,
    )


def make_rewrite_call(**fields: Any) -> RewriteCall:
    rewrite = fields.pop("rewrite", None) or make_rewrite()
    return RewriteCall.objects.create(
        rewrite=rewrite, **{"step": RewriteStep.WRITE, "round": 1, "created_at": NOW} | fields
    )


def make_system(*, kind: str = SystemKind.MODEL, **fields: Any) -> System:
    n = numbers.next()
    model = {"family": f"family-{n}", "model_id": f"openai/model-{n}"}
    return System.objects.create(
        **{"slug": f"system-{n}", "name": f"System {n}", "kind": kind}
        | (model if kind == SystemKind.MODEL else {})
        | fields
    )


def make_writer(*, dataset: Dataset | None = None, **fields: Any) -> Writer:
    return Writer.objects.create(
        dataset=dataset or make_dataset(),
        **{
            "code": f"W{numbers.next():05d}",
            "state": WriterState.ACTIVE,
            "invited_at": NOW,
            "admitted_at": NOW,
        }
        | fields,
    )


def make_writing_lease(**fields: Any) -> WritingLease:
    context = fields.pop("context", None) or make_context()
    writer = fields.pop("writer", None) or make_writer(dataset=context.dataset)
    return WritingLease.objects.create(
        context=context,
        writer=writer,
        **{"issued_at": NOW, "expires_at": NOW + HOUR} | fields,
    )


def make_completion(
    *, context: Context | None = None, system: System | None = None, **fields: Any
) -> Completion:
    text = fields.pop("text", f"I hear how much that weighs on you ({numbers.next()}).")
    return Completion.objects.create(
        context=context or make_context(),
        system=system or make_system(),
        text=text,
        **{"content_hash": digest(text), "created_at": NOW} | fields,
    )


def make_generation_call(**fields: Any) -> GenerationCall:
    context = fields.pop("context", None) or make_context()
    system = fields.pop("system", None) or make_system()
    return GenerationCall.objects.create(
        context=context, system=system, **{"created_at": NOW} | fields
    )


def make_study(**fields: Any) -> Study:
    n = numbers.next()
    dataset = fields.pop("dataset", None) or make_dataset()
    return Study.objects.create(
        dataset=dataset,
        **{
            "slug": f"study-{n}",
            "name": f"study-{n}",
            "title": f"Study {n}",
            "protocol": Protocol.PREFERENCE,
            "state": StudyState.OPEN,
            "judgments_per_pair": 5,
            "seed": f"seed-{n}",
            "content": deepcopy(CONTENT),  # a test may write into its own
            "protocol_hash": digest(f"protocol {n}"),
            "locked_at": NOW,
            "created_at": NOW,
        }
        | fields,
    )


def make_comparison(
    *,
    study: Study | None = None,
    first: Completion | None = None,
    second: Completion | None = None,
    **fields: Any,
) -> Comparison:
    n = numbers.next()
    study = study or make_study()
    dialogue = None if first else make_dialogue(dataset=study.dataset)
    context = first.context if first else make_context(dialogue=dialogue)
    first = first or make_completion(context=context)
    if study.protocol != Protocol.LIKERT:  # which shows one completion at a time
        second = second or make_completion(context=context)
    return Comparison.objects.create(
        study=study,
        context=context,
        first=first,
        second=second,
        **{"key": f"pair-{n}", "position": n, "slots_left": 5, "purpose": Purpose.MAIN} | fields,
    )


def make_alone(*, study: Study | None = None, **fields: Any) -> Comparison:
    """What a likert study rates: one completion of a context of its own."""
    n = numbers.next()
    study = study or make_study(protocol=Protocol.LIKERT)
    context = make_context(dialogue=make_dialogue(dataset=study.dataset))
    return Comparison.objects.create(
        study=study,
        context=context,
        first=make_completion(context=context),
        **{"key": f"alone-{n}", "position": n, "slots_left": 5} | fields,
    )


def make_rater(
    *, study: Study | None = None, session: Mapping[str, str] | None = None, **fields: Any
) -> Rater:
    """A rater, who came with a submission of their platform if there is a ``session``."""
    n = numbers.next()
    rater = Rater.objects.create(
        study=study or make_study(),
        **{"code": f"R{n:05d}", "draw_key": f"key-{n}", "entered_at": NOW} | fields,
    )
    if session is not None:
        ids = dict(session)
        PlatformSubmission.objects.create(
            rater=rater,
            number=1,
            session_id=ids.pop("SESSION_ID", ""),
            ids=ids,
            opened_at=NOW,
            changed_at=NOW,
        )
    return rater


def make_lease(**fields: Any) -> Lease:
    comparison = fields.pop("comparison", None) or make_comparison()
    rater = fields.pop("rater", None) or make_rater(study=comparison.study)
    return Lease.objects.create(
        comparison=comparison,
        rater=rater,
        **{
            "number": numbers.next(),
            "first_side": Side.A,
            "issued_at": NOW,
            "expires_at": NOW + HOUR,
        }
        | fields,
    )


def make_judge(**fields: Any) -> Judge:
    n = numbers.next()
    return Judge.objects.create(
        **{
            "slug": f"judge-{n}",
            "name": f"Judge {n}",
            "family": f"judge-family-{n}",
            "model_id": f"openai/judge-{n}",
        }
        | fields
    )


def make_judge_call(**fields: Any) -> JudgeCall:
    comparison = fields.pop("comparison", None) or make_comparison()
    judge = fields.pop("judge", None) or make_judge()
    first, second = comparison.pair
    return JudgeCall.objects.create(
        comparison=comparison,
        judge=judge,
        **{
            "first_side": Side.A,
            "judge_family": judge.family,
            "first_family": first.system.family,
            "second_family": second.system.family,
            "created_at": NOW,
        }
        | fields,
    )


def make_judgment(*, comparison: Comparison | None = None, **fields: Any) -> Judgment:
    """A rater's judgment, with its closed lease."""
    comparison = comparison or make_comparison()
    rater = fields.pop("rater", None) or make_rater(study=comparison.study)
    lease = fields.pop("lease", None) or make_lease(
        comparison=comparison, rater=rater, closed_at=NOW, outcome=LeaseOutcome.SUBMITTED
    )
    return Judgment.objects.create(
        comparison=comparison,
        rater=rater,
        lease=lease,
        **{
            "protocol": Protocol.PREFERENCE,
            "verdict": 1,
            "first_side": lease.first_side,
            "rationale": "It names the feeling.",
            "shown_at": NOW,
            "submitted_at": NOW + dt.timedelta(seconds=40),
            "protocol_hash": comparison.study.protocol_hash,
        }
        | fields,
    )


def make_llm_judgment(*, comparison: Comparison | None = None, **fields: Any) -> Judgment:
    """A judge's judgment, with its answered call."""
    comparison = comparison or make_comparison()
    judge = fields.pop("judge", None) or make_judge()
    call = fields.pop("judge_call", None) or make_judge_call(
        comparison=comparison, judge=judge, state=CallState.DONE, ended_at=NOW, raw_answer="{}"
    )
    return Judgment.objects.create(
        comparison=comparison,
        judge=judge,
        judge_call=call,
        **{
            "protocol": Protocol.RUBRIC,
            "verdict": 3,
            "first_side": Side.A,
            "rationale": "A follows the details.",
            "shown_at": NOW,
            "submitted_at": NOW,
            "protocol_hash": comparison.study.protocol_hash,
        }
        | fields,
    )


def make_quality_check(**fields: Any) -> QualityCheck:
    comparison = fields.pop("comparison", None) or make_comparison(purpose=Purpose.CHECK)
    return QualityCheck.objects.create(
        comparison=comparison, **{"kind": "GOLD", "expected": "FIRST"} | fields
    )
