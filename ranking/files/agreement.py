"""Opinions of the evaluators of a file and their agreement: each figure, or None and a warning."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from completions.files.refusals import counted, shown
from ranking.files.judgments import FileJudgments
from ranking.numerics.agreement.coefficients import (
    Metric,
    agreement_of_tables,
    cohen_kappas,
    cross_tabulate,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    most_common_number,
)
from ranking.numerics.agreement.majority import NO_MAJORITY, majorities, match, two_sided_p
from ranking.numerics.agreement.opinions import (
    TIE,
    VALUES,
    Answers,
    Opinions,
    count_values,
    observed_agreement,
    opinions_of,
)
from ranking.numerics.arrays import Booleans, Floats, Integers

MOST_PAIRS = 10_000
FEW_UNITS = 20


@dataclass(frozen=True)
class Resampling:
    """How intervals of shares are resampled, and by which column."""

    replicates: int = 1000
    seed: int = 0
    unit: str = "context_id"


def agreement(judgments: FileJudgments, resampling: Resampling) -> dict[str, Any]:
    """Return the agreement among the evaluators with the keys that docs/files.md lists.

    The first figures are among people, if any judged, else among all evaluators.

    Raises
    ------
    AgreementRefusedError
        If the file does not tell evaluators apart.
    """
    held = opinions(judgments)
    warnings = judgments.left_out
    if held.n_repeated:
        warnings.append(
            f"{counted(held.n_repeated, 'repeat')} of an evaluator's own judgment of a pair: of "
            "each pair, the side that came out ahead counts, or a tie."
        )
    is_judge = held.is_by_judge
    panel = held if is_judge.all() else held.of(~is_judge)
    return {
        **_among(panel, warnings),
        "pairs": _pairs(held, warnings),
        "llm_vs_human_majority": _against_majority(judgments, held, resampling, warnings),
        "position": _positions(judgments, held.evaluators),
        "warnings": warnings,
        **_more(panel),
        "method": _method(panel, held, resampling),
    }


def _among(panel: Opinions, warnings: list[str]) -> dict[str, Any]:
    """Return the figures of all members of the panel together."""
    counts = panel.counts()
    n_alone = int((counts.sum(axis=1) == 1).sum())
    if n_alone:
        warnings.append(
            f"Judged once, which says nothing of agreement: {counted(n_alone, 'pair')}."
        )
    alphas = {metric.value: _known(krippendorff_alpha(counts, VALUES, metric)) for metric in Metric}
    if None in alphas.values():
        warnings.append("No alpha: it takes two evaluators of the same pairs, and two opinions.")
    return {
        "items": int((counts.sum(axis=1) > 0).sum()),
        "raters": len(np.unique(panel.evaluator)),
        "raw_agreement": _known(observed_agreement(counts)),
        "fleiss_kappa": _fleiss(counts, warnings),
        "krippendorff_alpha": alphas,
    }


def _fleiss(counts: Integers, warnings: list[str]) -> float | None:
    """Return Fleiss' kappa of the items that have the most common number of judgments."""
    number, has_number = most_common_number(counts)
    if not number:
        warnings.append("No Fleiss' kappa: no pair has two judgments.")
        return None
    n_judged = int((counts.sum(axis=1) > 0).sum())
    n = int(has_number.sum())
    if n < n_judged:
        warnings.append(
            f"Fleiss' kappa takes equal numbers of judgments: it is that of the {n} of {n_judged} "
            f"pairs that have exactly {number}. Alpha uses them all."
        )
    return _known(fleiss_kappa(counts[has_number]))


def _more(panel: Opinions) -> dict[str, Any]:
    """Return what goes beyond the common figures: Gwet's AC1, and alpha of graded answers."""
    counts = panel.counts()
    graded: dict[str, float | None] | None = None
    if bool((panel.strength[panel.value != TIE] != 0).all()):
        grades, grade = np.unique(panel.strength, return_inverse=True)
        table = count_values(panel.item, grade, n_items=panel.n_items, n_values=len(grades))
        graded = {
            metric.value: _known(krippendorff_alpha(table, grades.astype(np.float64), metric))
            for metric in (Metric.ORDINAL, Metric.INTERVAL)
        }
    number, has_number = most_common_number(counts)
    return {
        "gwet_ac1": _known(gwet_ac1(counts)),
        "krippendorff_alpha_of_strengths": graded,
        "fleiss": {"items": int(has_number.sum()), "judgments_each": number},
    }


def _pairs(held: Opinions, warnings: list[str]) -> list[dict[str, Any]]:
    """Return every two evaluators with an item in common; those with most, if there are many."""
    pairs = cross_tabulate(held.item, held.evaluator, held.value, n_values=len(VALUES))
    n = pairs.tables.sum(axis=(1, 2))
    if not len(n):
        warnings.append("No two evaluators judged the same pair.")
        return []
    kept = np.sort(np.argsort(-n, kind="stable")[:MOST_PAIRS])
    if len(kept) < len(n):
        warnings.append(f"Of {len(n)} pairs of evaluators the {MOST_PAIRS} with most are listed.")
    agree, kappa = agreement_of_tables(pairs.tables), cohen_kappas(pairs.tables)
    n_undefined = int(np.isnan(kappa[kept]).sum())
    if n_undefined:
        warnings.append(
            "No kappa, since both evaluators gave one and the same answer throughout: "
            f"{counted(n_undefined, 'pair')}."
        )
    return [
        {
            "a": held.evaluators[pairs.one[pair]],
            "b": held.evaluators[pairs.other[pair]],
            "n": int(n[pair]),
            "agreement": float(agree[pair]),
            "kappa": _known(kappa[pair]),
        }
        for pair in kept
    ]


def _against_majority(
    judgments: FileJudgments, held: Opinions, resampling: Resampling, warnings: list[str]
) -> list[dict[str, Any]] | None:
    if judgments.is_judge is None:
        warnings.append("No LLM judge is set against people: there is no column judge_kind.")
        return None
    is_judge = held.is_by_judge
    if is_judge.all() or not is_judge.any():
        warnings.append("No LLM judge is set against people: only one of the two kinds judged.")
        return None
    majority = majorities(held.of(~is_judge).counts())
    is_decided = (majority != NO_MAJORITY) & (majority != TIE)
    found = [
        _matched(held, int(judge), majority, is_decided, resampling)
        for judge in np.flatnonzero(held.is_judge)
    ]
    if any(one["agreement"] is None for one in found):
        warnings.append("Some judges decided no pair on which people have a majority.")
    n_units = len(judgments.unit.values)
    if n_units < FEW_UNITS:
        warnings.append(
            f"Only {n_units} different {resampling.unit}: with fewer than {FEW_UNITS}, "
            "no interval can be relied on."
        )
    return found


def _matched(
    held: Opinions,
    judge: int,
    majority: Integers,
    is_decided: Booleans,
    resampling: Resampling,
) -> dict[str, Any]:
    """Set a judge against the majority of people, on pairs that both decided."""
    kept = (held.evaluator == judge) & is_decided[held.item] & (held.value != TIE)
    item, value = held.item[kept], held.value[kept]
    matched = match(
        (value == majority[item]).astype(np.int64),
        held.unit[item],
        n_replicates=resampling.replicates,
        rng=np.random.default_rng(resampling.seed),
    )
    return {
        "judge": held.evaluators[judge],
        "n": matched.n,
        "agreement": _known(matched.share),
        "ci_low": _known(matched.low),
        "ci_high": _known(matched.high),
    }


def _positions(judgments: FileJudgments, evaluators: tuple[str, ...]) -> list[dict[str, Any]]:
    n_first, n = share_first(judgments, len(evaluators))
    return [
        {
            "evaluator": name,
            "n": int(decided),
            "first_share": _known(first / decided) if decided else None,
            "p": two_sided_p(int(first), int(decided)) if decided else None,
        }
        for name, first, decided in zip(evaluators, n_first, n, strict=True)
    ]


def _method(panel: Opinions, held: Opinions, resampling: Resampling) -> dict[str, Any]:
    return {
        "panel": "people" if len(panel.item) < len(held.item) or not held.is_judge.any() else "all",
        "frame": "systems of a pair in the order of their names, wherever each was shown",
        "values": "the first is better, a tie, the second is better",
        "raw_agreement": "share of pairs of judgments of one item that agree",
        "majority": "more people for one system than for the other, and than for a tie; items "
        "without one, and the judge's own ties, are left out",
        "position": "judgments without ties, exact two-sided sign test",
        "unit": resampling.unit,
        "replicates": resampling.replicates,
        "seed": resampling.seed,
        "level": 0.95,
    }


def _known(value: Floats | float) -> float | None:
    """Return a figure, or None where it is not defined."""
    number = float(value)
    return None if math.isnan(number) else number


class AgreementRefusedError(Exception):
    """The judgments do not say who agreed with whom; the message says why."""


def opinions(judgments: FileJudgments) -> Opinions:
    """Find each evaluator's opinion of each item.

    An item is a pair of systems in a context, and a pair of texts where the file names them.

    Raises
    ------
    AgreementRefusedError
        If the file does not name evaluators, or one is both a person and an LLM judge.
    """
    if judgments.rater is None:
        msg = "The file has no column rater_id, so nobody can be told from another."
        raise AgreementRefusedError(msg)
    item, first_row = _items(judgments)
    return opinions_of(
        Answers(
            evaluators=judgments.rater.values,
            is_judge=_judges(judgments, len(judgments.rater.values)),
            item=item,
            evaluator=judgments.rater.codes,
            side=judgments.verdict,
            strength=judgments.verdict * judgments.size,
            unit=judgments.unit.codes[first_row],
        )
    )


def _items(judgments: FileJudgments) -> tuple[Integers, Integers]:
    """Return the number of each judgment's item, and the row of a judgment of each item."""
    n = len(judgments.systems)
    key = (judgments.context.codes * n + judgments.first) * n + judgments.second
    if judgments.pair is not None:
        _, key = np.unique(key, return_inverse=True)
        key = key * len(judgments.pair.values) + judgments.pair.codes
    _, row, item = np.unique(key, return_index=True, return_inverse=True)
    return item, row


def _judges(judgments: FileJudgments, n_evaluators: int) -> Booleans:
    codes = judgments.rater.codes if judgments.rater else np.zeros(0, dtype=np.int64)
    if judgments.is_judge is None:
        return np.zeros(n_evaluators, dtype=np.bool_)
    n = np.bincount(codes, minlength=n_evaluators)
    n_as_judge = np.bincount(codes[judgments.is_judge], minlength=n_evaluators)
    both = np.flatnonzero((n_as_judge > 0) & (n_as_judge < n))
    if len(both) and judgments.rater:
        msg = f"{shown(judgments.rater.values[both[0]])} is named as a person and as an LLM judge."
        raise AgreementRefusedError(msg)
    is_judge: Booleans = n_as_judge > 0
    return is_judge


def share_first(judgments: FileJudgments, n_evaluators: int) -> tuple[Integers, Integers]:
    """Return how often each evaluator preferred what was shown first, and either of the two.

    Every judgment counts by itself here, because an opinion has no side.
    """
    codes = judgments.rater.codes if judgments.rater else np.zeros(0, dtype=np.int64)
    is_decided = judgments.verdict != 0
    is_first = judgments.verdict * judgments.shown > 0
    n_first, n = (
        np.bincount(codes[kept], minlength=n_evaluators) for kept in (is_first, is_decided)
    )
    return n_first, n
