"""Several workers and planners at once, on a database that several can write to."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from django.db import connection

from completions import llm
from completions.choices import CallState
from completions.generation import services
from completions.models import GenerationCall
from completions.runs.services import calling
from tests.helpers.factories import (
    make_context,
    make_dataset,
    make_dialogue,
    make_generation_call,
    make_system,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time"),
]


def at_once(n: int, work: Callable[[], object]) -> list[object]:
    """Run ``work`` in several threads that start together; return what each gave or raised."""
    barrier, found = threading.Barrier(n), list[object]()

    def run() -> None:
        barrier.wait()
        try:
            found.append(work())
        except Exception as error:
            found.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_no_call_is_claimed_twice(now):
    system = make_system()
    for _ in range(60):
        make_generation_call(system=system)

    claims = at_once(8, lambda: calling.claim_calls(GenerationCall.objects.all(), limit=5, now=now))

    claimed = [pk for claim in claims if isinstance(claim, list) for pk in claim]
    assert len(claims) == 8
    assert len(claimed) == len(set(claimed)) == 40
    assert GenerationCall.objects.filter(state=CallState.CLAIMED, attempts=1).count() == 40


def test_planners_do_not_get_in_each_others_way(now):
    dataset, systems = make_dataset(), [make_system() for _ in range(3)]
    for _ in range(4):
        make_context(dialogue=make_dialogue(dataset=dataset))

    added = at_once(
        4,
        lambda: services.plan_generation_calls(dataset=dataset, systems=systems, now=now),
    )

    assert sorted(added, key=str) == [0, 0, 0, 12]
    assert GenerationCall.objects.count() == 12


def test_a_provider_is_asked_when_the_claim_is_committed(now, monkeypatch):
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
    services.generate_completions(clock=lambda: now)

    assert seen == [CallState.CLAIMED]
