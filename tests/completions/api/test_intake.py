"""Programs bring completions in: all or none, once for each key, each refusal with its place."""

import codecs
import json
import re
from pathlib import Path

import pytest
from django.test import Client

from access.choices import Scope
from access.models import IdempotencyKey, LogEntry, Member
from completions import api
from completions.models import BroughtCompletion, Completion, Hold
from tests.helpers.datasets import TEXT
from tests.helpers.factories import (
    make_completion,
    make_context,
    make_dataset,
    make_study,
    make_system,
)
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_member

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/completions/"
ROW = {"context": "abc", "system": "ash", "text": TEXT}


@pytest.fixture(autouse=True)
def context():
    make_system(slug="ash", name="Ash")
    return make_context(dataset=make_dataset(slug="talks"), key="abc")


@pytest.fixture
def secret():
    return make_secret(Scope.WRITE_COMPLETIONS)


def post(secret, *rows, key="key-1", **members):
    return send(secret, json.dumps({"completions": rows} | members), key=key)


def send(secret, body, *, key="key-1", content_type="application/json"):
    headers = bearing(secret) | ({"Idempotency-Key": key} if key else {})
    return Client().generic("POST", ADDRESS, body, content_type, headers=headers)


def refusals(answer, status=400):
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert not BroughtCompletion.objects.exists()
    assert not IdempotencyKey.objects.exists()
    return {one["pointer"]: one["detail"] for one in answer.json()["errors"]}


class TestABatch:
    def test_is_stored_and_told_row_by_row(self, secret):
        make_context(key="xyz")
        leaky = {"context": "xyz", "system": "ash", "text": "As an AI, I hear you."}

        answer = post(secret, ROW | {"model_version": "v1"}, leaky)

        first, second = Completion.objects.order_by("pk")
        assert answer.status_code == 201
        assert answer.json() == {
            "n_new": 2,
            "n_known": 0,
            "n_held": 1,
            "completions": [
                {"position": 0, "id": first.pk, "is_new": True, "held": []},
                {"position": 1, "id": second.pk, "is_new": True, "held": ["self-identification"]},
            ],
        }
        assert Hold.objects.get().completion == second

    def test_of_what_is_there_adds_nothing(self, secret):
        post(secret, ROW)

        answer = post(secret, ROW, key="key-2", dataset="talks")

        assert answer.status_code == 200
        assert (answer.json()["n_new"], answer.json()["n_known"]) == (0, 1)

    def test_says_in_lists_where_it_is_from(self, secret):
        make_completion()
        post(secret, ROW | {"source": "A paper"})
        reader = make_secret(Scope.READ_TEXTS)

        there, brought = Client().get(ADDRESS, headers=bearing(reader)).json()["results"]

        assert there["brought"] is None
        assert (brought["brought"]["way"], brought["brought"]["source"]) == ("API", "A paper")
        assert "raw_text" not in brought["brought"]


class TestAKey:
    def test_gives_the_same_answer_again_and_writes_nothing(self, secret):
        first = post(secret, ROW)
        n_logged = LogEntry.objects.count()

        again = send(secret, json.dumps({"completions": [dict(reversed(ROW.items()))]}, indent=2))

        assert (again.status_code, again.json()) == (201, first.json())
        assert "Idempotent-Replayed" not in first.headers
        assert again["Idempotent-Replayed"] == "true"
        assert (Completion.objects.count(), LogEntry.objects.count()) == (1, n_logged)

    @pytest.mark.parametrize("key", ["", "a b", "a" * 201], ids=["none", "a space", "too long"])
    def test_has_to_be_there(self, secret, key):
        found = refusals(post(secret, ROW, key=key))

        assert "such as a random UUID" in found["/Idempotency-Key"]


class TestRefusals:
    def test_name_every_row_with_field_and_what_to_do(self, secret, context):
        make_completion(context=context, system=make_system(slug="elm", name="Elm"))
        rows = [
            ROW,
            {"context": "none", "system": "none", "text": 3},
            ROW | {"system": "elm"},
            ROW | {"context": "none", "a/b": 1},
            "a text",
        ]

        found = refusals(post(secret, *rows))

        assert list(found) == [
            "/completions/1/text",
            "/completions/2",
            "/completions/3/a~1b",
            "/completions/4",
        ]
        assert found["/completions/1/text"] == "Is not a text. Mend the field."
        assert found["/completions/2"] == (
            "Another completion is there. Take the row out: what is there is never replaced."
        )

    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ("[]", ""),
            ("{}", "/completions"),
            ('{"completions": []}', "/completions"),
            ('{"completions": [{}], "\\ud800": 1}', "/?"),
            ('{"completions": [{}], "dataset": "none"}', "/dataset"),
            ('{"completions": [{}], "dataset": "\\ud800"}', "/dataset"),
        ],
        ids=["list", "nothing", "no row", "a member", "a dataset", "half a sign"],
    )
    def test_of_what_is_no_batch(self, secret, body, pointer):
        assert pointer in refusals(send(secret, body))

    @pytest.mark.parametrize(
        "body",
        [
            "{",
            "[" * 100_000,
            '{"completions": NaN}',
            b"\xff",
            '{"completions": [], "completions": [{}]}',
            '{"completions": [{"text": "a", "\\u0074ext": "b"}]}',
        ],
        ids=["cut off", "too deep", "no number", "no UTF-8", "two lists", "two texts in a row"],
    )
    def test_of_what_is_no_json(self, secret, body):
        answer = send(secret, body)

        assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")

    @pytest.mark.parametrize("charset", ["zlib_codec", "bz2_codec", "hex_codec", "utf-16"])
    def test_reads_utf_8_whatever_charset_is_named(self, secret, charset):
        packed = send(
            secret,
            codecs.encode(b" " * 1_000_000, "zlib_codec"),
            content_type=f"application/json; charset={charset}",
        )
        plain = send(secret, "{}", content_type=f"application/json; charset={charset}")

        assert (packed.status_code, packed.json()["code"]) == (400, "parse_error")
        assert "/completions" in refusals(plain)

    def test_of_another_type(self, secret):
        assert send(secret, "a,b", content_type="text/csv").status_code == 415

    def test_of_too_much(self, secret, monkeypatch, settings):
        monkeypatch.setattr(api, "MOST_ROWS", 1)
        rows = post(secret, ROW, ROW)
        settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 20

        for answer in (rows, post(secret, ROW)):
            assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert not Completion.objects.exists()


class TestWhoMay:
    @pytest.mark.parametrize(
        ("scopes", "study"),
        [
            ([Scope.WRITE_JUDGMENTS], ""),
            ([Scope.READ_TEXTS, Scope.READ_STUDIES], ""),
            ([Scope.WRITE_COMPLETIONS], "demo"),
        ],
        ids=["a rater's", "a reader's", "one study's"],
    )
    def test_no_token_that_is_not_for_it(self, scopes, study):
        make_study(slug="demo")

        answer = post(make_secret(*scopes, study=study), ROW)

        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
        assert not Completion.objects.exists()

    def test_no_token_of_an_analyst_and_nobody_without_one(self, secret, client):
        Member.objects.update(role="ANALYST")
        client.force_login(make_member())

        signed_in = client.post(ADDRESS, {"completions": [ROW]}, content_type="application/json")

        assert post(secret, ROW).status_code == signed_in.status_code == 403
        assert Client().post(ADDRESS).status_code == 401


PAGE = (Path(__file__).resolve().parents[3] / "docs/api.md").read_text(encoding="utf-8")
((TOLD, KEY, SENT, ANSWERED),) = re.findall(
    r'curl "https://[^/]+(/api/[^"]+)" .*?Idempotency-Key: ([^"]+)" -d \'\n(.*?)\'\n(.*?)```',
    PAGE,
    re.DOTALL,
)


def test_the_site_takes_the_documented_example_and_answers_as_the_page_says(context):
    for row in json.loads(SENT)["completions"]:
        make_context(dataset=context.dataset, key=row["context"])
    headers = bearing(make_secret(Scope.WRITE_COMPLETIONS)) | {"Idempotency-Key": KEY}

    answer = Client().post(TOLD, SENT, content_type="application/json", headers=headers)

    said, found = json.loads(ANSWERED), answer.json()
    assert answer.status_code == 201
    for one in (said, found):
        for row in one["completions"]:
            assert isinstance(row.pop("id"), int)  # the page has those of an empty site
    assert found == said
