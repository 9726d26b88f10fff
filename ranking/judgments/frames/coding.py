"""From keys of rows to names and their places."""

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from annotation.models import Comparison, Judge, Rater, Study
from completions.choices import Presence
from completions.models import Dialogue, System
from ranking.numerics.arrays import Integers

SAID = {Presence.PRESENT: 1.0, Presence.ABSENT: 0.0, Presence.UNCERTAIN: 0.5}
"""How present something is, as a label says."""
Label = TypeVar("Label", str, tuple[str, bool])


def coded(keys: Integers, names: Mapping[int, Label]) -> tuple[tuple[Label, ...], Integers]:
    """Return the names that occur, sorted, and for each key the place of its name."""
    unique, inverse = np.unique(keys, return_inverse=True)
    found = [names[key] for key in unique.tolist()]
    labels = tuple(sorted(set(found)))
    place = {label: index for index, label in enumerate(labels)}
    places = np.array([place[label] for label in found], dtype=np.int64)
    return labels, places[inverse].reshape(keys.shape)


def dialogues(keys: Integers) -> dict[int, str]:
    """Return the content hashes of source dialogues by key: these and those between them."""
    found = Dialogue.objects.filter(pk__range=_ends(keys))
    return dict(found.values_list("pk", "content_hash"))


def _ends(keys: Integers) -> tuple[int, int]:
    return (int(keys.min()), int(keys.max())) if len(keys) else (0, 0)


def comparisons(study: Study) -> dict[int, str]:
    """Return the public names of the study's comparisons by key."""
    return dict(Comparison.objects.filter(study=study).values_list("pk", "key"))


def systems() -> dict[int, str]:
    """Return the slugs of all systems by key."""
    return dict(System.objects.values_list("pk", "slug"))


def people_and_judges(study: Study) -> dict[int, tuple[str, bool]]:
    """Name the study's raters by their keys, and judges by theirs with a minus."""
    raters = Rater.objects.filter(study=study).values_list("pk", "code")
    judges = Judge.objects.values_list("pk", "slug")
    people = {pk: (code, False) for pk, code in raters}
    return people | {-pk: (slug, True) for pk, slug in judges}
