"""A pool of writers at its full size: every dialogue is filled, in real threads."""

from collections import Counter
from functools import partial

import pytest
from django.db import connection

from completions.choices import LeaseOutcome
from completions.models import Completion, Context, Message, WritingLease
from completions.writers.assigning import ADVERSARIAL, REGULAR
from completions.writers.services.leasing import ContextTakenError, release_expired_writing_leases
from tests.helpers.factories import HOUR, NOW, make_context, make_dataset, make_writer
from tests.helpers.threads import LONG_S, together
from tests.helpers.written import ACCEPT, decide, lease_next, send, skip

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]

LONG_AGO = NOW - 3 * HOUR  # a lease from then has run out by now
SUPPORTERS = 12
DIALOGUES = 300
N_ADVERSARIAL = 20
EACH = 3
REVIEWERS = 4


@pytest.fixture
def full_size():
    """A dataset of three hundred dialogues that want three messages each."""
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer at a time: this crowd is for PostgreSQL")
    dataset = make_dataset(completions_per_context=EACH)
    for n in range(DIALOGUES):
        stratum = ADVERSARIAL if n < N_ADVERSARIAL else REGULAR
        make_context(dataset=dataset, stratum=stratum, slots_left=EACH)
    return dataset


def write_skip_and_walk_away(writer):
    """Write until nothing is left, and return for how many dialogues.

    Some dialogues are skipped; from some the writer walks away, and half of those are sent too
    late.
    """
    n = 0
    while (lease := lease_next(writer, LONG_AGO if walks_away(n) else NOW)) is not None:
        if walks_away(n):
            release_expired_writing_leases(now=NOW)
        if n % 13 == 12:
            skip(lease)
        elif not walks_away(n) or n % 2 == 0:
            send_if_wanted(lease, f"I hear how much {n} weighs on you.")
        n += 1
    return n


def walks_away(n):
    return n % 17 == 16


def send_if_wanted(lease, text):
    try:
        send(lease, text)
    except ContextTakenError:
        assert lease.issued_at == LONG_AGO, "only who is late may find the dialogue filled"


def accept(messages):
    for message in messages:
        decide(message, ACCEPT)


@pytest.mark.full  # a smaller crowd stands in test_writing_races
def test_twelve_supporters_fill_every_dialogue_three_times_within_the_bound_and_never_twice(
    full_size,
):
    writers = [make_writer(dataset=full_size) for _ in range(SUPPORTERS)]

    together([partial(write_skip_and_walk_away, writer) for writer in writers], timeout_s=LONG_S)
    # A dialogue that came back after others had found nothing waits for whoever comes again.
    while sum(write_skip_and_walk_away(writer) for writer in writers):
        continue
    messages = list(Message.objects.order_by("pk"))
    reviews = [partial(accept, messages[start::REVIEWERS]) for start in range(REVIEWERS)]
    together(reviews, timeout_s=LONG_S)

    leases = WritingLease.objects.values_list("context", "writer", "outcome", "context__stratum")
    outcomes = Counter(outcome for _dialogue, _writer, outcome, _stratum in leases)
    assert outcomes[LeaseOutcome.SUBMITTED] == DIALOGUES * EACH == 900
    assert outcomes[LeaseOutcome.SKIPPED] > 0
    assert outcomes[LeaseOutcome.EXPIRED] > 0
    assert outcomes.keys() == {"SUBMITTED", "SKIPPED", "EXPIRED"}, "no claim is left open"
    had = Counter((dialogue, writer) for dialogue, writer, _outcome, _stratum in leases)
    assert set(had.values()) == {1}, "nobody had a dialogue twice, whatever became of it"
    assert set(Context.objects.values_list("slots_left", flat=True)) == {0}
    written = Completion.objects.values_list("context", "writer")
    assert len(written) == DIALOGUES * EACH
    assert set(Counter(dialogue for dialogue, _writer in written).values()) == {EACH}
    assert set(Counter(written).values()) == {1}, "three messages are by three people"
    sent = Counter(
        (writer, stratum)
        for _dialogue, writer, outcome, stratum in leases
        if outcome == LeaseOutcome.SUBMITTED
    )
    for writer in writers:
        hostile, others = sent[writer.pk, ADVERSARIAL], sent[writer.pk, REGULAR]
        assert 100 * hostile <= full_size.most_adversarial * (hostile + others)
