"""People's messages against models': how often each is preferred, and by how much."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import (
    P_VALUE,
    adjusted_tests,
    decimal,
    ends,
    family_of,
    few_dialogues,
    mean_cell,
    mean_of,
    model_sides,
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
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.sources import SystemFacts
from ranking.numerics.arrays import Booleans, Integers
from ranking.numerics.clustered_means import ClusteredMean

METHOD = (
    "Shares of the judgments in which a message by a person stood against one by a model. The net "
    "preference is the share that preferred the model less the share that preferred the person, "
    "from -100 to 100; its interval is that of the share of wins, ties half (Wilson "
    "1927), with source dialogues as the unit (Liang and Zeger 1986)."
)
SHARES = (
    Column("judgments", "Judgments", ColumnKind.COUNT),
    Column("model", "Model preferred", ColumnKind.SHARE),
    Column("tie", "Tie", ColumnKind.SHARE),
    Column("person", "Person preferred", ColumnKind.SHARE),
    Column("value", "Net preference for the model", ColumnKind.SHARE),
)


@dataclass(frozen=True)
class Meetings:
    """The judgments between a person's message and a model's; ``lead`` is the model's strength.

    ``lead`` is above 0 where the model was preferred. All have shape (n_meetings,).
    """

    lead: Integers
    unit: Integers
    model: Integers
    is_adversarial: Booleans
    is_judge: Booleans

    def taken(self, rows: Booleans) -> "Meetings":
        """Return some of them."""
        return Meetings(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def analyse(inputs: AnalysisInputs) -> Findings:
    """Compare people with models: over all, by stratum, by evaluator, and model by model.

    Raises
    ------
    AnalysisRefusedError
        If no message by a person met one by a model, or all did in one dialogue.
    """
    columns = inputs.columns
    sources = inputs.sources
    met = _meetings(columns, sources.systems(), sources.items().is_adversarial)
    if not len(met.lead):
        msg = "No message written by a person was compared with one by a model."
        raise AnalysisRefusedError(msg)
    level = inputs.method.level
    groups, warnings = _rows(_groups(met), level)
    models, refused = _rows(_models(met, columns), level)
    if not groups:
        msg = "People met models in one source dialogue alone; an interval needs two or more."
        raise AnalysisRefusedError(msg)
    tables = (_overall(groups, level), _by_model(models, level))
    few = few_dialogues(len(np.unique(met.unit)))
    return Findings(METHOD, tables, (*warnings, *refused, *few))


def _meetings(
    columns: JudgmentColumns, facts: Mapping[str, SystemFacts], is_adversarial: Booleans
) -> Meetings:
    side = model_sides(columns, facts)
    rows = side != 0
    return Meetings(
        lead=(side * columns.strength)[rows],
        unit=columns.unit[rows],
        model=np.where(side > 0, columns.first, columns.second)[rows],
        is_adversarial=is_adversarial[columns.item][rows],
        is_judge=columns.is_judge[columns.evaluator][rows],
    )


def _groups(met: Meetings) -> Iterator[tuple[str, Meetings]]:
    """Yield all, each stratum, and each kind of evaluator if there is more than one."""
    yield "all judgments", met
    if met.is_adversarial.any() and not met.is_adversarial.all():
        yield "regular contexts", met.taken(~met.is_adversarial)
        yield "adversarial contexts", met.taken(met.is_adversarial)
    if met.is_judge.any() and not met.is_judge.all():
        yield "judged by people", met.taken(~met.is_judge)
        yield "judged by LLM judges", met.taken(met.is_judge)


def _models(met: Meetings, columns: JudgmentColumns) -> Iterator[tuple[str, Meetings]]:
    for model in np.unique(met.model).tolist():
        yield columns.systems[model], met.taken(met.model == model)


def _rows(
    groups: Iterator[tuple[str, Meetings]], level: float
) -> tuple[list[tuple[Cell, ...]], list[str]]:
    """Return a row for each group, with p-values adjusted over the groups, and what is left out."""
    rows: list[tuple[Cell, ...]] = []
    tested, warnings = [], []
    for name, met in groups:
        net = mean_of(np.sign(met.lead).astype(np.float64), met.unit)
        if net is None:
            warnings.append(f"{name}: judged in one source dialogue alone, and left out.")
            continue
        shares = (mean_cell(met.lead > 0), mean_cell(met.lead == 0), mean_cell(met.lead < 0))
        rows.append((name, len(met.lead), *shares, *_net_cells(net, level)))
        tested.append(net)
    p_values = adjusted_tests(tested)
    return [(*row, p) for row, p in zip(rows, p_values, strict=True)], warnings


def _net_cells(net: ClusteredMean, level: float) -> tuple[Cell, ...]:
    """Return a net preference with Wilson's ends of wins, ties half: t fails beside -1 and 1."""
    cells = share_cells(net, level)
    won = replace(net, mean=(1.0 + net.mean) / 2.0, error=net.error / 2.0)
    ends_of = (decimal(2.0 * end - 1.0) for end in won.share_interval(level))
    return cells if cells[1] is None else (cells[0], *ends_of)


def _overall(rows: list[tuple[Cell, ...]], level: float) -> Table:
    return Table(
        key="overall",
        title="Who is preferred",
        caption=(
            "Each row is about the judgments between one person's and one model's message. Where "
            "the interval leaves out 0, one side is preferred beyond chance. There is no interval "
            "where all dialogues agree; p is then how often that many coins do. "
            f"{family_of('the net preference in each row')}"
        ),
        columns=(
            Column("group", "Judgments", ColumnKind.TEXT),
            *SHARES,
            *ends(level, ColumnKind.SHARE),
            P_VALUE,
        ),
        rows=tuple(rows),
        picture=Picture.WHISKERS,
    )


def _by_model(rows: list[tuple[Cell, ...]], level: float) -> Table:
    by_net = sorted(rows, key=lambda row: -float(row[5] or 0))
    return Table(
        key="models",
        title="Model by model",
        caption=(
            "How each model fares against people's messages. Models met different messages; the "
            "leaderboard, which takes all opponents into account, is the fairer order. "
            f"{family_of('the net preference of each model')}"
        ),
        columns=(
            Column("system", "System", ColumnKind.SYSTEM),
            *SHARES,
            *ends(level, ColumnKind.SHARE),
            P_VALUE,
        ),
        rows=tuple(by_net),
        picture=Picture.WHISKERS,
    )
