"""Writes of rationales; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from annotation.rationales.services.labelling import (
        draw_theme_sample,
        find_themes,
        forget_themes,
        plan_rationale_calls,
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
    "forget_scans",
    "forget_themes",
    "plan_rationale_calls",
    "scan_rationales",
    "start_rationale_run",
]
