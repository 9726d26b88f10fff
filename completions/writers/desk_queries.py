"""Reads of the writers' desk: who writes, what they may get, and what they hold."""

from dataclasses import dataclass

from django.db.models import (
    Case,
    Count,
    Exists,
    FilteredRelation,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.db.models.functions import MD5, Concat

from completions.choices import LeaseOutcome, Review, WriterState
from completions.models import (
    Context,
    Dataset,
    Writer,
    WriterConsent,
    WritingLease,
)
from completions.writers import assigning, guidelines
from completions.writers.assigning import Stock, WriterStatus

AGREED = (WriterState.PROFILING, WriterState.VETTING, WriterState.ACTIVE)
"""States of people who have agreed and may go on."""
KEPT = ("", LeaseOutcome.SUBMITTED)
"""Outcomes of leases that count in a writer's shares: still open, or answered."""


@dataclass(frozen=True)
class DeskContents:
    """What a writer's desk shows; ``n_trial`` replies let an admitted writer in."""

    n_written: int
    n_waiting: int
    n_trial: int


def writer_by_code(code: str) -> Writer | None:
    """Return the writer of that pseudonym, with the dataset and the consent's age, or None."""
    given = WriterConsent.objects.filter(writer=OuterRef("pk"))
    is_outdated = Exists(given) & ~Exists(given.filter(version=guidelines.VERSION))
    writers = Writer.objects.annotate(is_consent_outdated=is_outdated)
    return writers.select_related("dataset").filter(code=code).first()


def is_to_agree_again(writer: Writer) -> bool:
    """Say whether somebody read by ``writer_by_code`` agreed to earlier words than those of now.

    Who may not write, or is simulated, is not asked.
    """
    may_write = writer.state in AGREED and not writer.is_simulated
    return may_write and bool(vars(writer)["is_consent_outdated"])


def open_contexts(writer: Writer) -> QuerySet[Context]:
    """Return contexts in use that want a completion and that the writer never had before."""
    return _never_had(writer).filter(dataset=writer.dataset_id, slots_left__gt=0)


def contexts_to_give(writer: Writer) -> QuerySet[Context]:
    """Return the open contexts that the writer may be given next, the best one first.

    Among equals each writer has an order of their own, so that they do not queue for one row.
    """
    offer = assigning.next_offer(
        status_of(writer),
        most=writer.dataset.most_adversarial,
        phase=assigning.phase_of(writer.code),
    )
    ranks = (When(stratum=stratum, then=rank) for rank, stratum in enumerate(offer.strata))
    liking, own = Case(*ranks, default=2), MD5(Concat("key", Value(writer.code)))
    order = ("-slots_left", liking) if offer.is_even else (liking, "-slots_left")
    return open_contexts(writer).filter(stratum__in=offer.strata).order_by(*order, own)


def trial_contexts(writer: Writer) -> QuerySet[Context]:
    """Return the dialogues of the vetting set that the newcomer has not had yet, in its order."""
    return _never_had(writer).filter(dataset=writer.dataset.vetting_id).order_by("pk")


def _never_had(writer: Writer) -> QuerySet[Context]:
    had = WritingLease.objects.filter(context=OuterRef("pk"), writer=writer)
    return Context.objects.in_use().filter(~Exists(had))


def status_of(writer: Writer) -> WriterStatus:
    """Count what is open for the writer in each stratum, and what they had of it."""
    mine = FilteredRelation("writing_leases", condition=Q(writing_leases__writer=writer))
    is_open = Q(mine=None, slots_left__gt=0) & ~Q(review=Review.DROPPED)
    rows = (
        Context.objects.filter(dataset=writer.dataset_id)
        .alias(mine=mine)
        .values("stratum")
        .annotate(
            dialogues=Count("pk", filter=is_open),
            slots=Sum("slots_left", filter=is_open, default=0),
            kept=Count("mine", filter=Q(mine__outcome__in=KEPT)),
            given_up=Count("mine", filter=~Q(mine__outcome__in=KEPT)),
            newest=Max("mine"),
        )
    )
    newest = {row["stratum"]: row["newest"] or 0 for row in rows}
    stocks = {
        row["stratum"]: Stock(row["dialogues"], row["slots"], row["kept"], row["given_up"])
        for row in rows
    }
    regular, adversarial = assigning.REGULAR, assigning.ADVERSARIAL
    return WriterStatus(
        regular=stocks.get(regular, Stock()),
        adversarial=stocks.get(adversarial, Stock()),
        was_adversarial=newest.get(adversarial, 0) > newest.get(regular, 0),
    )


def open_writing_lease(writer: Writer) -> WritingLease | None:
    """Return the lease that the writer holds, with its context, or None."""
    return writer.leases.select_related("context").filter(closed_at=None).first()


def desk(writer: Writer) -> DeskContents:
    """Count what the writer has sent, and what they can still get (an open draft included)."""
    on_trial = writer.state == WriterState.VETTING
    sent = Count("pk", filter=Q(is_trial=on_trial, outcome=LeaseOutcome.SUBMITTED))
    trial = Count("pk", filter=Q(is_trial=True, outcome=LeaseOutcome.SUBMITTED))
    held = Count("pk", filter=Q(closed_at=None))
    counts = writer.leases.aggregate(sent=sent, held=held, trial=trial)
    to_come = 0 if writer.dataset.frozen_at else counts["held"] + _n_to_come(writer)
    n_trial = 0 if on_trial else counts["trial"]
    return DeskContents(n_written=counts["sent"], n_waiting=to_come, n_trial=n_trial)


def _n_to_come(writer: Writer) -> int:
    if writer.state == WriterState.VETTING:
        return trial_contexts(writer).count()
    return assigning.n_to_come(status_of(writer), most=writer.dataset.most_adversarial)


def is_writing(writer: Writer) -> bool:
    """Say whether the writer has agreed and may write, be it on trial."""
    return writer.state in {WriterState.VETTING, WriterState.ACTIVE}


def any_writer(dataset: Dataset) -> Writer | None:
    """Return the writer who was invited first, or None."""
    return dataset.writers.select_related("dataset").order_by("pk").first()
