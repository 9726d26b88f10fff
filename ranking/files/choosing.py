"""Which judgments of a file count, and on which terms."""

from dataclasses import dataclass, replace

import numpy as np

from completions.files.refusals import counted
from ranking.files.judgments import FileJudgments
from ranking.files.options import EvaluatorChoice, Options
from ranking.numerics.arrays import Integers
from ranking.numerics.strength_mode import StrengthMode


class RatingRefusedError(Exception):
    """What was asked for cannot be had from these judgments; the message says why."""


@dataclass(frozen=True)
class ChosenJudgments:
    """The judgments that count, the terms on which they do, and what a reader must know."""

    judgments: FileJudgments
    strength: StrengthMode
    evaluators: EvaluatorChoice
    warnings: tuple[str, ...]


def choose(judgments: FileJudgments, options: Options) -> ChosenJudgments:
    """Decide whose judgments count and whether strengths do.

    Raises
    ------
    RatingRefusedError
        If nobody of the kind asked for judged, or strengths are asked for that are not there.
    """
    warnings = judgments.left_out
    kept, evaluators = _by_evaluators(judgments, options.evaluators, warnings)
    strength = _strength(kept, options.strength, warnings)
    return ChosenJudgments(with_systems_judged(kept), strength, evaluators, tuple(warnings))


def with_systems_judged(judgments: FileJudgments) -> FileJudgments:
    """Return the judgments with those systems alone that any of them is about."""
    n = len(judgments.systems)
    times = np.bincount(judgments.first, minlength=n) + np.bincount(judgments.second, minlength=n)
    there = np.flatnonzero(times)
    if len(there) == n:
        return judgments
    return replace(
        judgments,
        systems=tuple(judgments.systems[index] for index in there),
        first=np.searchsorted(there, judgments.first),
        second=np.searchsorted(there, judgments.second),
    )


def inside(judgments: FileJudgments, systems: Integers) -> FileJudgments:
    """Return the judgments whose two systems are both among those (indices)."""
    among = np.isin(judgments.first, systems) & np.isin(judgments.second, systems)
    return with_systems_judged(judgments.where(among))


def _by_evaluators(
    judgments: FileJudgments, choice: EvaluatorChoice | None, warnings: list[str]
) -> tuple[FileJudgments, EvaluatorChoice]:
    is_judge = judgments.is_judge
    if is_judge is None:
        if choice in {EvaluatorChoice.HUMAN, EvaluatorChoice.LLM}:
            msg = "The file does not say who is a person: it has no column judge_kind."
            raise RatingRefusedError(msg)
        return judgments, EvaluatorChoice.ALL
    n_judge = int(is_judge.sum())
    is_mixed = 0 < n_judge < len(is_judge)
    chosen = choice or (EvaluatorChoice.HUMAN if is_mixed else EvaluatorChoice.ALL)
    if chosen is EvaluatorChoice.ALL:
        if is_mixed:
            warnings.append("People and LLM judges count alike, judgment by judgment.")
        return judgments, chosen
    kept = is_judge if chosen is EvaluatorChoice.LLM else ~is_judge
    if not kept.any():
        msg = f"No judgment is by an evaluator of the kind {chosen}."
        raise RatingRefusedError(msg)
    if choice is None:
        warnings.append(
            f"People alone count; left out: {counted(n_judge, 'judgment')} by LLM judges "
            "(--judges all, or --by judge_kind)."
        )
    return judgments.where(kept), chosen


def _strength(
    judgments: FileJudgments, mode: StrengthMode | None, warnings: list[str]
) -> StrengthMode:
    n_preferences = int((judgments.verdict != 0).sum())
    n_missing = int(((judgments.verdict != 0) & (judgments.size == 0)).sum())
    if mode is StrengthMode.IGNORE or n_missing == 0:
        return mode or (StrengthMode.SOFT if n_preferences else StrengthMode.IGNORE)
    if mode is not None:
        msg = (
            f"{n_missing} of {n_preferences} preferences have no strength, so they cannot be "
            f"weighed by it: leave --strength {mode} out, or take --strength ignore."
        )
        raise RatingRefusedError(msg)
    some = "no preference has one" if n_missing == n_preferences else f"{n_missing} lack one"
    warnings.append(f"Strengths are ignored, because {some}: a table has one scale, not two.")
    return StrengthMode.IGNORE
