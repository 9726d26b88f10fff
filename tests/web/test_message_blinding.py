"""Whoever reviews messages is not told who wrote them, on any page, unless they ask (ADR-0035)."""

import re

import pytest
from django.urls import reverse

from completions import hold_selectors, services, writing_urls
from completions.choices import Background, MessageState, MessageVerdict
from completions.models import LogEntry, Message
from tests.factories import NOW, make_dataset, make_writer
from tests.factories_of_writing import make_revision
from tests.reviewable_messages import make_read, staff
from tests.web.hidden import leaks

pytestmark = pytest.mark.django_db

PEOPLE = ("W0MBATLING", "QU0KKALAND")
SECRETS = ["w0mbatling", "qu0kkaland", "bandicoot", "peer supporter", "clinician", "ibex-file"]
NAMES = {"messages", "message", "decide", "author", "freeze"}
NOTE = "Please leave the advice out."


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
    accept(found[2])
    return found


def accept(message):
    services.decide_message(
        message=message, verdict=MessageVerdict.ACCEPTED, note="", by=None, now=NOW
    )


def walk(client, messages):
    """Visit every address on messages, also with what is refused, and yield the answers."""
    yield from (client.get(f"{address('messages')}?state={state}") for state in ("", "ALL"))
    for message in messages:
        yield client.get(address("message", message.pk))
        yield client.get(address("author", message.pk))
        for verdict in ("", "RETURNED"):
            yield client.post(address("decide", message.pk), {"verdict": verdict})
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


class TestEveryPage:
    def test_holds_no_pseudonym_address_or_background(self, messages):
        client, _ = staff()

        answers = list(walk(client, messages))

        found = {
            (answer.request["PATH_INFO"], secret)
            for answer in answers
            for secret in leaks(answer, SECRETS)
        }
        assert found == set()
        assert {answer.status_code for answer in answers} == {200, 302, 405, 409, 422}
        assert {one.wsgi_request.resolver_match.url_name for one in answers} == NAMES
        assert {
            pattern.name for pattern in writing_urls.urlpatterns if is_of_messages(pattern)
        } == NAMES
        assert Message.objects.filter(state=MessageState.ACCEPTED).count() == 2


def is_of_messages(pattern):
    return re.search("/messages/|/freeze/", str(pattern.pattern)) is not None


class TestThePageOfWhatIsHeld:
    def test_names_no_single_supporter(self, dataset, messages):
        found = hold_selectors.find_new_leaks(dataset.pk)
        assert not found
        make_revision(message=messages[0], text="As an AI, I hear all of it.")
        accept(messages[0])
        services.hold_leaks(
            dataset=dataset, found=hold_selectors.find_new_leaks(dataset.pk), now=NOW
        )

        page = staff()[0].get(reverse("contexts:held", args=["talks"]))

        assert "A supporter" in page.content.decode()
        assert leaks(page, SECRETS) == []


class TestWhoAsks:
    def test_is_told_and_this_is_what_the_guard_would_find(self, messages):
        client, _ = staff()

        told = client.post(address("author", messages[0].pk))

        assert set(leaks(told, SECRETS)) == {"w0mbatling", "peer supporter"}
        assert LogEntry.objects.filter(action="message.author_shown").count() == 1
