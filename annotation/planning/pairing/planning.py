"""Choose the pairs of a study: balanced over systems, connected by stratum, from a seed."""

from collections.abc import Sequence

import numpy as np

from annotation.planning.pairing.balance import even_out
from annotation.planning.pairing.draft import Draft
from annotation.planning.pairing.field import Field
from annotation.planning.pairing.links import connect
from annotation.planning.pairing.parts import Ground, PlannedPair


def plan_pairs(
    grounds: Sequence[Ground], *, per_context: int | None, seed: str
) -> list[PlannedPair]:
    """Return the pairs that a plan lacks, by stratum and context.

    With ``per_context`` None these are all pairs of completions of different systems and texts;
    otherwise as many as a context lacks of that number, or as many as it has. They are chosen so
    that

    * systems appear equally often over the study: with a completion of every system in every
      context, and nothing planned before, their counts differ by at most one;
    * so do, as well as that leaves room, the systems in each stratum, and the pairs of systems;
    * the systems of each stratum are connected by pairs, where the contexts allow it.

    What is planned stays and is counted. The choice rests on contents and the seed, not on the
    order of the arguments or on keys.

    Notes
    -----
    A greedy draft, pair by pair; then exchanges inside contexts that join groups of a stratum;
    then exchanges that lower the sum of squared counts and keep the groups joined. Where no
    single exchange helps, chains of them are searched for, as augmenting paths are.
    """
    draft = Draft(grounds, seed=seed)
    for field in draft.fields:
        _fill(draft, field, per_context)
    if per_context is not None:
        connect(draft)
        even_out(draft)
    return [pair for field in draft.fields for pair in field.planned_pairs()]


def _fill(draft: Draft, field: Field, per_context: int | None) -> None:
    """Choose the pairs that a context lacks, the cheapest one after the other."""
    if per_context is None:
        for pair in range(len(field.a)):  # all of them, whatever they cost
            draft.choose(field, pair)
        return
    for _ in range(min(per_context - len(field.ground.planned), len(field.a))):
        costs = draft.entry_costs(field)
        costs[field.is_chosen] = np.iinfo(np.int64).max
        draft.choose(field, int(costs.argmin()))
