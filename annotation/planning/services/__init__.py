"""Writes of planning; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from annotation.planning.services.planning import PlanReport, plan_study, weigh_comparisons
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "PlanReport",
    "plan_study",
    "weigh_comparisons",
]
