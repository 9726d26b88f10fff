"""The frame of the API: errors in one shape, limits, its schema and page, requests under a key.

The example in docs/api.md is what the site answers.
"""

import datetime as dt
import json
import re
from pathlib import Path

import pytest
import yaml
from django.test import Client, override_settings

from access.api.problems import TITLES, pointers, problem
from access.api.stored_answers import (
    KeyTakenError,
    StoredAnswer,
    answer_once,
    forget_idempotency_keys,
)
from access.choices import Scope
from access.log import record
from access.models import IdempotencyKey, LogEntry
from access.tasks import forget_idempotency_keys as tick
from annotation.studies.rubric import load_rubric
from heart_site.views import bad_request, forbidden
from ranking import api
from ranking.choices import EvaluatorPool
from tests.helpers.factories import (
    NOW,
    digest,
    make_context,
    make_dialogue,
    make_judge,
    make_rater,
    make_study,
    make_system,
)
from tests.helpers.factories_of_site import (
    bearing,
    make_idempotency_key,
    make_secret,
    make_token_row,
)
from tests.helpers.factories_written_once import make_member
from tests.helpers.judged import fit_one, judge_all_pairs
from tests.helpers.rated import close

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/problems/"
MEMBERS = {"type", "title", "status", "code", "detail", "request_id"}


def assert_problem(answer, status, code):
    shape = json.loads(answer.content)
    assert answer.status_code == status == shape["status"]
    assert answer["Content-Type"] == "application/problem+json"
    assert set(shape) - {"errors"} == MEMBERS
    assert (shape["code"], shape["type"]) == (code, f"/api/v1/problems/#{code}")
    assert shape["title"]
    return shape


class TestErrors:
    @pytest.mark.parametrize(
        ("method", "address", "headers", "status", "code"),
        [
            ("GET", "/api/v1/nothing/", {}, 404, "not_found"),
            ("POST", ADDRESS, {}, 405, "method_not_allowed"),
            ("GET", ADDRESS, {"Accept": "text/csv"}, 406, "not_acceptable"),
            ("POST", "/api/v1/schema/", {}, 405, "method_not_allowed"),
            ("GET", "/api/v1/schema/", {"Accept": "text/csv"}, 406, "not_acceptable"),
            ("GET", ADDRESS, bearing("heart_no"), 401, "authentication_failed"),
        ],
    )
    def test_what_is_refused_has_one_shape(self, client, method, address, headers, status, code):
        assert_problem(client.generic(method, address, headers=headers), status, code)

    def test_what_does_not_exist_is_named(self, client):
        shape = assert_problem(client.get("/api/v1/studies/none/ratings/"), 404, "not_found")

        assert shape["detail"] == "there is no study none"

    def test_a_fault_of_ours_says_nothing_of_it(self, monkeypatch):
        monkeypatch.setattr(api.Ratings, "get", lambda *_a, **_k: 1 / 0)
        client = Client(raise_request_exception=False)

        answer = client.get("/api/v1/studies/any/ratings/")

        shape = assert_problem(answer, 500, "error")
        assert "division" not in json.dumps(shape)
        assert shape["request_id"] == answer["X-Request-ID"]

    def test_what_django_refuses_before_any_view(self, rf):
        request = rf.get(ADDRESS, HTTP_ACCEPT="text/html")
        request.META["HEART_REQUEST_ID"] = "abc-12345678"

        assert_problem(bad_request(request, Exception()), 400, "invalid")
        assert_problem(forbidden(request, Exception()), 403, "permission_denied")

    def test_pages_for_people_stay_pages(self, client):
        answer = client.get("/nothing/")

        assert answer.status_code == 404
        assert answer["Content-Type"].startswith("text/html")

    def test_every_code_has_a_meaning(self, client):
        assert client.get(ADDRESS).json() == TITLES

    def test_pointers_lead_to_what_is_wrong(self):
        found = {"rows": [{}, {"a/b~": ["no"]}], "non_field_errors": ["both", "neither"]}

        assert list(pointers(found)) == [
            {"pointer": "/rows/1/a~1b~0", "detail": "no"},
            {"pointer": "", "detail": "both"},
            {"pointer": "", "detail": "neither"},
        ]

    def test_a_status_without_a_code_of_its_own_has_a_title(self):
        assert problem(418)["code"] == "error"
        assert problem(413)["code"] == "too_large"


class TestLimits:
    @pytest.fixture(autouse=True)
    def _few(self, settings, site_clock):  # windows are whole minutes
        settings.HEART_API_RATES = {"anonymous": 2, "read": 3, "write": 1}

    def statuses(self, n, client=None, **headers):
        client = client or Client()
        return [client.get(ADDRESS, headers=headers).status_code for _ in range(n)]

    def test_of_an_address_end_with_the_minute(self, site_clock):
        site_clock.turn(seconds=20)
        assert self.statuses(2) == [200, 200]
        answer = Client().get(ADDRESS)

        shape = assert_problem(answer, 429, "throttled")
        assert answer["Retry-After"] == "40"
        assert "40 seconds" in shape["detail"]
        site_clock.turn(seconds=40)
        assert self.statuses(1) == [200]

    def test_of_a_token_are_its_own(self):
        first, second = (make_secret(Scope.READ_STUDIES) for _ in range(2))
        assert self.statuses(4, **bearing(first)) == [200, 200, 200, 429]
        assert self.statuses(1, **bearing(second)) == [200]
        assert self.statuses(1) == [200]

    def test_of_a_scope_are_its_own(self):
        secret = make_secret(Scope.READ_STUDIES, Scope.WRITE_JUDGMENTS)

        assert self.statuses(4, **bearing(secret))[-1] == 429
        answer = Client().post(ADDRESS, headers=bearing(secret))
        assert answer.status_code == 405

    def test_of_a_member_are_above_those_of_strangers(self, client):
        client.force_login(make_member())

        assert self.statuses(4, client) == [200, 200, 200, 429]

    def test_a_proxy_is_believed_only_where_there_is_one(self):
        forged = [{"X-Forwarded-For": f"10.0.0.{n}"} for n in range(3)]

        assert [Client().get(ADDRESS, headers=one).status_code for one in forged][-1] == 429


def test_no_answer_is_kept_by_caches_between(client):
    answer = client.get(ADDRESS)

    assert "private" in answer["Cache-Control"]
    assert {"Authorization", "Cookie"} <= set(answer["Vary"].split(", "))


class TestSchema:
    def get(self, client, accept):
        return client.get("/api/v1/schema/", headers={"Accept": accept})

    def test_is_given_in_both_forms(self, client):
        schema = self.get(client, "application/json").json()

        assert yaml.safe_load(self.get(client, "application/yaml").content) == schema
        assert schema["openapi"].startswith("3.1")
        assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"

    def test_every_operation_names_its_scope_and_how_it_refuses(self, client):
        paths = self.get(client, "application/json").json()["paths"]

        operations = [operation for path in paths.values() for operation in path.values()]
        assert len(operations) >= 4
        for operation in operations:
            assert operation["x-scope"] in Scope.values
            assert {"401", "403", "404", "429"} <= set(operation["responses"])

    def test_the_page_runs_nothing_inline_and_nothing_from_elsewhere(self, client):
        page = client.get("/api/v1/docs/").content.decode()

        assert "https://" not in page.replace("https://www.w3.org", "")
        assert "<script src=" in page
        assert "<script>" not in page
        assert 'src="/static/drf_spectacular_sidecar/' in page


DAY = dt.timedelta(days=1)
SECOND = dt.timedelta(seconds=1)


class BrokenError(Exception):
    """Something went wrong in the middle."""


@pytest.fixture
def token():
    return make_token_row()


def act():
    record(action="test.acted", subject="test", now=NOW)
    return StoredAnswer(201, {"n": n_acts()})


def fail():
    act()
    raise BrokenError


def n_acts():
    return LogEntry.objects.filter(action="test.acted").count()


def ask(token, *, key="k", body="a", now=NOW, does=act):
    return answer_once(token=token, key=key, request_hash=body * 64, now=now, act=does)


class TestAnsweringOnce:
    def test_acts_and_keeps_the_answer(self, token):
        assert ask(token) == StoredAnswer(201, {"n": 1})
        assert ask(token, now=NOW + DAY - SECOND) == StoredAnswer(201, {"n": 1}, is_replayed=True)
        assert n_acts() == 1

    def test_refuses_the_key_for_something_else(self, token):
        ask(token)

        with pytest.raises(KeyTakenError):
            ask(token, body="b")
        assert n_acts() == 1

    def test_forgets_the_key_with_what_failed(self, token):
        with pytest.raises(BrokenError):
            ask(token, does=fail)

        assert (n_acts(), IdempotencyKey.objects.count()) == (0, 0)
        assert not ask(token, body="b").is_replayed

    def test_a_key_is_its_tokens(self, token):
        ask(token)

        assert not ask(make_token_row(), body="b").is_replayed
        assert not ask(token, key="another", body="b").is_replayed

    def test_a_key_ends_with_its_day_though_nobody_deleted_it(self, token):
        ask(token)

        assert not ask(token, body="b", now=NOW + DAY).is_replayed
        assert IdempotencyKey.objects.get().made_at == NOW + DAY


class TestForgetting:
    def test_deletes_what_is_a_day_old(self, monkeypatch):
        old = [make_idempotency_key(made_at=NOW - DAY) for _ in range(3)]
        kept = make_idempotency_key(made_at=NOW - DAY + SECOND)
        monkeypatch.setattr("access.api.stored_answers.BATCH", 2)

        assert forget_idempotency_keys(now=NOW) == len(old)
        assert forget_idempotency_keys(now=NOW) == 0
        assert IdempotencyKey.objects.get() == kept

    def test_is_done_by_a_tick(self):
        make_idempotency_key(made_at=NOW - DAY)

        tick()

        assert not IdempotencyKey.objects.exists()


PAGE = (Path(__file__).resolve().parents[3] / "docs/api.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r'```console\n\$ curl "https://[^/]+(/api/[^"]+)"\n(.*?)```', PAGE, re.DOTALL)
VERDICTS = [1, 1, -1, 2, 1, -1, 2, 1, -1, 1, -2, 2]  # one per source dialogue
# They name this code and these rows: their form is checked, and their place.
NAMES = {
    "fit": r"fit-[0-9a-f]{16}",
    "inputs_hash": "[0-9a-f]{64}",
    "protocol_hash": "[0-9a-f]{64}",
    "request_id": "[0-9a-f]{32}",
    "code_version": "numerics-[0-9a-f]{16}",
}


@pytest.fixture(scope="module")
def documented(module_rows) -> None:
    rubric = load_rubric("heart-1").content()
    study = make_study(slug="kind-words", seed="kind-words-1", content={"rubric": rubric})
    systems = [make_system(slug="ash", name="Ash"), make_system(slug="beech", name="Beech")]
    rater, judge = make_rater(study=study), make_judge(name="Judge Oak")
    for number, verdict in enumerate(VERDICTS):
        dialogue = make_dialogue(dataset=study.dataset, content_hash=digest(f"example {number}"))
        context = make_context(dialogue=dialogue)
        judge_all_pairs(study, context, systems, lambda *_, said=verdict: said, rater, judge)
    with override_settings(HEART_BOOTSTRAP_REPLICATES=1000):
        fit_one(close(study), NOW + dt.timedelta(hours=1), EvaluatorPool.LLM)


def pairs(value, path=()):
    """Yield each leaf of a JSON value with its path."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in items:
            yield from pairs(one, (*path, key))
    else:
        yield path, value


@pytest.mark.parametrize(("address", "printed"), EXAMPLES, ids=["an answer", "an error"])
def test_the_site_answers_as_the_page_says(address, printed, client, documented):
    answer = dict(pairs(client.get(address).json()))
    wanted = dict(pairs(json.loads(printed)))

    assert list(wanted) == list(answer)
    for path, value in wanted.items():
        if path[-1] in NAMES:
            assert re.fullmatch(NAMES[path[-1]], value)
            assert re.fullmatch(NAMES[path[-1]], answer[path])
        elif isinstance(value, float):
            assert answer[path] == pytest.approx(value, abs=0.005)
        else:
            assert answer[path] == value
