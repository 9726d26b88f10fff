"""Tables of what rules find in rationales, and what models find beside them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.rationales.themes import Codebook, Theme
from ranking.analyses import FEWEST_DIALOGUES
from ranking.analyses.common import (
    Samples,
    adjusted_tests,
    decimal,
    ends,
    family_of,
    mean_cell,
    mean_of,
    rests_on_enough,
    share_cells,
    share_ends,
    with_test,
)
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.judgments.sources import ThemeLabels, TickedReasons
from ranking.numerics.agreement.coefficients import ac1, drawn_kappas, pabak, tables_by_unit
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.clustered_means import ClusteredMean

SKILLS = {"skill": "micro-skill", "form": "form"}
THEME = (
    Column("theme", "Theme", ColumnKind.TEXT),
    Column("about", "Dimension or skill", ColumnKind.TEXT),
)


def shares_table(
    book: Codebook,
    speaks: Booleans,
    is_judge: Booleans,
    gaps: Sequence[ClusteredMean | None],
    level: float,
) -> Table:
    """Say how often people and judges speak of each theme, and how far they are apart."""
    p_values = adjusted_tests(gaps)
    rows = []
    for place, theme in enumerate(book.themes):
        by = (
            mean_cell(speaks[~is_judge, place]),
            mean_cell(speaks[is_judge, place]),
        )
        rows.append((*head(theme), *by, *share_cells(gaps[place], level), p_values[place]))
    if not speaks.any():
        rows = []  # noughts alone would look like a finding
    n_people = int((~is_judge).sum())
    return Table(
        key="themes",
        title="What rationales speak of",
        caption=(
            f"The share of {n_people} rationales by people and {len(is_judge) - n_people} by LLM "
            "judges that speak of the theme. One rationale speaks of several, or of none. "
            f"{family_of('the difference on each theme')}"
        ),
        columns=(
            *THEME,
            Column("people", "People", ColumnKind.SHARE),
            Column("judges", "LLM judges", ColumnKind.SHARE),
            *with_test("Judges less people", level, ColumnKind.SHARE),
        ),
        rows=tuple(rows),
    )


def shared_table(common: ClusteredMean, level: float) -> Table:
    """Say how often a person and a judge who agree give a reason in common."""
    reach = share_ends(common, level)
    return Table(
        key="shared",
        title="Do people and judges who agree say the same?",
        caption=(
            "Of all meetings of a person and a judge who preferred the same message, the share in "
            "which their rationales have a theme in common."
        ),
        columns=(
            Column("meetings", "Meetings", ColumnKind.COUNT),
            Column("value", "With a theme in common", ColumnKind.SHARE),
            *ends(level, ColumnKind.SHARE),
        ),
        rows=((common.n, round(common.mean, 4), *reach),),
    )


def together_table(book: Codebook, person: Booleans, judge: Booleans) -> Table:
    """Say how often a person and a judge who agree give the same reason, theme by theme."""
    rows = []
    for place, theme in enumerate(book.themes):
        one, other = person[:, place], judge[:, place]
        expected = float(one.mean() * other.mean())
        both = float((one & other).mean())
        lift = round(both / expected, 2) if expected else None
        cells = (mean_cell(one), mean_cell(other), round(both, 4), round(expected, 4))
        rows.append((*head(theme), *cells, lift))
    return Table(
        key="together",
        title="Reasons of people and judges who agree",
        caption=(
            "The same meetings, theme by theme. By chance two would share a theme as often as the "
            "last but one column says."
        ),
        columns=(
            *THEME,
            Column("people", "The person speaks of it", ColumnKind.SHARE),
            Column("judges", "The judge does", ColumnKind.SHARE),
            Column("both", "Both do", ColumnKind.SHARE),
            Column("chance", "Both, by chance", ColumnKind.SHARE),
            Column("lift", "Times chance"),
        ),
        rows=tuple(rows),
    )


def winning_table(
    book: Codebook,
    speaks: Booleans,
    won: Floats,
    found: Sequence[tuple[ClusteredMean, ClusteredMean] | None],
    level: float,
) -> Table:
    """Say what themes go with a model's winning against a person."""
    p_values = adjusted_tests([None if one is None else one[1] for one in found])
    rows = []
    for place, theme in enumerate(book.themes):
        told, slopes = int(speaks[:, place].sum()), found[place]
        raw, held = (None, None) if slopes is None else slopes
        as_it_is, *_ends = share_cells(raw, level)
        rows.append((*head(theme), told, as_it_is, *share_cells(held, level), p_values[place]))
    return Table(
        key="winning",
        title="What goes with a model's winning against a person",
        caption=(
            f"By how many points the share of {len(won)} judgments that the model won is higher "
            "where the rationale speaks of the theme: as it is, and with length, position and the "
            "rationale's length held equal. Reasons come after the choice: this is no cause. "
            f"{family_of('what is held equal, on each theme')}"
        ),
        columns=(
            *THEME,
            Column("rationales", "Rationales", ColumnKind.COUNT),
            Column("raw", "As it is", ColumnKind.SHARE),
            *with_test("Held equal", level, ColumnKind.SHARE),
        ),
        rows=tuple(rows),
    )


def head(theme: Theme) -> tuple[Cell, ...]:
    """Return the cells that name a theme, and what it is about."""
    return theme.name, SKILLS.get(theme.about, theme.about)


@dataclass(frozen=True)
class Reasons:
    """The rationales given, coded; ``rows`` are the judgments that they belong to.

    ``speaks`` has shape (n_rationales, n_themes), ``words`` counts the words of each.
    """

    rows: Integers
    speaks: Booleans
    words: Floats

    def taken(self, chosen: Booleans) -> "Reasons":
        """Return some of them."""
        return Reasons(self.rows[chosen], self.speaks[chosen], self.words[chosen])


def coded(
    rationales: Sequence[str], book: Codebook, *, most: int, rng: np.random.Generator
) -> Reasons:
    """Code the rationales that are not empty, or so many of them drawn at random.

    Texts that occur often are read once. Cost O(rationales * themes), some microseconds each.
    """
    given = np.array([place for place, text in enumerate(rationales) if text.strip()], dtype=int)
    if len(given) > most:
        given = np.sort(rng.choice(given, most, replace=False))
    texts = [rationales[place] for place in given]
    known = {text: [theme.is_in(text) for theme in book.themes] for text in set(texts)}
    speaks = np.array([known[text] for text in texts], dtype=np.bool_)
    words = np.array([len(text.split()) for text in texts], dtype=np.float64)
    return Reasons(given, speaks.reshape(len(texts), len(book.themes)), words)


def chips_table(
    chips: TickedReasons,
    people: Integers,
    reasons: Reasons,
    columns: JudgmentColumns,
    book: Codebook,
    level: float,
) -> Table:
    """Say how often people ticked each reason, and how often they say the same in words.

    ``people`` are the rows of people's judgments.
    """
    told = reasons.taken(np.isin(reasons.rows, people))
    rows = []
    for words, key, ticked in zip(chips.words, chips.themes, chips.ticked.T, strict=True):
        share = mean_of(ticked[people].astype(np.float64), columns.unit[people])
        theme, *said = _beside_theme(ticked[told.rows], key, told, book)
        n_ticked = int(ticked[people].sum())
        cells: tuple[Cell, ...] = (None, None, None)
        if rests_on_enough(share):
            cells = (decimal(share.mean), *share_ends(share, level))
        rows.append((words, theme, n_ticked, *cells, *said))
    return Table(
        key="chips",
        title="Reasons that people ticked",
        caption=(
            f"Of {len(people)} answers by people. Each chip stands for a theme; the last two "
            "columns say how often the sentence speaks of it, where the chip is ticked and where "
            "it is not. A chip says neither which message nor whether it is praise."
        ),
        columns=(
            Column("chip", "Chip", ColumnKind.TEXT),
            Column("theme", "Theme", ColumnKind.TEXT),
            Column("ticked", "Ticked", ColumnKind.COUNT),
            Column("value", "Share of answers", ColumnKind.SHARE),
            *ends(level, ColumnKind.SHARE),
            Column("said_with", "Said too, where ticked", ColumnKind.SHARE),
            Column("said_without", "Said, where not", ColumnKind.SHARE),
        ),
        rows=tuple(rows),
        picture=Picture.WHISKERS,
    )


def _beside_theme(
    ticked: Booleans, key: str, told: Reasons, book: Codebook
) -> tuple[Cell, Cell, Cell]:
    """Return a chip's theme, and how often sentences speak of it with and without the tick."""
    if key not in book.keys:
        return None, None, None
    place = book.keys.index(key)
    speaks = told.speaks[:, place]
    return book.themes[place].name, mean_cell(speaks[ticked]), mean_cell(speaks[~ticked])


PRESENT, UNSURE = 1.0, 0.5
FEWEST = 20
"""Rationales or answers; a share of fewer says nothing."""
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
            cells = (mean_cell(said[of]) for of in (~is_judge, is_judge) for said in by)
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
        samples = Samples.drawn(len(units), method)
        for place, theme in enumerate(book.themes):
            said = one.rules.speaks[:, place], one.found[:, place]
            cells = _agreement_cells(*said, unit.astype(np.int64), samples)
            unsure = mean_cell(one.unsure[:, place])
            rows.append(
                (one.coder, *head(theme), len(said[0]), *map(mean_cell, said), unsure, *cells)
            )
    return Table(
        key="coder-agreement",
        title="Do the rules and the model agree?",
        caption=(
            "Kappa is agreement beyond chance, 0 being chance and 1 full agreement, with whole "
            "dialogues drawn anew for its interval, if a theme is found in "
            f"{FEWEST_DIALOGUES} of them, and missing in as many. Where a theme is rare or common, "
            "kappa can be low although nearly all rationales are labelled alike; PABAK and AC1 "
            "stay steady."
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
    # Dialogues in which both say the more frequent of the two throughout tell kappa nothing.
    sides = (np.unique(unit[rules | model]), np.unique(unit[~(rules & model)]))
    rarer = min(sides, key=len)
    kappa = samples.cells(lambda times: drawn_kappas(tables, times), rarer)
    if len(rarer) < FEWEST_DIALOGUES:
        kappa = (kappa[0], None, None)
    whole = tables.sum(axis=0)
    return mean_cell(rules == model), *kappa, decimal(pabak(whole)), decimal(ac1(whole))
