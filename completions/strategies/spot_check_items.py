"""One item of a spot check as people label or settle it: nothing says who wrote the text."""

from dataclasses import dataclass
from typing import Any

from completions.contexts.screening.highlights import MarkedDialogue
from completions.strategies.kinds import kind_of, named
from completions.strategies.spot_check_queries import Found, Ledger, Sample

Item = Any
"""A row of a sample, of its kind."""

KEYS = "1234567890qwrty"
"""The keys that tick the boxes, in their order; E is for the note."""


@dataclass(frozen=True)
class Box:
    """One label to tick or not."""

    key: str
    name: str
    shows: str
    leaves_out: str
    shortcut: str
    is_ticked: bool
    found_by: int | None = None
    """Which of the two people found it, from 1, where only one did."""


@dataclass(frozen=True)
class Step:
    """Where an item stands among those that somebody goes through; places count from 1."""

    number: int
    previous: int | None
    next: int | None
    n_done: int
    n: int


@dataclass(frozen=True)
class ToLabel:
    """An item as one of the two people sees it."""

    step: Step
    dialogue: MarkedDialogue | None
    text: str
    boxes: tuple[Box, ...]
    note: str
    is_labelled: bool


@dataclass(frozen=True)
class ToSettle:
    """An item on which the two differ."""

    step: Step
    dialogue: MarkedDialogue | None
    text: str
    boxes: tuple[Box, ...]
    agreed: tuple[str, ...]
    """The names of what both found."""
    notes: tuple[str, ...]
    """What the two people noted, in their order; may be empty."""
    note: str
    is_settled: bool


def to_label(item: Item, ledger: Ledger, labeller: int) -> ToLabel:
    """Return an item with what this person found in it before, and nothing of others."""
    said = ledger.people.get(labeller, {}).get(item.pk)
    found = said.found if said else frozenset()
    places = list(ledger.positions.values())
    return ToLabel(
        step=_step(item, places, ledger.n_labelled(labeller)),
        dialogue=kind_of(item.spot_check).dialogue(item),
        text=kind_of(item.spot_check).text(item),
        boxes=_boxes(item.spot_check, found),
        note=said.note if said else "",
        is_labelled=said is not None,
    )


def to_settle(item: Item, ledger: Ledger) -> ToSettle:
    """Return an item on which the two people differ, with what each found."""
    one, other = (said[item.pk] for said in ledger.people.values())
    settled = ledger.settled.get(item.pk)
    places = [ledger.positions[pk] for pk in ledger.differing]
    boxes = _boxes(item.spot_check, settled.found if settled else frozenset())
    return ToSettle(
        step=_step(item, places, len(places) - len(ledger.unsettled)),
        dialogue=kind_of(item.spot_check).dialogue(item),
        text=kind_of(item.spot_check).text(item),
        boxes=tuple(
            Box(**vars(box) | {"found_by": 1 if box.key in one.found else 2})
            for box in boxes
            if box.key in ledger.open(item.pk)
        ),
        agreed=tuple(box.name for box in boxes if box.key in ledger.agreed(item.pk)),
        notes=(one.note, other.note),
        note=settled.note if settled else "",
        is_settled=settled is not None,
    )


def names_of(check: Sample) -> dict[str, str]:
    """Return the names of the labels of its codebook, by key."""
    return dict(named(kind_of(check), check.codebook))


def _boxes(check: Sample, found: Found) -> tuple[Box, ...]:
    listed = kind_of(check).meanings(check.codebook)
    return tuple(
        Box(
            key=one.key,
            name=one.name,
            shows=one.shows,
            leaves_out=one.leaves_out,
            shortcut=KEYS[place] if place < len(KEYS) else "",
            is_ticked=one.key in found,
        )
        for place, one in enumerate(listed)
    )


def _step(item: Item, places: list[int], n_done: int) -> Step:
    before = [at for at in places if at < item.position]
    after = [at for at in places if at > item.position]
    return Step(
        number=item.position + 1,
        previous=before[-1] + 1 if before else None,
        next=after[0] + 1 if after else None,
        n_done=n_done,
        n=len(places),
    )
