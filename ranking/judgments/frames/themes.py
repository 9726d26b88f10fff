"""What models found in the rationales of a selection, as of its time."""

from collections.abc import Mapping

import numpy as np
from django.db.models import QuerySet

from annotation.models import RationaleCall, ThemeLabel
from annotation.rationales.themes import load_codebook
from completions.choices import CallState, Presence
from ranking.judgments.analysis_set import Selection, selected
from ranking.judgments.frames.integers import SAID
from ranking.judgments.sources import ThemeLabels
from ranking.numerics.arrays import Floats

READ = ("assistant__name", "judgment")
FOUND = ("call__assistant__name", "call__judgment", "theme", "presence")


def read_themes(selection: Selection) -> ThemeLabels | None:
    """Return the labels by the newest codebook that were there as of the selection's time.

    Rows are the selection's judgments, in the order of its columns. Three queries; an answer has
    a label for every theme, most of them absent, so that only the others are read.
    """
    judgments = selected(selection).order_by("submitted_at", "pk").values_list("pk", flat=True)
    row = {pk: place for place, pk in enumerate(judgments)}
    book = load_codebook()
    column = {key: place for place, key in enumerate(book.keys)}
    calls = _calls(selection, book.reference)
    found: dict[str, Floats] = {}
    for coder, judgment in calls.values_list(*READ).iterator():
        if judgment in row:
            if coder not in found:
                found[coder] = np.full((len(row), len(column)), np.nan)
            found[coder][row[judgment]] = SAID[Presence.ABSENT]
    labels = ThemeLabel.objects.filter(call__in=calls).exclude(presence=Presence.ABSENT)
    for coder, judgment, theme, presence in labels.values_list(*FOUND).iterator():
        if judgment in row:
            found[coder][row[judgment], column[theme]] = SAID[Presence(presence)]
    return _stacked(found)


def _calls(selection: Selection, codebook: str) -> QuerySet[RationaleCall]:
    return RationaleCall.objects.filter(
        judgment__comparison__study=selection.study,
        codebook=codebook,
        state=CallState.DONE,
        ended_at__lte=selection.as_of,
    )


def _stacked(found: Mapping[str, Floats]) -> ThemeLabels | None:
    coders = tuple(sorted(found))
    return ThemeLabels(coders, np.stack([found[one] for one in coders])) if coders else None
