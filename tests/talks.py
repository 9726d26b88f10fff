"""A dataset of two talks that every system completed."""

from completions.models import Dataset
from tests.factories import (
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_system,
)


def make_talks(*, n_systems: int = 4) -> Dataset:
    """Make two contexts with a completion of every system in each."""
    dataset = make_dataset()
    systems = [make_system(slug=f"system-{n}") for n in range(n_systems)]
    for _ in range(2):
        context = make_context(dialogue=make_dialogue(dataset=dataset))
        for system in systems:
            make_completion(context=context, system=system)
    return dataset
