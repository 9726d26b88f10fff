"""Workers, planners and requests that come at the same moment, in real threads."""

import asyncio
import json
from functools import partial

import pytest
from django.db import connection
from django.test import Client

from access.choices import Scope
from access.models import LogEntry
from completions import llm
from completions.choices import CallState
from completions.generation import services
from completions.models import Completion, GenerationCall
from completions.runs.services import calling
from completions.systems.services.importing import RowsRefusedError
from tests.helpers.datasets import TEXT, import_rows, row
from tests.helpers.factories import (
    NOW,
    make_context,
    make_dialogue,
    make_generation_call,
    make_system,
)
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_user
from tests.helpers.threads import together, while_uncommitted

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]
needs_writers = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="SQLite has one writer at a time"
)


@needs_writers
def test_no_call_is_claimed_twice():
    system = make_system()
    for _ in range(60):
        make_generation_call(system=system)
    claim = partial(calling.claim_calls, GenerationCall.objects.all(), limit=5, now=NOW)

    claimed = [pk for claim in together([claim] * 8) for pk in claim]

    assert len(claimed) == len(set(claimed)) == 40
    assert GenerationCall.objects.filter(state=CallState.CLAIMED, attempts=1).count() == 40


@needs_writers
def test_planners_do_not_get_in_each_others_way():
    dialogue, systems = make_dialogue(), [make_system() for _ in range(3)]
    for _ in range(4):
        make_context(dialogue=dialogue)
    plan = partial(
        services.plan_generation_calls, dataset=dialogue.dataset, systems=systems, now=NOW
    )

    assert sorted(together([plan] * 4)) == [0, 0, 0, 12]
    assert GenerationCall.objects.count() == 12


@needs_writers
def test_a_provider_is_asked_when_the_claim_is_committed(monkeypatch):
    make_generation_call(system=make_system(model_id="openai/any"))
    seen: list[str] = []

    def look() -> None:
        seen.extend(GenerationCall.objects.values_list("state", flat=True))
        connection.close()

    async def complete(_request: llm.Request) -> llm.Reply:
        await asyncio.to_thread(look)
        msg = "enough"
        raise llm.PermanentError(msg, kind="x")

    monkeypatch.setattr(llm, "complete", complete)
    services.generate_completions(clock=lambda: NOW)

    assert seen == [CallState.CLAIMED]


@pytest.fixture
def context():
    make_system(slug="ash", name="Ash")
    return make_context(key="abc")


def post(secret, text, key):
    body = json.dumps({"completions": [{"context": "abc", "system": "ash", "text": text}]})
    headers = bearing(secret) | {"Idempotency-Key": key}
    address, form = "/api/v1/completions/", "application/json"
    answer = Client().post(address, body, content_type=form, headers=headers)
    return answer.status_code, "Idempotent-Replayed" in answer.headers


def test_equal_requests_write_once_and_get_one_answer(context):
    secret = make_secret(Scope.WRITE_COMPLETIONS)

    equal = together([partial(post, secret, TEXT, "key-1") for _ in range(4)])
    other = together([partial(post, secret, f"{TEXT} {n}", "key-1") for n in range(2)])

    assert sorted(equal) == [(201, False), (201, True), (201, True), (201, True)]
    assert other == [(422, False), (422, False)]
    assert Completion.objects.count() == 1
    assert LogEntry.objects.filter(action="completions.brought_in").count() == 1


def test_whoever_comes_second_with_another_text_is_told(context):
    ada, ben = make_user(), make_user()

    def second():
        with pytest.raises(RowsRefusedError) as caught:
            import_rows(row(text="Another text, quite another."), by=ben)
        return [one.reason.value for one in caught.value.refused]

    told = while_uncommitted(partial(import_rows, row(), by=ada), second, has_to_wait=True)

    assert told == ["another completion is there"]
    assert Completion.objects.get().text == TEXT


def test_a_run_that_is_planned_meanwhile_is_seen(context):
    ada = make_user()
    system = make_system(slug="elm", name="Elm")
    plan = partial(
        services.start_generation_run, dataset=context.dataset, systems=[system], now=NOW
    )

    def second():
        with pytest.raises(RowsRefusedError):
            import_rows(row(system="elm"), by=ada)

    while_uncommitted(plan, second, has_to_wait=True)

    assert (GenerationCall.objects.count(), Completion.objects.count()) == (1, 0)
