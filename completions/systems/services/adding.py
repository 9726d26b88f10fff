"""Register a system by hand: never in the place of another one."""

import datetime as dt

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from access.log import record
from completions.models import System
from completions.systems.catalogue import Entry
from completions.systems.catalogue.own import SimulatedEntry
from completions.systems.services.catalogue import columns_of


class SystemTakenError(ValueError):
    """Another system has that slug or that name already; ``field`` says which."""

    def __init__(self, field: str, *, other: str) -> None:
        super().__init__(f'The system "{other}" has it already: choose another one.')
        self.field = field


@transaction.atomic
def add_system(*, entry: Entry, by: User, now: dt.datetime) -> System:
    """Register what a person says of a system; nothing that is registered changes.

    Raises
    ------
    SystemTakenError
        If its slug or its name belongs to another system.
    """
    _refuse_twins(entry)
    columns = columns_of(entry) | {"is_simulated": isinstance(entry, SimulatedEntry)}
    try:
        with transaction.atomic():
            system = System.objects.create(slug=entry.slug, **columns)
    except IntegrityError:
        _refuse_twins(entry)  # somebody else was quicker by a moment
        raise
    subject = f"system {entry.slug}"
    record(action="system.added", subject=subject, now=now, by=by, after=columns)
    return system


def _refuse_twins(entry: Entry) -> None:
    for field in ("slug", "name"):
        # As the name is read on pages: two systems that differ in capitals alone look like one.
        twin = System.objects.filter(**{f"{field}__iexact": getattr(entry, field)}).first()
        if twin is not None:
            raise SystemTakenError(field, other=twin.slug)
