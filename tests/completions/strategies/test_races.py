"""Several people who label and settle at once: two labellers, one row for each, no late change."""

from functools import partial

import pytest

from completions.models import HumanLabelling, SpotCheck
from completions.strategies import spot_check_queries
from completions.strategies.services import spot_checking
from tests.helpers.factories import NOW, make_assistant, make_dataset
from tests.helpers.factories_of_calls import KEYS, label, make_labelled, make_person, make_sampled
from tests.helpers.threads import together

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


def say(item, person, *found):
    try:
        spot_checking.label_item(item=item, labeller=person, found=found, now=NOW)
    except (spot_checking.TwoLabellersError, spot_checking.LabellingClosedError) as error:
        return type(error).__name__
    return "stored"


def test_of_four_who_begin_at_once_two_become_labellers():
    check = make_sampled(4)
    people = [make_person(name) for name in ("ada", "ben", "cleo", "dan")]
    items = check.items.order_by("position")

    said = together(
        [partial(say, item, person) for item, person in zip(items, people, strict=True)]
    )

    assert sorted(said) == ["TwoLabellersError"] * 2 + ["stored"] * 2
    assert len(spot_check_queries.ledger_of(check).people) == 2


def test_a_label_sent_twice_at_once_is_stored_once():
    check, ada = make_sampled(2), make_person("ada")
    item = check.items.get(position=0)

    together([partial(say, item, ada, KEYS[0])] * 4)

    assert HumanLabelling.objects.count() == 1


def test_no_label_changes_after_both_are_through():
    """Ada changes a label while Ben sends his last: before it, or not at all."""
    check, ada, ben = make_sampled(2), make_person("ada"), make_person("ben")
    label(check, ada, [KEYS[0]], [KEYS[0]])
    label(check, ben, [KEYS[0]])
    first, last = check.items.order_by("position")

    changed, sent = together([partial(say, first, ada, KEYS[1]), partial(say, last, ben)])

    assert sent == "stored"
    *_, newest = HumanLabelling.objects.order_by("pk")
    assert newest.labeller == ben  # nothing came after it
    assert HumanLabelling.objects.count() == (5 if changed == "stored" else 4)


def test_a_sample_drawn_twice_at_once_is_one():
    dataset, assistant = make_dataset(), make_assistant()
    for _ in range(3):
        make_labelled(dataset, assistant, KEYS[0])
    draw = partial(
        spot_checking.draw_sample, dataset=dataset, assistant=assistant, seed="1", now=NOW, n=2
    )

    drawn = together([draw] * 4)

    assert len(set(drawn)) == SpotCheck.objects.count() == 1
    assert drawn[0].items.count() == 2
