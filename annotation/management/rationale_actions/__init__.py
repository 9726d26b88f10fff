"""The actions of ``manage.py rationales``, one per module."""

from annotation.management.rationale_actions import labelling, scanning
from completions.management.run_actions import actions_of

ACTIONS = (labelling.ACTION, scanning.ACTION, *actions_of(labelling.KIND))
