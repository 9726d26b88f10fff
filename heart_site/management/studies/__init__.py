"""The acts of ``manage.py study``, one module each; a new one goes into ACTS."""

from heart_site.management.studies import (
    creating,
    locking,
    moving,
    planning,
    powering,
    quick,
    reviewing,
    showing,
    simulating,
)
from heart_site.management.studies.act import Act

ACTS: tuple[Act, ...] = (
    quick.QUICK,
    creating.CREATE,
    creating.VERSION,
    locking.LOCK,
    planning.PLAN,
    *moving.MOVES,
    showing.SHOW,
    reviewing.REVIEW,
    powering.POWER,
    simulating.SIMULATE,
)

__all__ = ["ACTS", "Act"]
