"""Do evaluators agree: among themselves, with most people, and as well as people do."""

from ranking.analyses import AnalysisInputs
from ranking.analyses.agreement.among import coefficients, matrices, of_dimensions, threes
from ranking.analyses.agreement.funnel import alike_funnel
from ranking.analyses.agreement.opinions import Samples, opinions, panels
from ranking.analyses.agreement.people import (
    Facing,
    against_majority,
    ambiguous,
    ceiling,
    facing,
    independence,
)
from ranking.analyses.agreement.steadiness import steadiness
from ranking.findings import AnalysisRefusedError, Findings, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.numerics.agreement.opinions import Opinions
from ranking.numerics.arrays import Booleans
from ranking.numerics.few_units import TOO_FEW_UNITS

METHOD = (
    "Raw agreement, the kappas of Cohen (1960) and Fleiss (1971), Krippendorff's alpha (2011) and "
    "agreement with the majority of people, of pairs in one fixed order; intervals are percentiles "
    "over resampled source dialogues. Of an evaluator's several answers to a pair the side that "
    "came out ahead counts, evenly is a tie; nobody is compared with himself."
)
TWO, THREE = 2, 3


def analyse(inputs: AnalysisInputs) -> Findings:
    """Compare evaluators with each other, judges with people, and people with people.

    Raises
    ------
    AnalysisRefusedError
        If no pair was judged by two.
    """
    held = opinions(inputs.columns)
    if not (held.counts().sum(axis=1) > 1).any():
        msg = "No pair was judged by two evaluators, so nobody can agree."
        raise AnalysisRefusedError(msg)
    samples = _samples(inputs.columns, inputs.method)
    faced = facing(held, _adversarial(inputs))
    tables = [
        coefficients(held, samples),
        *_marks(inputs),
        *_judges(held),
        *_beside(faced, samples),
    ]
    steady = steadiness(faced, seed=inputs.method.seed)
    tables += [steady] if steady else []
    for place, (among, panel) in enumerate(panels(held).items(), start=1):
        tables += alike_funnel(f"funnel-{place}", among, panel)
    return Findings(METHOD, tuple(tables), _warnings(held, samples))


def _samples(columns: JudgmentColumns, method: Method) -> Samples:
    n_units = len(columns.units)
    return Samples.drawn(n_units, method.replicates, seed=method.seed, level=method.level)


def _adversarial(inputs: AnalysisInputs) -> Booleans | None:
    """Say which pairs are of adversarial contexts, or nothing where that is not known."""
    try:
        return inputs.sources.items().is_adversarial
    except AnalysisRefusedError:
        return None


def _marks(inputs: AnalysisInputs) -> list[Table]:
    marks = {name: (one, opinions(one)) for name, one in inputs.dimensions.items()}
    marks = {name: pair for name, pair in marks.items() if panels(pair[1])}
    if not marks:
        return []
    samples = {name: _samples(one, inputs.method) for name, (one, _) in marks.items()}
    return [of_dimensions({name: held for name, (_, held) in marks.items()}, samples)]


def _judges(held: Opinions) -> list[Table]:
    n = len(held.judges)
    tables = list(matrices(held)) if n >= TWO else []
    return [*tables, threes(held)] if n >= THREE else tables


def _beside(faced: Facing, samples: Samples) -> list[Table]:
    """Return what judges and people have to do with each other, if both judged."""
    if not len(faced.people.item) or not faced.said:
        return []
    tables = [
        against_majority(faced, samples),
        ceiling(faced, samples),
        ambiguous(faced),
    ]
    worth = independence(faced, samples)
    return [*tables, worth] if worth else tables


def _warnings(held: Opinions, samples: Samples) -> tuple[str, ...]:
    warnings = []
    if held.n_repeated:
        warnings.append(
            f"{held.n_repeated} judgments repeat an evaluator's own on the same pair, and were "
            "taken together with it."
        )
    n_alone = int((held.counts().sum(axis=1) == 1).sum())
    if n_alone:
        warnings.append(f"{n_alone} pairs have one answer alone and say nothing of agreement.")
    if samples.n_units < TOO_FEW_UNITS:
        warnings.append(
            f"Only {samples.n_units} source dialogues: with fewer than {TOO_FEW_UNITS} no "
            "interval can be relied on."
        )
    return tuple(warnings)
