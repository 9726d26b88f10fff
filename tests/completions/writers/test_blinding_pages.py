"""Whoever reviews messages is not told who wrote them, on any page, unless they ask (ADR-0035)."""

import datetime as dt
import re

import pytest
from django.apps import apps
from django.urls import reverse

from access.models import LogEntry
from completions.choices import Background, MessageState
from completions.leaks import queries
from completions.leaks import services as leak_services
from completions.models import Message
from completions.urls import WRITING
from tests.completions.writers.desk import SENT
from tests.heart_site.blinding.hidden import leaks
from tests.helpers.factories import NOW, make_context, make_dataset, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_message, make_revision
from tests.helpers.written import ACCEPT, NOTE, RETURN, WORDS, decide, make_read

pytestmark = pytest.mark.django_db

PEOPLE = ("W0MBATLING", "QU0KKALAND")
SECRETS = ["w0mbatling", "qu0kkaland", "bandicoot", "peer supporter", "clinician", "ibex-file"]
NAMES = {"messages", "message", "accept_many", "decide", "author", "freeze"}
ODD = dt.datetime(2026, 1, 7, 11, 47, 13, 271828, tzinfo=dt.UTC)


@pytest.fixture
def dataset():
    return make_dataset(slug="talks", name="Talks", offers_own_systems=True)


@pytest.fixture
def messages(dataset):
    """Messages of two people in every state, one like another and one with an own system."""
    people = [
        make_writer(
            dataset=dataset,
            code=code,
            email=f"{code.lower()}@bandicoot.example",
            background=background,
            has_own_system=True,
        )
        for code, background in zip(PEOPLE, (Background.PEER, Background.CLINICIAN), strict=True)
    ]
    elsewhere = make_writer(dataset=dataset, state="ELSEWHERE", imported_as="ibex-file")
    found = [make_read(dataset, writer=writer) for writer in (*people, people[0], elsewhere)]
    found += [
        make_read(dataset, writer=people[0], state=state)
        for state in (MessageState.RETURNED, MessageState.REJECTED, MessageState.LAPSED)
    ]
    copy = {"kind": "near-duplicate", "of": "own", "contained": 0.9, "matched": "hard to come"}
    make_revision(message=found[2], text="Twice.", flags=[{**copy, "message": found[0].pk}])
    decide(found[2], ACCEPT)
    return found


def walk(client, messages):
    """Visit every address on messages, also with what is refused, and yield the answers."""
    yield from (client.get(f"{address('messages')}?state={state}") for state in ("", "ALL"))
    for message in messages:
        yield client.get(address("message", message.pk))
        yield client.get(address("author", message.pk))
        for verdict in ("", "RETURNED"):
            yield client.post(address("decide", message.pk), {"verdict": verdict})
    ticked = {"messages": [f"{one.pk}-9-0" for one in messages]}  # no message has that version
    yield client.post(address("accept_many"), ticked)
    yield client.get(address("messages"))
    seen = {"version": 1, "decisions": 0}
    for message, verdict in zip(messages, ("ACCEPTED", "RETURNED", "RETURNED"), strict=False):
        posted = {"verdict": verdict, "note": NOTE, **seen}
        yield client.post(address("decide", message.pk), posted, follow=True)
        yield client.get(address("message", message.pk))
    for act in ("freeze", "thaw"):
        yield client.post(address("freeze"), {"act": act, "is_sure": "on"})
        yield client.get(address("messages"))


def address(name, *keys):
    return reverse(f"writing:{name}", args=["talks", *keys])


def test_every_page_holds_no_pseudonym_address_or_background(staff, messages):

    answers = list(walk(staff, messages))

    found = {
        (answer.request["PATH_INFO"], secret)
        for answer in answers
        for secret in leaks(answer, SECRETS)
    }
    assert found == set()
    assert {answer.status_code for answer in answers} == {200, 302, 405, 409, 422}
    assert {one.wsgi_request.resolver_match.url_name for one in answers} == NAMES
    assert {pattern.name for pattern in WRITING if is_of_messages(pattern)} == NAMES
    assert Message.objects.filter(state=MessageState.ACCEPTED).count() == 2


def is_of_messages(pattern):
    return re.search("/messages/|/freeze/", str(pattern.pattern)) is not None


def test_the_page_of_what_is_held_names_no_single_supporter(staff, dataset, messages):
    found = queries.find_new_leaks(dataset.pk)
    assert not found
    make_revision(message=messages[0], text="As an AI, I hear all of it.")
    decide(messages[0], ACCEPT)
    leak_services.hold_leaks(dataset=dataset, found=queries.find_new_leaks(dataset.pk), now=NOW)

    page = staff.get(reverse("contexts:held", args=["talks"]))

    assert "A supporter" in page.content.decode()
    assert leaks(page, SECRETS) == []


def test_who_asks_is_told_and_this_is_what_the_guard_would_find(staff, messages):

    told = staff.post(address("author", messages[0].pk))

    assert set(leaks(told, SECRETS)) == {"w0mbatling", "peer supporter"}
    assert LogEntry.objects.filter(action="message.author_shown").count() == 1


class TestWhatElseAnAdminSees:
    """Beside the page of a message it must not tell who wrote the message either."""

    @pytest.fixture
    def odd_times(self, dataset):
        """A message whose times are found nowhere else."""
        lease = make_writing_lease(
            context=make_context(dataset=dataset, key="ctx-quokka"),
            writer=make_writer(dataset=dataset, email="a@example.org"),
            draft="a draft of a quokka",
            issued_at=ODD,
            expires_at=ODD + dt.timedelta(hours=2),
            **SENT | {"closed_at": ODD},
        )
        message = make_message(lease=lease, sent_at=ODD, changed_at=ODD)
        make_revision(message=message, written_at=ODD)
        decide(message, RETURN, now=ODD)
        return lease

    @pytest.mark.parametrize("page", ["pool", "writer"])
    def test_pages_on_people_hold_no_time_of_a_message(self, staff, odd_times, page):
        keys = [odd_times.writer.code] if page == "writer" else []

        shown = staff.get(address(page, *keys)).content.decode()

        assert odd_times.writer.code in shown
        assert ODD.strftime("%H:%M") not in shown

    @pytest.mark.parametrize("table", ["writinglease", "writermail", "completion"])
    def test_tables_set_no_writer_beside_a_dialogue_a_text_or_a_time(
        self, admin_client, odd_times, table
    ):
        decide(make_read(odd_times.writer.dataset, writer=odd_times.writer), ACCEPT)
        row = apps.get_model("completions", table).objects.latest("pk")
        addresses = [
            reverse(f"admin:completions_{table}_changelist"),
            reverse(f"admin:completions_{table}_change", args=[row.pk]),
        ]

        pages = [admin_client.get(one).content.decode() for one in addresses]

        for page in pages:
            is_named = odd_times.writer.code in page
            beside = ("ctx-quokka", "quokka", NOTE, WORDS, ODD.strftime("%H:%M"), "11:47 a.m.")
            assert [one for one in beside if is_named and one in page] == []
        assert any(odd_times.writer.code in page for page in pages) == (table != "completion")
