"""What ``completions`` and ``judges`` do with runs: one set of actions for every kind of call."""

from completions.management.acting import Action
from completions.management.run_actions import showing, working
from completions.management.run_actions.kind import Kind

__all__ = ["Kind", "actions_of"]


def actions_of(kind: Kind) -> tuple[Action, ...]:
    """Return the actions on runs of this kind that exist: look at them, and steer them."""
    return (*showing.actions_of(kind), *working.actions_of(kind))
