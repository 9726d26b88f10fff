"""The frame of the API: errors in one shape, limits, its schema and its page."""

import json

import pytest
import yaml
from django.test import Client

from access.api.problems import TITLES, pointers, problem
from access.choices import Scope
from heart_site.errors import bad_request, forbidden
from ranking.api import views
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_member

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
    def test_an_unknown_address(self, client):
        assert_problem(client.get("/api/v1/nothing/"), 404, "not_found")

    def test_what_does_not_exist(self, client):
        shape = assert_problem(client.get("/api/v1/studies/none/ratings/"), 404, "not_found")

        assert shape["detail"] == "there is no study none"

    @pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
    def test_a_method_that_is_not_taken(self, method):
        assert_problem(getattr(Client(), method)(ADDRESS), 405, "method_not_allowed")

    def test_a_form_that_does_not_exist(self, client):
        answer = client.get(ADDRESS, headers={"Accept": "text/csv"})

        assert_problem(answer, 406, "not_acceptable")

    def test_a_wrong_token(self):
        answer = Client().get(ADDRESS, headers=bearing("heart_no"))

        assert_problem(answer, 401, "authentication_failed")

    def test_a_fault_of_ours_says_nothing_of_it(self, monkeypatch):
        monkeypatch.setattr(views.Ratings, "get", lambda *_a, **_k: 1 / 0)
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

    def test_of_an_address(self, site_clock):
        site_clock.turn(seconds=20)
        assert self.statuses(2) == [200, 200]
        answer = Client().get(ADDRESS)

        shape = assert_problem(answer, 429, "throttled")
        assert answer["Retry-After"] == "40"
        assert "40 seconds" in shape["detail"]

    def test_come_back_with_the_next_minute(self, site_clock):
        assert self.statuses(3) == [200, 200, 429]
        site_clock.turn(seconds=60)
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


class TestSessions:
    def test_members_read(self, client):
        client.force_login(make_member())

        assert client.get(ADDRESS).status_code == 200

    def test_no_answer_is_kept_by_caches_between(self, client):
        answer = client.get(ADDRESS)

        assert "private" in answer["Cache-Control"]
        assert {"Authorization", "Cookie"} <= set(answer["Vary"].split(", "))

    def test_what_did_not_change_is_not_sent_again(self, client):
        tag = client.get(ADDRESS)["ETag"]

        again = client.get(ADDRESS, headers={"If-None-Match": tag})

        assert (again.status_code, again.content) == (304, b"")


class TestSchema:
    @pytest.mark.parametrize(
        ("accept", "read"),
        [("application/json", json.loads), ("application/yaml", yaml.safe_load)],
        ids=["JSON", "YAML"],
    )
    def test_is_given_in_both_forms(self, client, accept, read):
        schema = read(client.get("/api/v1/schema/", headers={"Accept": accept}).content)

        assert schema["openapi"].startswith("3.1")
        assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"

    def test_every_operation_names_its_scope_and_how_it_refuses(self, client):
        answer = client.get("/api/v1/schema/", headers={"Accept": "application/json"})

        operations = [
            operation for path in answer.json()["paths"].values() for operation in path.values()
        ]
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
