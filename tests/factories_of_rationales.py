"""Builders of rows about the themes of rationales."""

import datetime as dt
from typing import Any

from annotation.choices import TextOutcome, TextState
from annotation.models import (
    Judgment,
    RationaleCall,
    RationaleDecision,
    RationaleRun,
    RationaleScan,
    Study,
    ThemeLabel,
)
from annotation.rationales import passages, themes
from completions.choices import CallState, Presence, RunState
from completions.models import Assistant
from tests.factories import NOW, make_assistant, make_judgment, make_study

DONE = {"state": CallState.DONE, "ended_at": NOW, "raw_answer": "{}"}
BOOK = themes.load_codebook("heart-1")
PRESENT = {"presence": Presence.PRESENT, "probability": 0.9}


def make_rationale_run(**fields: Any) -> RationaleRun:
    study = fields.pop("study", None) or make_study()
    return RationaleRun.objects.create(
        study=study, **{"plan": {"study": study.slug}, "created_at": NOW} | fields
    )


def make_rationale_call(**fields: Any) -> RationaleCall:
    judgment = fields.pop("judgment", None) or make_judgment()
    assistant = fields.pop("assistant", None) or make_assistant()
    run = fields.pop("run", None) or make_rationale_run(study=judgment.comparison.study)
    return RationaleCall.objects.create(
        judgment=judgment,
        assistant=assistant,
        run=run,
        **{"codebook": BOOK.reference, "created_at": NOW} | fields,
    )


def make_theme_label(**fields: Any) -> ThemeLabel:
    call = fields.pop("call", None) or make_rationale_call(**DONE)
    said = {"theme": BOOK.keys[0], "presence": Presence.ABSENT, "probability": 0.1}
    return ThemeLabel.objects.create(call=call, **said | fields)


def make_coded(
    judgment: Judgment, assistant: Assistant, *present: str, **fields: Any
) -> RationaleCall:
    """Store a whole answer on a judgment's rationale: these themes are present, others not."""
    call = make_rationale_call(judgment=judgment, assistant=assistant, **DONE | fields)
    for key in BOOK.keys:
        said = PRESENT | {"quote": "names"} if key in present else {}
        make_theme_label(call=call, theme=key, **said)
    return call


def code_all(study: Study, coder: Assistant, *, at: dt.datetime) -> None:
    """Store that the coder found warmth in every rationale, in a run that is over."""
    run = make_rationale_run(study=study, state=RunState.ENDED, ended_at=at)
    for judgment in Judgment.objects.filter(comparison__study=study):
        make_coded(judgment, coder, "warmth", run=run, ended_at=at)


def make_scan(**fields: Any) -> RationaleScan:
    """A scan that found nothing, unless the fields say otherwise."""
    judgment = fields.pop("judgment", None) or make_judgment()
    row = {
        "rules": passages.version(),
        "text_hash": passages.digest(judgment.rationale),
        "state": TextState.CLEAN,
        "scanned_at": NOW,
    }
    return RationaleScan.objects.create(judgment=judgment, **row | fields)


def make_text_decision(**fields: Any) -> RationaleDecision:
    judgment = fields.pop("judgment", None) or make_judgment()
    row = {"outcome": TextOutcome.WITHHELD, "decided_at": NOW}
    return RationaleDecision.objects.create(judgment=judgment, **row | fields)
