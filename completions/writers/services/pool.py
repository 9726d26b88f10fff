"""Set how the pool of a dataset works, and freeze or thaw its texts (ADR-0035)."""

import datetime as dt
from collections.abc import Mapping
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from access.log import record
from completions.choices import LeaseOutcome
from completions.dialogues.locking import lock_texts
from completions.files.toml import content_hash
from completions.models import Context, Dataset, Writer, WritingLease
from completions.writers.services.leasing import give_back


class MessagesTakenError(Exception):
    """More messages were written, or begun, for some dialogue than each is to have from now on."""

    def __init__(self, n_dialogues: int) -> None:
        super().__init__(f"{n_dialogues} conversations have more messages than that")
        self.n_dialogues = n_dialogues


class PoolChangedError(Exception):
    """Somebody else changed the settings after they were shown."""


class PoolSettings(NamedTuple):
    """How a pool works; ``host`` says who invites its writers (`guidelines.host_facts`)."""

    completions_per_context: int
    most_adversarial: int
    offers_own_systems: bool
    host: Mapping[str, str] = {}

    @classmethod
    def of(cls, dataset: Dataset) -> "PoolSettings":
        """Return those that hold."""
        return cls(
            dataset.completions_per_context,
            dataset.most_adversarial,
            dataset.offers_own_systems,
            dict(dataset.host or {}),
        )

    @property
    def seen(self) -> str:
        """The hash by which a form says which settings it was shown over."""
        return content_hash(self._asdict())


@transaction.atomic
def configure_pool(
    *,
    dataset: Dataset,
    settings: PoolSettings,
    now: dt.datetime,
    by: User | None = None,
    seen: str = "",
) -> Dataset:
    """Make the settings hold for what is handed out and asked from now on.

    Another number of messages per dialogue frees, or takes back, as many slots of every dialogue.
    Whoever agreed to be rated alone stays so. Asking for what holds already changes nothing.
    ``seen`` is of the settings that were changed, where somebody was shown them.

    Raises
    ------
    PoolChangedError
        If others hold by now than were seen.
    MessagesTakenError
        If a dialogue has more messages, or people at work on one, than it would want.
    """
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    before = PoolSettings.of(dataset)
    if settings == before:
        return dataset
    if seen not in ("", before.seen):
        raise PoolChangedError
    _move_slots(dataset, by=settings.completions_per_context - before.completions_per_context)
    after = settings._asdict()
    for name, value in after.items():
        setattr(dataset, name, value)
    dataset.save(update_fields=[*after])
    subject = f"dataset {dataset.slug}"
    record(
        action="pool.configured",
        subject=subject,
        now=now,
        by=by,
        before=before._asdict(),
        after=after,
    )
    return dataset


def _move_slots(dataset: Dataset, *, by: int) -> None:
    """Free slots of every dialogue of a locked dataset, or take some back that nobody has."""
    if not by:
        return
    contexts = Context.objects.filter(dataset=dataset).order_by("pk")
    slots = contexts.select_for_update(no_key=True).values_list("slots_left", flat=True)
    if n_taken := sum(left + by < 0 for left in slots):
        raise MessagesTakenError(n_taken)
    contexts.order_by().update(slots_left=F("slots_left") + by)


@transaction.atomic
def freeze_dataset(*, dataset: Dataset, by: User | None, now: dt.datetime) -> int:
    """Let nobody begin, send or revise a text from now on; return how many claims were given back.

    Drafts are kept, and trial dialogues, which nobody else waits for, stay with their writers.
    Messages that wait may still be accepted as they are, or rejected. Freezing again changes
    nothing.
    """
    dataset = _lock(dataset)
    if dataset.frozen_at is not None:
        return 0
    dataset.frozen_at = now
    dataset.save(update_fields=["frozen_at"])
    n_given_back = _give_open_leases_back(dataset, now=now)
    record(
        action="dataset.frozen",
        subject=f"dataset {dataset.slug}",
        now=now,
        by=by,
        after={"given back": n_given_back},
    )
    return n_given_back


@transaction.atomic
def thaw_dataset(*, dataset: Dataset, by: User | None, now: dt.datetime) -> bool:
    """Let people write and revise again; return False if the dataset was not frozen.

    A text that is compared or labelled stays fixed.
    """
    dataset = _lock(dataset)
    if dataset.frozen_at is None:
        return False
    before = {"frozen": dataset.frozen_at.isoformat()}
    dataset.frozen_at = None
    dataset.save(update_fields=["frozen_at"])
    record(
        action="dataset.thawed", subject=f"dataset {dataset.slug}", now=now, by=by, before=before
    )
    return True


def _lock(dataset: Dataset) -> Dataset:
    """Wait for everybody who is claiming or sending, and let nobody begin meanwhile."""
    writers = Writer.objects.filter(dataset=dataset).order_by("pk")
    list(writers.select_for_update().values_list("pk"))
    return lock_texts(dataset.pk)


def _give_open_leases_back(dataset: Dataset, *, now: dt.datetime) -> int:
    leases = WritingLease.objects.filter(writer__dataset=dataset, closed_at=None, is_trial=False)
    # In the order of the sweep that ends expired ones.
    locked = list(leases.order_by("context_id", "pk").select_for_update(of=("self",)))
    for lease in locked:
        give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)
    return len(locked)
