"""What models found in the rationales of a selection, as of its time."""

from collections.abc import Iterable, Mapping

import numpy as np

from annotation.models import ThemeLabel
from annotation.themes import load_codebook
from completions.choices import CallState, Presence
from ranking.frames.coding import SAID
from ranking.numerics.arrays import Floats
from ranking.rule import Selection, selected
from ranking.sources import ThemeLabels

ROW = ("call__assistant__name", "call__judgment", "theme", "presence")


def read_themes(selection: Selection) -> ThemeLabels | None:
    """Return the labels by the newest codebook that were there as of the selection's time.

    Rows are the selection's judgments, in the order of its columns. Two queries.
    """
    judgments = selected(selection).order_by("submitted_at", "pk").values_list("pk", flat=True)
    row = {pk: place for place, pk in enumerate(judgments)}
    book = load_codebook()
    column = {key: place for place, key in enumerate(book.keys)}
    found: dict[str, Floats] = {}
    for coder, judgment, theme, presence in _labels(selection, book.reference):
        if judgment in row:
            if coder not in found:
                found[coder] = np.full((len(row), len(column)), np.nan)
            found[coder][row[judgment], column[theme]] = SAID[Presence(presence)]
    return _stacked(found)


def _labels(selection: Selection, codebook: str) -> Iterable[tuple[str, int, str, str]]:
    calls = {
        "call__judgment__comparison__study": selection.study,
        "call__codebook": codebook,
        "call__state": CallState.DONE,
        "call__ended_at__lte": selection.as_of,
    }
    return ThemeLabel.objects.filter(**calls).values_list(*ROW).iterator()


def _stacked(found: Mapping[str, Floats]) -> ThemeLabels | None:
    coders = tuple(sorted(found))
    return ThemeLabels(coders, np.stack([found[one] for one in coders])) if coders else None
