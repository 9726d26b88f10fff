"""Simulated people who check labels: each misses some that are there and sees some that are not."""

import datetime as dt
from typing import Any

from django.contrib.auth.models import User

from completions.strategies.services import spot_checking
from completions.strategies.spot_check_queries import Sample, found_by_model, keys_of, ledger_of
from heart_site.demo.rehearsal.people import generator

MISSED, IMAGINED = 0.2, 0.02
"""Shares of the labels that are there, and are not, that one person gets wrong."""
LABELLERS = (1, 2)
ADJUDICATOR = 3


def check(sample: Sample, *, now: dt.datetime) -> None:
    """Have two simulated people label a sample, and a third settle where they differ.

    What is there is what the simulated model found, for it errs in nothing.
    """
    present, items = found_by_model(sample), list(sample.items.order_by("position"))
    if not ledger_of(sample).is_labelled:
        for person in map(_person, LABELLERS):
            for item in items:
                found = _seen(person, item, present[item.pk], keys_of(sample))
                spot_checking.label_item(item=item, labeller=person, found=found, now=now)
    ledger, person = ledger_of(sample), _person(ADJUDICATOR)
    for item in items:
        if item.pk in ledger.unsettled:
            found = _seen(person, item, present[item.pk], keys_of(sample))
            held = found & ledger.open(item.pk)
            spot_checking.adjudicate(item=item, by=person, found=held, now=now)


def share_wrong(*, is_there: bool) -> float:
    """Return how often all three together are wrong about a label, by whether it is there."""
    one = MISSED if is_there else IMAGINED
    return one**2 + 2 * one * (1 - one) * one


def _seen(person: User, item: Any, there: set[str], keys: tuple[str, ...]) -> set[str]:  # noqa: ANN401 (of any kind)
    draws = generator("labeller", person.username, item.position).random(len(keys))
    return {
        key
        for key, draw in zip(keys, draws, strict=True)
        if (draw >= MISSED if key in there else draw < IMAGINED)
    }


def _person(number: int) -> User:
    """Return a simulated labeller, who cannot sign in."""
    user, is_new = User.objects.get_or_create(username=f"simulated-labeller-{number}")
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user
