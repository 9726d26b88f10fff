"""Strategies of support: which of them each system uses, and how people differ from models."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import (
    adjusted_tests,
    difference_of,
    family_of,
    few_dialogues,
    share_cells,
    units_of_messages,
    with_test,
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
class Usage:
    """What the systems use.

    Attributes
    ----------
    n_messages : integer array of shape (n_systems,)
        How many messages of each were labelled.
    rates : array of shape (n_systems, n_ways)
        Share of a system's messages that show each way; NaN for a system without messages.
    per_message : array of shape (n_systems,)
        How many ways a message shows, on average.
    coverage : array of shape (n_systems,)
        Share of the ways that the system shows at least once.
    entropy : array of shape (n_systems,)
        Of the ways among all that the system shows, in bits; NaN for one that shows none.
    """

    n_messages: Integers
    rates: Floats
    per_message: Floats
    coverage: Floats
    entropy: Floats


def usage(shown: Floats, system: Integers, *, n_systems: int) -> Usage:
    """Add up which ways the messages of each system show.

    Parameters
    ----------
    shown : array of shape (n_messages, n_ways)
        1 where a message shows a way, 0 where it does not, between them where that is uncertain.
    system : integer array of shape (n_messages,)
        Index of the system of each message.
    n_systems : int
        How many systems there are.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not between 0 and 1.

    Notes
    -----
    A system that shows one way alone has entropy 0, one that shows all alike log2(n_ways).
    Cost O(n_messages * n_ways).

    References
    ----------
    .. [1] Shannon (1948), Bell Syst. Tech. J. 27:379-423. doi:10.1002/j.1538-7305.1948.tb01338.x
    """
    if shown.shape[:1] != system.shape or not ((shown >= 0) & (shown <= 1)).all():
        msg = "values between 0 and 1 are needed, a row for each message"
        raise ValueError(msg)
    n_messages = np.bincount(system, minlength=n_systems)
    totals = np.zeros((n_systems, shown.shape[1]))
    np.add.at(totals, system, shown)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = totals / n_messages[:, None]
        mix = totals / totals.sum(axis=1, keepdims=True)
    return Usage(
        n_messages=n_messages,
        rates=rates,
        per_message=rates.sum(axis=1),
        coverage=np.where(n_messages > 0, (totals > 0).mean(axis=1), np.nan),
        entropy=special.entr(mix).sum(axis=1) / np.log(2),
    )


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
    items, known = inputs.sources.items(), np.isfinite(labels.probability).all(axis=1)
    shown, of_system = labels.probability[known], items.system[known]
    n_missing = int((~known).sum())
    facts = inputs.sources.systems()
    systems = inputs.columns.systems
    found = usage(shown, of_system, n_systems=len(systems))
    tables = [
        _rates(systems, found, labels.keys, labels.names),
        _use("use", "How much each system uses", systems, found, ColumnKind.SYSTEM),
        _families(shown, of_system, [facts[slug] for slug in systems]),
    ]
    kinds = np.array([facts[slug].kind for slug in systems])[of_system]
    units = units_of_messages(inputs.columns, items)[known]
    if difference := _differences(shown, kinds, units, labels.names, inputs.method.level):
        tables.append(difference)
    warnings = [f"Labelled by {', '.join(labels.labellers)}."]
    if n_missing:
        warnings.append(f"{n_missing} of the messages judged are not labelled, and left out.")
    warnings += few_dialogues(len(np.unique(units)))
    return Findings(METHOD, tuple(tables), tuple(warnings))


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


def _families(shown: Floats, of_system: Integers, facts: list[SystemFacts]) -> Table:
    """Take the systems of a family together; people and original replies are one each."""
    groups = [GROUPS.get(one.kind, one.family) for one in facts]
    names = tuple(sorted(set(groups)))
    place = np.array([names.index(name) for name in groups])
    found = usage(shown, place[of_system], n_systems=len(names))
    return _use("families", "How much each family uses", names, found, ColumnKind.TEXT)


def _differences(
    shown: Floats, kinds: NDArray[np.str_], units: Integers, names: tuple[str, ...], level: float
) -> Table | None:
    """Compare models with people, strategy by strategy; None where one of them is missing.

    What messages show, whose kind and which dialogue they are of, lie side by side.
    """
    some = (kinds == "MODEL") | (kinds == "HUMAN")
    is_model, unit, shown = kinds[some] == "MODEL", units[some], shown[some]
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
            *with_test("Difference", level, ColumnKind.SHARE),
        ),
        rows=tuple(rows),
        picture=Picture.WHISKERS,
    )
