"""The tables of what rationales speak of."""

from collections.abc import Sequence

from annotation.rationales.themes import Codebook, Theme
from ranking.analyses.cells import adjusted, ends, family_of, share_cells
from ranking.findings import Cell, Column, ColumnKind, Table
from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.clustered_means import ClusteredMean

SKILLS = {"skill": "micro-skill", "form": "form"}
THEME = (
    Column("theme", "Theme", ColumnKind.TEXT),
    Column("about", "Dimension or skill", ColumnKind.TEXT),
)
P_VALUE = Column("p", "p, Benjamini-Hochberg", ColumnKind.P_VALUE)


def shares_table(
    book: Codebook,
    speaks: Booleans,
    is_judge: Booleans,
    gaps: Sequence[ClusteredMean | None],
    level: float,
) -> Table:
    """Say how often people and judges speak of each theme, and how far they are apart."""
    p_values = _adjusted(gaps)
    rows = []
    for place, theme in enumerate(book.themes):
        by = (_share(speaks[~is_judge, place]), _share(speaks[is_judge, place]))
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
            Column("value", "Judges less people", ColumnKind.SHARE),
            *ends(level, ColumnKind.SHARE),
            P_VALUE,
        ),
        rows=tuple(rows),
    )


def together_table(
    book: Codebook, person: Booleans, judge: Booleans, common: ClusteredMean, level: float
) -> Table:
    """Say how often a person and a judge who agree give the same reason."""
    low, high = (100 * min(1.0, max(0.0, end)) for end in common.interval(level))
    rows = []
    for place, theme in enumerate(book.themes):
        one, other = person[:, place], judge[:, place]
        expected = float(one.mean() * other.mean())
        both = float((one & other).mean())
        lift = round(both / expected, 2) if expected else None
        ends = (_share(one), _share(other), round(both, 4), round(expected, 4))
        rows.append((*head(theme), *ends, lift))
    return Table(
        key="together",
        title="Reasons of people and judges who agree",
        caption=(
            f"In {100 * common.mean:.0f} % ({low:.0f} to {high:.0f}) of {common.n} meetings of a "
            "person and a judge who preferred the same message, their rationales share a theme. "
            "By chance two would share a theme as often as the last but one column says."
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
    p_values = _adjusted([None if one is None else one[1] for one in found])
    rows = []
    for place, theme in enumerate(book.themes):
        told, slopes = int(speaks[:, place].sum()), found[place]
        raw = None if slopes is None else round(slopes[0].mean, 4)
        held = None if slopes is None else slopes[1]
        rows.append((*head(theme), told, raw, *share_cells(held, level), p_values[place]))
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
            Column("value", "Held equal", ColumnKind.SHARE),
            *ends(level, ColumnKind.SHARE),
            P_VALUE,
        ),
        rows=tuple(rows),
    )


def head(theme: Theme) -> tuple[Cell, ...]:
    """Return the cells that name a theme, and what it is about."""
    return theme.name, SKILLS.get(theme.about, theme.about)


def _share(values: Booleans) -> float | None:
    return round(float(values.mean()), 4) if values.size else None


def _adjusted(found: Sequence[ClusteredMean | None]) -> list[float | None]:
    """Adjust the p-values of what was found, and keep the places of what was not."""
    return adjusted([None if one is None else one.p_value() for one in found])
