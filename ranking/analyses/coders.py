"""What models find in rationales, beside what the rules find."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.rationales.themes import Codebook
from ranking.analyses.agreement.opinions import Samples
from ranking.analyses.cells import decimal
from ranking.analyses.reasons import Reasons
from ranking.analyses.theme_tables import THEME, head
from ranking.findings import Cell, Column, ColumnKind, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.judgments.sources import ThemeLabels
from ranking.numerics.agreement.two_coders import ac1, drawn_kappas, pabak, tables_by_unit
from ranking.numerics.arrays import Booleans, Integers

PRESENT, UNSURE = 1.0, 0.5
FEWEST = 20
"""Rationales; a share of fewer says nothing."""
CODER = Column("coder", "Model", ColumnKind.TEXT)


@dataclass(frozen=True)
class Reading:
    """The rationales that one model has read, with what the rules find in the same.

    ``found`` and ``unsure`` have shape (n_rationales, n_themes): present, and uncertain.
    """

    coder: str
    rules: Reasons
    found: Booleans
    unsure: Booleans

    @property
    def tells(self) -> bool:
        """Say whether the model or the rules found anything."""
        return bool(self.found.any() or self.rules.speaks.any())


def readings(labels: ThemeLabels | None, reasons: Reasons) -> list[Reading]:
    """Return what each model found in the rationales that the rules have read too."""
    if labels is None:
        return []
    read = []
    for coder, presence in zip(labels.coders, labels.presence[:, reasons.rows], strict=True):
        known = np.isfinite(presence).all(axis=1)
        said = presence[known]
        read.append(Reading(coder, reasons.taken(known), said == PRESENT, said == UNSURE))
    return read


def coder_tables(
    read: Sequence[Reading], columns: JudgmentColumns, book: Codebook, method: Method
) -> tuple[Table, ...]:
    """Return the shares by model and by rules, and how far they agree; none without models.

    Nor where neither found anything: noughts alone would look like a finding.
    """
    enough = [one for one in read if len(one.found) >= FEWEST and one.tells]
    if not enough:
        return ()
    return _shares(enough, columns, book), _agreement(enough, columns, book, method)


def coverage(read: Sequence[Reading], n: int) -> Iterator[str]:
    """Say how many of the ``n`` rationales each model has read, and who read too few."""
    for one in read:
        share, left_out = 100 * len(one.found) / n, len(one.found) < FEWEST
        too_few = f", fewer than the {FEWEST} that its tables need" if left_out else ""
        yield f"{one.coder} has read {len(one.found)} of {n} rationales ({share:.0f} %){too_few}."


def _shares(read: Sequence[Reading], columns: JudgmentColumns, book: Codebook) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in read:
        is_judge = columns.is_judge[columns.evaluator[one.rules.rows]]
        for place, theme in enumerate(book.themes):
            by = (one.rules.speaks[:, place], one.found[:, place])
            cells = (_share(said[of]) for of in (~is_judge, is_judge) for said in by)
            rows.append((one.coder, *head(theme), *cells))
    return Table(
        key="coders",
        title="What a model finds in the same rationales",
        caption=(
            "The share of rationales that speak of the theme, by the rules and by a model, among "
            "those that the model has read. What it called uncertain counts as not found."
        ),
        columns=(
            CODER,
            *THEME,
            Column("people_rules", "People, by rules", ColumnKind.SHARE),
            Column("people_model", "People, by the model", ColumnKind.SHARE),
            Column("judges_rules", "LLM judges, by rules", ColumnKind.SHARE),
            Column("judges_model", "LLM judges, by the model", ColumnKind.SHARE),
        ),
        rows=tuple(rows),
    )


def _agreement(
    read: Sequence[Reading], columns: JudgmentColumns, book: Codebook, method: Method
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in read:
        units, unit = np.unique(columns.unit[one.rules.rows], return_inverse=True)
        samples = Samples.drawn(len(units), method.replicates, seed=method.seed, level=method.level)
        for place, theme in enumerate(book.themes):
            said = one.rules.speaks[:, place], one.found[:, place]
            cells = _agreement_cells(*said, unit.astype(np.int64), samples)
            unsure = _share(one.unsure[:, place])
            rows.append((one.coder, *head(theme), len(said[0]), *map(_share, said), unsure, *cells))
    return Table(
        key="coder-agreement",
        title="Do the rules and the model agree?",
        caption=(
            "Kappa is agreement beyond chance, 0 being chance and 1 full agreement, with whole "
            "dialogues drawn anew for its interval. Where a theme is rare or common, kappa can be "
            "low although nearly all rationales are labelled alike; PABAK and AC1 stay steady."
        ),
        columns=(
            CODER,
            *THEME,
            Column("rationales", "Rationales", ColumnKind.COUNT),
            Column("rules", "Found by rules", ColumnKind.SHARE),
            Column("model", "Found by the model", ColumnKind.SHARE),
            Column("uncertain", "Uncertain", ColumnKind.SHARE),
            Column("alike", "Labelled alike", ColumnKind.SHARE),
            Column("value", "Kappa"),
            Column("low", "95 % from"),
            Column("high", "to"),
            Column("pabak", "PABAK"),
            Column("ac1", "AC1"),
        ),
        rows=tuple(rows),
    )


def _agreement_cells(
    rules: Booleans, model: Booleans, unit: Integers, samples: Samples
) -> tuple[Cell, ...]:
    tables = tables_by_unit(rules, model, unit, n_units=samples.n_units)
    kappa = samples.cells(lambda times: drawn_kappas(tables, times))
    whole = tables.sum(axis=0)
    return _share(rules == model), *kappa, decimal(pabak(whole)), decimal(ac1(whole))


def _share(said: Booleans) -> float | None:
    return decimal(float(said.mean())) if said.size else None
