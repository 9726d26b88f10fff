"""Judgments as columns, made up, and sources for analyses that ask for more."""

import json
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from ranking.analyses import AnalysisInputs, NoSources
from ranking.findings import Findings
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.judgments.sources import (
    ItemFacts,
    JudgmentFacts,
    StrategyLabels,
    SystemFacts,
    ThemeLabels,
    TickedReasons,
)
from ranking.numerics.strength_mode import StrengthMode


def make_inputs(columns, *, strength=StrengthMode.SOFT, dimensions=None, sources=None, **kwargs):
    method = Method(
        strength=strength, slightly=2, much=4, level=0.95, replicates=100, seed=1, **kwargs
    )
    return AnalysisInputs(columns, method, dimensions or {}, sources or NoSources())


def make_columns(rows, *, judges=(), features=None, feature_names=()):
    """Write judgments out: (unit, item, first, second, evaluator, strength, shown)."""
    unit, item, first, second, evaluator, strength, shown = zip(*rows, strict=True)
    systems = tuple(sorted({*first, *second}))
    units, evaluators = tuple(sorted(set(unit))), tuple(sorted(set(evaluator)))
    return JudgmentColumns(
        systems=systems,
        units=units,
        evaluators=evaluators,
        is_judge=np.array([name in judges for name in evaluators]),
        unit=np.array([units.index(one) for one in unit]),
        item=np.array(item),
        first=np.array([systems.index(one) for one in first]),
        second=np.array([systems.index(one) for one in second]),
        evaluator=np.array([evaluators.index(one) for one in evaluator]),
        strength=np.array(strength),
        shown=np.array(shown),
        features=features,
        feature_names=feature_names,
    )


def duel(strengths, **kwargs):
    """Let one rater judge a against b, once in each of as many dialogues."""
    return make_columns(
        [(f"d{n:02d}", n, "a", "b", "r", one, 1) for n, one in enumerate(strengths)], **kwargs
    )


def of_sizes(said, *, sizes):
    """Let one rater say this of each two systems, so many times over in each dialogue."""
    rows = [
        (f"d{unit:02d}", *pair, strength)
        for unit, size in enumerate(sizes)
        for pair, strengths in said.items()
        for strength in strengths * size
    ]
    return make_columns(
        [
            (unit, n, one, other, "r", strength, 1)
            for n, (unit, one, other, strength) in enumerate(rows)
        ]
    )


def simulate(
    rng,
    *,
    theta=(0.8, 0.3, -0.2, -0.9),
    n_units=40,
    pairs_per_unit=4,
    n_raters=6,
    n_judges=2,
    per_pair=4,
    thresholds=(0.4, 1.1, 2.0),
    position=0.0,
    length=0.0,
):
    """Simulate a study: pairs of dialogues, several evaluators each, graded answers."""
    theta = np.asarray(theta, dtype=float)
    n_items, n_evaluators = n_units * pairs_per_unit, n_raters + n_judges
    one = rng.integers(0, len(theta), n_items)
    other = (one + rng.integers(1, len(theta), n_items)) % len(theta)
    lengths = rng.integers(50, 400, size=(n_items, 2)).astype(float)
    item = np.repeat(np.arange(n_items), per_pair)
    evaluator = np.concatenate([rng.permutation(n_evaluators)[:per_pair] for _ in range(n_items)])
    shown = rng.choice([-1, 1], len(item))
    longer = (lengths[:, 0] - lengths[:, 1]) / lengths.sum(axis=1)
    felt = (theta[one] - theta[other] + length * longer)[item] + position * shown
    felt = felt + special.logit(rng.uniform(size=len(item)))
    names = [f"r{n:02d}" for n in range(n_raters)] + [f"z-judge-{n}" for n in range(n_judges)]
    return JudgmentColumns(
        systems=tuple(f"system-{n}" for n in range(len(theta))),
        units=tuple(f"dialogue-{n:03d}" for n in range(n_units)),
        evaluators=tuple(names),
        is_judge=np.arange(n_evaluators) >= n_raters,
        unit=item // pairs_per_unit,
        item=item,
        first=one[item],
        second=other[item],
        evaluator=evaluator,
        strength=np.sign(felt).astype(int) * np.searchsorted(thresholds, np.abs(felt)),
        shown=shown,
        features=lengths[..., None],
        feature_names=("length",),
    )


def people_of(columns):
    """Return the judgments of people alone."""
    return columns.taken(np.flatnonzero(~columns.is_judge[columns.evaluator]))


def places_of(columns):
    """Return how many judgments the same evaluator gave before each."""
    given = dict.fromkeys(range(len(columns.evaluators)), -1)
    places = []
    for evaluator in columns.evaluator.tolist():
        given[evaluator] += 1
        places.append(given[evaluator])
    return np.array(places)


def make_facts(slug, **fields):
    known = {"name": slug.title(), "kind": "MODEL", "family": "someone", "is_simulated": False}
    return SystemFacts(**known | fields)


def facts_of(columns, **known):
    """Say more of each judgment; what is not told is not known, as in a file."""
    unknown = np.full(columns.n_judgments, np.nan)
    facts = {
        "rationales": ("",) * columns.n_judgments,
        "seconds": unknown,
        "place": places_of(columns),
        "probability": unknown,
    }
    return JudgmentFacts(**facts | known)


@dataclass(frozen=True)
class MadeUpSources:
    """What a study is told to know; what it is not told is missing, as in a file."""

    of_systems: dict[str, SystemFacts] = field(default_factory=dict)
    of_judges: dict[str, str] = field(default_factory=dict)
    of_items: ItemFacts | None = None
    of_judgments: JudgmentFacts | None = None
    labels: StrategyLabels | None = None
    of_themes: ThemeLabels | None = None
    of_chips: TickedReasons | None = None

    def systems(self):
        return self.of_systems

    def judge_families(self):
        return self.of_judges

    def items(self):
        return self.of_items

    def judgments(self):
        return self.of_judgments

    def strategies(self):
        return self.labels

    def themes(self):
        return self.of_themes

    def chips(self):
        return self.of_chips


def strata_of(columns, *, n_adversarial=0):
    """Say of each pair whether it is hostile: those of the first dialogues are."""
    unit_of = np.zeros(columns.n_items, dtype=int)
    unit_of[columns.item] = columns.unit
    nothing = np.zeros(0, dtype=int)
    return ItemFacts(unit_of, unit_of < n_adversarial, nothing.reshape(0, 2), nothing)


def table(findings, key):
    """Return a table's rows as mappings from keys of columns to cells."""
    found = next(one for one in findings.tables if one.key == key)
    return [dict(zip([c.key for c in found.columns], row, strict=True)) for row in found.rows]


def row_of(findings, key, **cells):
    """Return the first row of a table that has these cells."""
    rows = table(findings, key)
    return next(one for one in rows if all(one[name] == cell for name, cell in cells.items()))


def messages_of(columns, *, hostile=0):
    """Give every pair two messages of its own; one pair in so many is hostile."""
    n = columns.n_items
    contexts, systems = np.arange(n), np.zeros((n, 2), dtype=np.int64)
    systems[columns.item] = np.stack([columns.first, columns.second], axis=1)
    return ItemFacts(
        context=contexts,
        is_adversarial=contexts % hostile == 0 if hostile else np.zeros(n, dtype=bool),
        message=np.arange(2 * n).reshape(n, 2),
        system=systems.ravel(),
    )


def keys_of(findings):
    return [one.key for one in findings.tables]


def stored(findings):
    """Return findings as they come back from the database; no figure may be NaN."""
    return Findings.of(json.loads(json.dumps(findings.as_json(), allow_nan=False)))
