"""Typed builders of valid rows; a test names only the fields it is about."""

import datetime as dt
import hashlib
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar

from django.db.models import Model

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


CREATED = {"created_at": NOW}
Row = TypeVar("Row", bound=Model)


def saved(
    table: type[Row], fields: dict[str, Any], usual: dict[str, Any], **parts: Callable[[], Any]
) -> Row:
    """Store a row of the fields: what is not among them is as usual, or a part that is made."""
    made = {name: fields.pop(name, None) or make() for name, make in parts.items()}
    return table._default_manager.create(**{**made, **usual, **fields})


def make_dataset(**fields: Any) -> Dataset:
    n = numbers.next()
    usual = {"slug": f"dataset-{n}", "name": f"Dataset {n}", "created_at": NOW}
    return saved(Dataset, fields, usual)


def make_dialogue(**fields: Any) -> Dialogue:
    n = numbers.next()
    usual = {
        "position": n,
        "content_hash": digest(f"dialogue {n}"),
        "turns": TURNS,
        "n_utterances": len(TURNS),
        "imported_at": NOW,
    }
    return saved(Dialogue, fields, usual, dataset=make_dataset)


def make_context(**fields: Any) -> Context:
    if "dataset" in fields:
        fields["dialogue"] = make_dialogue(dataset=fields.pop("dataset"))
    n = numbers.next()
    dialogue = fields.pop("dialogue", None) or make_dialogue()
    usual = {
        "key": f"ctx-{n}",
        "turn_index": n,
        "turns": TURNS,
        "content_hash": digest(f"context {n}"),
        "slots_left": 3,
        "created_at": NOW,
    }
    return saved(Context, fields, usual | {"dialogue": dialogue, "dataset": dialogue.dataset})


def make_candidate(**fields: Any) -> Candidate:
    usual = {"turn_index": 2, "rules": "screening-0 test", "is_suitable": True, "screened_at": NOW}
    return saved(Candidate, fields, usual, dialogue=make_dialogue)


def make_assistant(**fields: Any) -> Assistant:
    n = numbers.next()
    usual = {"slug": f"assistant-{n}", "name": f"Assistant {n}", "model_id": f"openai/helper-{n}"}
    return saved(Assistant, fields, usual)


def make_screening_call(**fields: Any) -> ScreeningCall:
    return saved(ScreeningCall, fields, CREATED, candidate=make_candidate, assistant=make_assistant)


def make_rewrite(**fields: Any) -> Rewrite:
    usual = {"profile": EscalationProfile.ALWAYS_10, "target": [10, 10], "created_at": NOW}
    models = dict.fromkeys(("rewriter", "hostility_rater"), make_assistant)
    return saved(Rewrite, fields, usual, source_context=make_context, **models)


def make_rewrite_call(**fields: Any) -> RewriteCall:
    usual = {"step": RewriteStep.WRITE, "round": 1, "created_at": NOW}
    return saved(RewriteCall, fields, usual, rewrite=make_rewrite)


def make_system(*, kind: str = SystemKind.MODEL, **fields: Any) -> System:
    n = numbers.next()
    model = {"family": f"family-{n}", "model_id": f"openai/model-{n}"}
    usual = {"slug": f"system-{n}", "name": f"System {n}", "kind": kind}
    return saved(System, fields, usual | (model if kind == SystemKind.MODEL else {}))


def make_writer(**fields: Any) -> Writer:
    dataset = fields.pop("dataset", None) or make_dataset()
    usual = {
        "code": f"W{numbers.next():05d}",
        "state": WriterState.ACTIVE,
        "invited_at": NOW,
        "admitted_at": NOW,
    }
    return saved(Writer, fields, usual | {"dataset": dataset})


def make_writing_lease(**fields: Any) -> WritingLease:
    context = fields.pop("context", None) or make_context()
    usual = {"context": context, "issued_at": NOW, "expires_at": NOW + HOUR}
    return saved(WritingLease, fields, usual, writer=lambda: make_writer(dataset=context.dataset))


def make_completion(**fields: Any) -> Completion:
    text = fields.pop("text", f"I hear how much that weighs on you ({numbers.next()}).")
    usual = {"text": text, "content_hash": digest(text), "created_at": NOW}
    return saved(Completion, fields, usual, context=make_context, system=make_system)


def make_generation_call(**fields: Any) -> GenerationCall:
    return saved(GenerationCall, fields, CREATED, context=make_context, system=make_system)


def make_study(**fields: Any) -> Study:
    n = numbers.next()
    usual = {
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
    return saved(Study, fields, usual, dataset=make_dataset)


def make_comparison(
    *,
    study: Study | None = None,
    first: Completion | None = None,
    second: Completion | None = None,
    **fields: Any,
) -> Comparison:
    n = numbers.next()
    study = study or make_study()
    context = first.context if first else make_context(dataset=study.dataset)
    first = first or make_completion(context=context)
    if study.protocol != Protocol.LIKERT:  # which shows one completion at a time
        second = second or make_completion(context=context)
    parts = {"study": study, "context": context, "first": first, "second": second}
    usual = {"key": f"pair-{n}", "position": n, "slots_left": 5, "purpose": Purpose.MAIN}
    return saved(Comparison, fields, parts | usual)


def make_alone(*, study: Study | None = None, **fields: Any) -> Comparison:
    """What a likert study rates: one completion of a context of its own."""
    n = numbers.next()
    study = study or make_study(protocol=Protocol.LIKERT)
    context = make_context(dataset=study.dataset)
    alone = {"study": study, "context": context, "first": make_completion(context=context)}
    usual = {"key": f"alone-{n}", "position": n, "slots_left": 5}
    return saved(Comparison, fields, alone | usual)


def make_rater(*, session: Mapping[str, str] | None = None, **fields: Any) -> Rater:
    """A rater, who came with a submission of their platform if there is a ``session``."""
    n = numbers.next()
    usual = {"code": f"R{n:05d}", "draw_key": f"key-{n}", "entered_at": NOW}
    rater = saved(Rater, fields, usual, study=make_study)
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
    usual = {
        "number": numbers.next(),
        "first_side": Side.A,
        "issued_at": NOW,
        "expires_at": NOW + HOUR,
    }
    return saved(Lease, fields, usual | {"comparison": comparison, "rater": rater})


def make_judge(**fields: Any) -> Judge:
    n = numbers.next()
    usual = {"slug": f"judge-{n}", "name": f"Judge {n}", "family": f"judge-family-{n}"}
    return saved(Judge, fields, usual | {"model_id": f"openai/judge-{n}"})


def make_judge_call(**fields: Any) -> JudgeCall:
    comparison = fields.pop("comparison", None) or make_comparison()
    judge = fields.pop("judge", None) or make_judge()
    first, second = comparison.pair
    usual = CREATED | {
        "comparison": comparison,
        "judge": judge,
        "first_side": Side.A,
        "judge_family": judge.family,
        "first_family": first.system.family,
        "second_family": second.system.family,
    }
    return saved(JudgeCall, fields, usual)


def make_judgment(**fields: Any) -> Judgment:
    """A rater's judgment, with its closed lease; or a version of the one that it ``revises``."""
    if before := fields.get("revises"):
        fields = {name: getattr(before, name) for name in ("comparison", "rater", "lease")} | fields
    comparison = fields.pop("comparison", None) or make_comparison()
    rater = fields.pop("rater", None) or make_rater(study=comparison.study)
    lease = fields.pop("lease", None) or make_lease(
        comparison=comparison, rater=rater, closed_at=NOW, outcome=LeaseOutcome.SUBMITTED
    )
    usual = {
        "comparison": comparison,
        "rater": rater,
        "lease": lease,
        "protocol": Protocol.PREFERENCE,
        "verdict": 1,
        "first_side": lease.first_side,
        "rationale": "It names the feeling.",
        "shown_at": NOW,
        "submitted_at": NOW + dt.timedelta(seconds=40),
        "protocol_hash": comparison.study.protocol_hash,
    }
    return saved(Judgment, fields, usual)


def make_llm_judgment(*, comparison: Comparison | None = None, **fields: Any) -> Judgment:
    """A judge's judgment, with its answered call."""
    comparison = comparison or make_comparison()
    judge = fields.pop("judge", None) or make_judge()
    call = fields.pop("judge_call", None) or make_judge_call(
        comparison=comparison, judge=judge, state=CallState.DONE, ended_at=NOW, raw_answer="{}"
    )
    usual = {
        "comparison": comparison,
        "judge": judge,
        "judge_call": call,
        "protocol": Protocol.RUBRIC,
        "verdict": 3,
        "first_side": Side.A,
        "rationale": "A follows the details.",
        "shown_at": NOW,
        "submitted_at": NOW,
        "protocol_hash": comparison.study.protocol_hash,
    }
    return saved(Judgment, fields, usual)


def make_quality_check(**fields: Any) -> QualityCheck:
    usual = {"kind": "GOLD", "expected": "FIRST"}
    planted = partial(make_comparison, purpose=Purpose.CHECK)
    return saved(QualityCheck, fields, usual, comparison=planted)
