"""Equal and unequal requests that bring completions in at the same moment, in real threads."""

import json
from functools import partial

import pytest
from django.test import Client

from access.choices import Scope
from access.models import LogEntry
from completions.generation import services
from completions.models import Completion, GenerationCall
from completions.systems.services.importing import RowsRefusedError
from tests.helpers.datasets import TEXT, import_rows, row
from tests.helpers.factories import NOW, make_context, make_system
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_user
from tests.helpers.threads import together, while_uncommitted

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


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
