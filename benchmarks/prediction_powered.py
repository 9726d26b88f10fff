"""How often prediction-powered intervals hold, by simulation.

Run it as python -m benchmarks.prediction_powered [--studies N].
"""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from benchmarks import simulation
from ranking.numerics.arrays import Floats
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.prediction_powered import (
    PredictionPowered,
    prediction_powered,
    variance_ratio,
)
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs

SEED = 20261122
N_SYSTEMS, SPREAD = 10, 268.7  # Elo points from the best to the last
N_PAIRS, N_RATERS, N_JUDGES = 20, 3, 3
LEVEL = 0.95
HEAD = """
Per cent of nominal 95 % intervals that hold what endless judgments by people would come to.
people   pairs that people judged, alone
judges   pairs that LLM judges judged, alone
powered  prediction-powered: both
reach    mean half width of the intervals, Elo points
power    mean weight of the judges; times: as many judged pairs people alone would need

dialogues  people's  judge     people  judges  powered   reach: people  powered   power  times
"""


@dataclass(frozen=True)
class Judge:
    """An LLM judge made up: how it sees quality, and whom it favours (natural-log units)."""

    sharpness: float
    favour: float


@dataclass(frozen=True)
class Setting:
    """Dialogues of which each has `N_PAIRS` pairs, and the share of pairs that people judge."""

    n_dialogues: int
    share: float


JUDGES: Mapping[str, Judge] = {
    "fair": Judge(sharpness=2.0, favour=0.0),
    "biased": Judge(sharpness=2.0, favour=0.7),
    "useless": Judge(sharpness=0.0, favour=0.0),
}
SETTINGS = (
    Setting(300, 0.1),
    Setting(300, 0.3),
    Setting(100, 0.2),
    Setting(50, 0.4),
    Setting(20, 0.5),
)


@dataclass(frozen=True)
class Study:
    """A study made up: one row per pair, and what judges say of each."""

    pairs: WeightedPairs
    judged: Floats

    def fits(self) -> tuple[PredictionPowered, PredictionPowered, PredictionPowered]:
        """Rate by people alone, by judges alone, and by both."""
        shares = replace(self.pairs, to_first=self.judged, to_second=1.0 - self.judged)
        return (
            prediction_powered(self.pairs, self.judged, n_systems=N_SYSTEMS, power=0.0),
            prediction_powered(shares, self.judged, n_systems=N_SYSTEMS, power=0.0),
            prediction_powered(self.pairs, self.judged, n_systems=N_SYSTEMS),
        )


def true_strengths() -> Floats:
    """Return even strengths, the best first."""
    elo = np.linspace(SPREAD / 2.0, -SPREAD / 2.0, N_SYSTEMS)
    strengths: Floats = elo / ELO_PER_LOG_UNIT
    return strengths


def draw(setting: Setting, judge: Judge, rng: np.random.Generator) -> Study:
    """Draw a study; judges favour every other system, and see the same texts as people."""
    strengths = true_strengths()
    ends = np.array(np.triu_indices(N_SYSTEMS, 1))
    order = rng.random((setting.n_dialogues, ends.shape[1])).argsort(axis=1)[:, :N_PAIRS]
    unit = np.arange(setting.n_dialogues).repeat(N_PAIRS)
    first, second = ends[:, order.ravel()]
    spread = rng.normal(0.0, simulation.QUALITY_SD, size=(setting.n_dialogues, N_SYSTEMS))
    quality = strengths + spread
    apart = quality[unit, first] - quality[unit, second]
    favoured = judge.favour * (first % 2 - second % 2)
    by_people = _share(apart, N_RATERS, rng)
    by_people[rng.random(len(unit)) >= setting.share] = np.nan
    judged = _share(judge.sharpness * (apart + favoured), N_JUDGES, rng)
    return Study(WeightedPairs(unit, first, second, by_people, 1.0 - by_people), judged)


def _share(apart: Floats, n_evaluators: int, rng: np.random.Generator) -> Floats:
    """Return the mean share that several evaluators give to the first completion."""
    seen = apart[:, None] + rng.logistic(size=(len(apart), n_evaluators))
    grade = (seen[..., None] > simulation.STEPS).sum(axis=2) - len(simulation.STEPS) // 2
    split = simulation.split_grades(grade.ravel(), StrengthMode.SOFT)
    share: Floats = split.first.reshape(grade.shape).mean(axis=1)
    return share


def measured(study: Study, truth: Floats) -> list[float]:
    """Return the figures of a line of the table, of one study."""
    people, judges, powered = study.fits()
    return [
        *(_held(fit, truth) for fit in (people, judges, powered)),
        *(_reach(fit) for fit in (people, powered)),
        powered.power,
        variance_ratio(people, powered),
    ]


def _held(fit: PredictionPowered, truth: Floats) -> float:
    ends = fit.covariance.intervals(fit.log_strengths, level=LEVEL)
    return float(((ends.low <= truth) & (truth <= ends.high)).mean())


def _reach(fit: PredictionPowered) -> float:
    ends = fit.covariance.intervals(fit.log_strengths, level=LEVEL)
    return float(ELO_PER_LOG_UNIT * (ends.high - ends.low).mean() / 2.0)


def main() -> None:
    """Simulate, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400, help="per line of the table")
    options = parser.parse_args()
    truth = simulation.limit(true_strengths(), StrengthMode.SOFT)
    sys.stdout.write(f"{simulation.machine()}\nseed {SEED}, {options.studies} studies\n{HEAD}")
    for place, setting in enumerate(SETTINGS):
        for name, judge in JUDGES.items():
            found = [
                measured(draw(setting, judge, np.random.default_rng((SEED, place, number))), truth)
                for number in range(options.studies)
            ]
            sys.stdout.write(_line(setting, name, np.mean(found, axis=0)))


def _line(setting: Setting, name: str, mean: Floats) -> str:
    held = "".join(f"{100.0 * share:>8.1f}" for share in mean[:3])
    return (
        f"{setting.n_dialogues:>9}  {setting.share:>7.0%}  {name:<8}{held}"
        f"{mean[3]:>17.1f}{mean[4]:>9.1f}{mean[5]:>8.2f}{mean[6]:>7.2f}\n"
    )


if __name__ == "__main__":
    main()
