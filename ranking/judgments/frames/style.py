"""The style of the texts that were compared, measured as raters see them."""

from collections.abc import Collection

import numpy as np

from annotation.models import Comparison
from completions.dialogues.normaliser import plain
from completions.models import Completion
from ranking.judgments.analysis_set import Selection, selected
from ranking.judgments.style import FEATURES, features
from ranking.numerics.arrays import Floats

BATCH = 2000
UNKNOWN = (np.nan,) * len(FEATURES)


def read_style(selection: Selection) -> Floats:
    """Return figures of both texts of each pair that was judged, by the pairs' public names.

    Shape (n_items, 2, n_features), in the order of the items of `read_columns`; two queries.
    """
    judged = selected(selection).order_by().values("comparison")
    pairs = Comparison.objects.filter(pk__in=judged).order_by("key")
    texts = list(pairs.values_list("first", "second"))
    measured = _measured({text for pair in texts for text in pair})
    rows = [[measured.get(text, UNKNOWN) for text in pair] for pair in texts]
    return np.array(rows, dtype=np.float64).reshape(-1, 2, len(FEATURES))


def _measured(wanted: Collection[int]) -> dict[int, tuple[float, ...]]:
    """Measure these texts; those between them are passed over unread."""
    if not wanted:
        return {}
    rows = Completion.objects.filter(pk__range=(min(wanted), max(wanted))).exclude(text="")
    found = rows.values_list("pk", "text").iterator(chunk_size=BATCH)
    return {pk: features(plain(text)) for pk, text in found if pk in wanted}
