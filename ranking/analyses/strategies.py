"""Strategies of support: which of them each system uses, and how people differ from models."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import (
    P_VALUE,
    adjusted_tests,
    difference_of,
    ends,
    family_of,
    share_cells,
)
from ranking.findings import (
    AnalysisRefusedError,
    Cell,
    Column,
    ColumnKind,
    Findings,
    Picture,
    Table,
)
from ranking.judgments.sources import SystemFacts
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.usage import Usage, usage

METHOD = (
    "A model labelled each message with the strategies that it shows; an uncertain label counts "
    "half. Differences between people and models take source dialogues as the unit (Liang and "
    "Zeger 1986). How far the labels can be trusted is in the spot check by people."
)
GROUPS = {"HUMAN": "People", "ORIGINAL": "Original replies"}
USE = (
    Column("messages", "Messages labelled", ColumnKind.COUNT),
    Column("per_message", "Strategies in a message"),
    Column("coverage", "Strategies used at all", ColumnKind.SHARE),
    Column("entropy", "Entropy, bits"),
    Column("sd", "SD of the rates", ColumnKind.SHARE),
    Column("range", "Range of the rates", ColumnKind.SHARE),
)


@dataclass(frozen=True)
class Labelled:
    """The labelled messages: what each shows, of which system, in which dialogue."""

    shown: Floats
    system: Integers
    unit: Integers


def analyse(inputs: AnalysisInputs) -> Findings:
    """Describe the strategies of systems and families, and of people against models.

    Raises
    ------
    AnalysisRefusedError
        If no message that was judged has been labelled.
    """
    labels = inputs.sources.strategies()
    if labels is None:
        msg = "No model has labelled the strategies of these messages yet."
        raise AnalysisRefusedError(msg)
    labelled, n_missing = _labelled(inputs, labels.probability)
    facts = inputs.sources.systems()
    systems = inputs.columns.systems
    found = usage(labelled.shown, labelled.system, n_systems=len(systems))
    tables = [
        _rates(systems, found, labels.keys, labels.names),
        _use("use", "How much each system uses", systems, found, ColumnKind.SYSTEM),
        _families(labelled, [facts[slug] for slug in systems]),
    ]
    kinds = np.array([facts[slug].kind for slug in systems])
    if difference := _differences(labelled, kinds, labels.names, inputs.method.level):
        tables.append(difference)
    warnings = [f"Labelled by {', '.join(labels.labellers)}."]
    if n_missing:
        warnings.append(f"{n_missing} of the messages judged are not labelled, and left out.")
    return Findings(METHOD, tuple(tables), tuple(warnings))


def _labelled(inputs: AnalysisInputs, probability: Floats) -> tuple[Labelled, int]:
    """Return the labelled messages, and how many are not."""
    columns, items = inputs.columns, inputs.sources.items()
    unit = np.zeros(len(items.system), dtype=np.int64)
    unit[items.message[columns.item].ravel()] = np.repeat(columns.unit, 2)
    known = np.isfinite(probability).all(axis=1)
    rows = Labelled(probability[known], items.system[known], unit[known])
    return rows, int((~known).sum())


def _rates(
    systems: tuple[str, ...], found: Usage, keys: tuple[str, ...], names: tuple[str, ...]
) -> Table:
    labels = zip(keys, names, strict=True)
    rows = (
        (slug, *(round(rate, 4) for rate in found.rates[place].tolist()))
        for place, slug in enumerate(systems)
        if found.n_messages[place]
    )
    return Table(
        key="rates",
        title="How often each system uses a strategy",
        caption="The share of a system's messages that show the strategy. A message shows several.",
        columns=(
            Column("system", "System", ColumnKind.SYSTEM),
            *(Column(key, name, ColumnKind.SHARE) for key, name in labels),
        ),
        rows=tuple(rows),
        picture=Picture.HEAT,
    )


def _use(key: str, title: str, names: tuple[str, ...], found: Usage, kind: ColumnKind) -> Table:
    return Table(
        key=key,
        title=title,
        caption=(
            "Entropy says how evenly strategies are used: 0 is one strategy always, and one bit "
            "more stands for twice as many in even use. SD and range are over the strategies."
        ),
        columns=(Column("of", "System" if kind == ColumnKind.SYSTEM else "Family", kind), *USE),
        rows=tuple(
            (name, *_use_cells(found, place))
            for place, name in enumerate(names)
            if found.n_messages[place]
        ),
    )


def _use_cells(found: Usage, place: int) -> tuple[Cell, ...]:
    rates, entropy = found.rates[place], float(found.entropy[place])
    return (
        int(found.n_messages[place]),
        round(float(found.per_message[place]), 2),
        round(float(found.coverage[place]), 4),
        round(entropy, 3) if np.isfinite(entropy) else None,
        round(float(rates.std(ddof=1)), 4) if len(rates) > 1 else None,
        round(float(np.ptp(rates)), 4),
    )


def _families(labelled: Labelled, facts: list[SystemFacts]) -> Table:
    """Take the systems of a family together; people and original replies are one each."""
    of_system = [GROUPS.get(one.kind, one.family) for one in facts]
    names = tuple(sorted(set(of_system)))
    place = np.array([names.index(name) for name in of_system])
    found = usage(labelled.shown, place[labelled.system], n_systems=len(names))
    return _use("families", "How much each family uses", names, found, ColumnKind.TEXT)


def _differences(
    labelled: Labelled, kinds: NDArray[np.str_], names: tuple[str, ...], level: float
) -> Table | None:
    """Compare models with people, strategy by strategy; None where one of them is missing."""
    kind = kinds[labelled.system]
    some = (kind == "MODEL") | (kind == "HUMAN")
    is_model, unit, shown = kind[some] == "MODEL", labelled.unit[some], labelled.shown[some]
    gaps = [difference_of(column, unit, is_model) for column in shown.T]
    if None in gaps:
        return None
    rows = []
    for name, column, gap, p in zip(names, shown.T, gaps, adjusted_tests(gaps), strict=True):
        means = column[~is_model].mean(), column[is_model].mean()
        rows.append((name, *(round(float(one), 4) for one in means), *share_cells(gap, level), p))
    return Table(
        key="differences",
        title="Models less people",
        caption=(
            "Above 0: models use the strategy more often than the people of this study do. "
            f"{family_of('the difference on each strategy')}"
        ),
        columns=(
            Column("strategy", "Strategy", ColumnKind.TEXT),
            Column("people", "People", ColumnKind.SHARE),
            Column("models", "Models", ColumnKind.SHARE),
            Column("value", "Difference", ColumnKind.SHARE),
            *ends(level, ColumnKind.SHARE),
            P_VALUE,
        ),
        rows=tuple(rows),
        picture=Picture.WHISKERS,
    )
