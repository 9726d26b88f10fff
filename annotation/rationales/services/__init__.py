"""Writes of rationales; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from annotation.rationales.services.checking import draw_theme_sample
    from annotation.rationales.services.labelling import (
        find_themes,
        finish_rationale_runs,
        forget_rationale_claims,
        forget_themes,
        is_rationale_labelling_waiting,
        plan_rationale_calls,
        pull_rationale_labelling,
        start_rationale_run,
    )
    from annotation.rationales.services.scanning import (
        NothingToMaskError,
        TextWords,
        decide_rationale,
        forget_scans,
        scan_rationales,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "NothingToMaskError",
    "TextWords",
    "decide_rationale",
    "draw_theme_sample",
    "find_themes",
    "finish_rationale_runs",
    "forget_rationale_claims",
    "forget_scans",
    "forget_themes",
    "is_rationale_labelling_waiting",
    "plan_rationale_calls",
    "pull_rationale_labelling",
    "scan_rationales",
    "start_rationale_run",
]
