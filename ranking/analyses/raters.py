"""Strict and lenient judges: how reliable and severe each is, and who is unlike the others."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from annotation.quality.rules.findings import PairAnswers, evidence
from ranking.analyses import AnalysisInputs
from ranking.analyses.common import check_enough, decimal, preferred
from ranking.findings import AnalysisRefusedError, Cell, Column, ColumnKind, Findings, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.elo import ranks_of, to_elo
from ranking.numerics.models.crowd import CrowdFit, PreferenceAnswers, fit_crowd, fit_dawid_skene
from ranking.numerics.models.severity import Calls, SeverityFit, fit_severity

ALARM = 20.0  # evidence that at most one exchangeable evaluator in twenty ever reaches
MOST_EVIDENCE = 1e6  # beyond it more says no more, and in the end is no number
MOST_PAIRS = 20_000  # whose answers evidence is taken from, in the order of their last answer
MOST_ITEMS = 50_000  # that Dawid and Skene is fitted to, in the order in which they came
METHOD = (
    "Reliability: Crowd-BT (Chen et al. 2013) with a Beta(8, 2) prior, ties left out. Severity: "
    "the model of Rao and Kupper (1967) with one tie threshold per evaluator, drawn to the mean "
    "of people or of judges (log-normal prior, 0.7). Accuracy: Dawid and Skene (1979) on first, "
    "tie, second. Evidence: a test martingale of exchangeability on each pair (Vovk & Wang 2021), "
    "the one of the rater checks."
)
CAUTION = (
    "Being unlike the others is no fault: an evaluator may see what others miss. Nobody is left "
    "out because of this page."
)
PERSON, JUDGE = "person", "LLM judge"


@dataclass(frozen=True)
class MeasuredEvaluators:
    """What was measured of each evaluator, shape (n_evaluators,) each; NaN where nothing was."""

    counts: Integers
    tie_share: Floats
    reliability: Floats
    severity: SeverityFit
    accuracy: Floats
    now: Floats
    highest: Floats


def analyse(inputs: AnalysisInputs) -> Findings:
    """Measure each evaluator, and rate the systems with reliability taken into account.

    Raises
    ------
    AnalysisRefusedError
        If there are no judgments or fewer than two systems, or a search does not end.
    """
    columns = inputs.columns
    check_enough(columns)
    try:
        crowd, measured = _measure(columns)
    except NotConvergedError as refusal:
        msg = "The search for the evaluators' reliability did not end."
        raise AnalysisRefusedError(msg) from refusal
    tables = (_evaluators(columns, measured), _systems(columns, crowd))
    return Findings(METHOD, tables, (CAUTION, *_cautions(inputs, measured)))


def _measure(columns: JudgmentColumns) -> tuple[CrowdFit, MeasuredEvaluators]:
    n_evaluators, tied = len(columns.evaluators), columns.strength == 0
    counts = np.bincount(columns.evaluator, minlength=n_evaluators)
    ties = np.bincount(columns.evaluator, tied, n_evaluators)
    crowd = fit_crowd(_answers(columns), n_systems=len(columns.systems), n_evaluators=n_evaluators)
    decided = counts - ties
    now, highest = _evidence(columns)
    return crowd, MeasuredEvaluators(
        counts=counts,
        tie_share=ties / np.maximum(counts, 1),
        reliability=np.where(decided > 0, crowd.reliability, np.nan),
        severity=_severity(columns),
        accuracy=_accuracy(columns),
        now=now,
        highest=highest,
    )


def _answers(columns: JudgmentColumns) -> PreferenceAnswers:
    decided = columns.strength != 0
    winner, loser = (side[decided] for side in preferred(columns))
    return PreferenceAnswers(columns.evaluator[decided], winner, loser, np.ones(len(winner)))


def _severity(columns: JudgmentColumns) -> SeverityFit:
    n = len(columns.systems)
    winner, loser = preferred(columns)
    tied = columns.strength == 0
    code = ((columns.evaluator * n + winner) * n + loser) * 2 + tied
    alike, weight = np.unique(code, return_counts=True)
    rest, tied_at = np.divmod(alike, 2)
    rest, loser_at = np.divmod(rest, n)
    evaluator, winner_at = np.divmod(rest, n)
    calls = Calls(evaluator, winner_at, loser_at, tied_at, weight.astype(np.float64))
    _, group = np.unique(columns.is_judge, return_inverse=True)
    return fit_severity(calls, group, n_systems=len(columns.systems))


def _accuracy(columns: JudgmentColumns) -> Floats:
    """Return how often each evaluator gives a pair's answer, from pairs that several judged."""
    shared = _judged_by_several(columns)[:MOST_ITEMS]
    rows = np.isin(columns.item, shared)
    accuracy = np.full(len(columns.evaluators), np.nan)
    if not rows.any():
        return accuracy
    items, item = np.unique(columns.item[rows], return_inverse=True)
    evaluator = columns.evaluator[rows]
    answer = np.sign(columns.strength[rows]) + 1
    shape = (len(items), len(columns.evaluators), 3)
    fit = fit_dawid_skene(item, evaluator, answer, shape=shape, tolerance=1e-6)
    answered = np.bincount(evaluator, minlength=len(columns.evaluators)) > 0
    return np.where(answered, fit.accuracy, np.nan)


def _judged_by_several(columns: JudgmentColumns) -> Integers:
    """Return the pairs that two evaluators or more judged, in their order."""
    n_evaluators = len(columns.evaluators)
    who = np.unique(columns.item.astype(np.int64) * n_evaluators + columns.evaluator)
    n_judges = np.bincount(who // n_evaluators, minlength=columns.n_items)
    return np.flatnonzero(n_judges > 1)


def _evidence(columns: JudgmentColumns) -> tuple[Floats, Floats]:
    """Return the evidence against each evaluator now and at its highest; NaN without any.

    A person is held against people alone, a judge against all who answered the pair.
    """
    now, highest = (np.full(len(columns.evaluators), np.nan) for _ in range(2))
    by_evaluator: dict[int, list[PairAnswers]] = defaultdict(list)
    for pair, people in _pairs(columns):
        for name in pair.winners:
            evaluator = int(name)
            met = pair if columns.is_judge[evaluator] else people
            by_evaluator[evaluator].append(met)
    for evaluator, pairs in by_evaluator.items():
        running = list(evidence(str(evaluator), pairs))
        if running:
            now[evaluator], highest[evaluator] = running[-1], max(running)
    return now, highest


def _pairs(columns: JudgmentColumns) -> list[tuple[PairAnswers, PairAnswers]]:
    """Return the first answers to each pair, of all and of people, in order of the last one."""
    last = np.full(columns.n_items, -1)
    last[columns.item] = np.arange(columns.n_judgments)
    settled = np.argsort(last, kind="stable")[(last < 0).sum() :][:MOST_PAIRS]
    winners: dict[int, dict[str, int]] = {int(item): {} for item in settled}
    rows = np.isin(columns.item, settled)
    chosen = (columns.item[rows], columns.evaluator[rows], np.sign(columns.strength[rows]))
    for item, evaluator, winner in zip(*(one.tolist() for one in chosen), strict=True):
        winners[item].setdefault(str(evaluator), winner)
    return [(PairAnswers(*pair), _of_people(columns, *pair)) for pair in winners.items()]


def _of_people(columns: JudgmentColumns, item: int, winners: dict[str, int]) -> PairAnswers:
    people = {name: winner for name, winner in winners.items() if not columns.is_judge[int(name)]}
    return PairAnswers(item, people)


def _evaluators(columns: JudgmentColumns, measured: MeasuredEvaluators) -> Table:
    return Table(
        "evaluators",
        "Evaluators",
        "Reliability is 1 for who always answers as the ratings have it, 0.5 for answers at "
        "random, 0 for answers turned round. The threshold is how far ahead a completion must "
        "seem before it is preferred; under equals the evaluator ties that often. Evidence of "
        "20 or more is reached by at most one in twenty who are like the others, however often "
        "one looks; it is counted up to a million.",
        (
            Column("evaluator", "Evaluator", ColumnKind.EVALUATOR),
            Column("kind", "Kind", ColumnKind.TEXT),
            Column("judgments", "Judgments", ColumnKind.COUNT),
            Column("tie_share", "Ties", ColumnKind.SHARE),
            Column("reliability", "Reliability", ColumnKind.SHARE),
            Column("threshold", "Tie threshold", ColumnKind.NUMBER),
            Column("ties_between_equals", "Ties between equals", ColumnKind.SHARE),
            Column("severity", "Severity against the group", ColumnKind.NUMBER),
            Column("severity_error", "Its standard error", ColumnKind.NUMBER),
            Column("accuracy", "Accuracy on shared pairs", ColumnKind.SHARE),
            Column("evidence", "Evidence of being unlike, now", ColumnKind.NUMBER),
            Column("highest", "At its highest", ColumnKind.NUMBER),
        ),
        tuple(_row(columns, measured, index) for index in _most_reliable_first(measured)),
    )


def _most_reliable_first(measured: MeasuredEvaluators) -> list[int]:
    """Return the evaluators' places, those of whom nothing was measured last."""
    return [int(one) for one in np.argsort(-measured.reliability, kind="stable")]


def _row(columns: JudgmentColumns, measured: MeasuredEvaluators, index: int) -> tuple[Cell, ...]:
    severity, is_judge = measured.severity, bool(columns.is_judge[index])
    threshold = float(np.exp(severity.log_thresholds[index]))
    both = len(set(columns.is_judge.tolist())) > 1
    mean = float(severity.group_means[int(is_judge) if both else 0])
    return (
        columns.evaluators[index],
        JUDGE if is_judge else PERSON,
        int(measured.counts[index]),
        decimal(measured.tie_share[index]),
        decimal(measured.reliability[index]),
        decimal(threshold, 3),
        decimal(float(np.tanh(threshold / 2))),
        decimal(severity.log_thresholds[index] - mean, 3),
        decimal(severity.errors[index], 3),
        decimal(measured.accuracy[index]),
        decimal(min(measured.now[index], MOST_EVIDENCE), 3),
        decimal(min(measured.highest[index], MOST_EVIDENCE), 3),
    )


def _systems(columns: JudgmentColumns, crowd: CrowdFit) -> Table:
    elo = to_elo(crowd.log_strengths)
    ranks = ranks_of(elo).tolist()
    best_first = np.argsort(-elo, kind="stable")
    return Table(
        "systems",
        "Ratings with reliability in the model",
        "Elo with mean 1500 by Crowd-BT: answers of those who often contradict the others weigh "
        "less. Its scale is that of wins alone without ties, drawn a little to the middle.",
        (
            Column("system", "System", ColumnKind.SYSTEM),
            Column("elo", "Elo", ColumnKind.ELO),
            Column("rank", "Rank", ColumnKind.COUNT),
        ),
        tuple((columns.systems[n], decimal(elo[n], 2), ranks[n]) for n in best_first),
    )


def _cautions(inputs: AnalysisInputs, measured: MeasuredEvaluators) -> list[str]:
    columns, cautions = inputs.columns, list[str]()
    if inputs.method.masses is not None:
        cautions.append(
            "Each judgment counts once here; the board weighs people and judges by declared masses."
        )
    if len(columns.evaluators) == 1:
        cautions.append("There is one evaluator: nobody to compare with.")
    n_alarms = int((measured.highest >= ALARM).sum())
    if n_alarms:
        cautions.append(f"Evidence reached {ALARM:.0f} for {n_alarms} evaluators.")
    if columns.n_items > MOST_PAIRS:
        cautions.append(f"Evidence rests on the {MOST_PAIRS:,} pairs that were settled first.")
    if columns.n_items > MOST_ITEMS:
        cautions.append(f"Accuracy rests on {MOST_ITEMS:,} pairs.")
    return cautions
