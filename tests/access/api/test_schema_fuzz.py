"""Every operation of the schema is asked with odd input, and its answers are held to the schema.

It is asked as nobody, with a rater's token and with one of the team; `make fuzz-api` asks more.
Schemathesis is slow to import: that waits until something is asked.
"""
# ruff: noqa: PLC0415 -- imports that wait

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, seed, settings

from access.api.permissions import Scoped
from access.choices import Scope
from completions.models import Context
from ranking.api import Judgments
from tests.helpers.factories import make_system
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_fit, make_rating
from tests.helpers.judged import make_judged_study
from tests.helpers.released import make_kept_release

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("fuzz")]
FEW = 2
MANY = int(os.environ.get("HEART_FUZZ_EXAMPLES", "8"))
NUMBER = int(os.environ.get("HEART_FUZZ_SEED", "20260105"))
SCHEMA = "/api/v1/schema/?format=json"
PLAIN = {"Accept-Encoding": "identity"}  # the client of the tests unpacks nothing
REFUSED = {401, 403}


@dataclass(frozen=True)
class Asker:
    """Who asks: with which header, which scopes, and of which one study."""

    headers: Mapping[str, str]
    scopes: Collection[str] = ()
    is_stranger: bool = False

    def may(self, operation: Mapping[str, Any]) -> bool:
        """Say whether the schema itself lets this one in."""
        if self.is_stranger:
            return bool(operation["x-public"])
        return operation["x-scope"] in self.scopes


@dataclass(frozen=True)
class Plan:
    """How much is asked, and what exists: by the names of parameters in addresses."""

    n_examples: int
    number: int
    existing: Mapping[str, str]


@cache
def load() -> Any:
    """Read the schema from the site."""
    import schemathesis

    return schemathesis.openapi.from_wsgi(SCHEMA, WSGIHandler())


def failures(schema: Any, asker: Asker, plan: Plan) -> Iterator[str]:
    """Yield what is wrong with each operation, as one who asks sees it."""
    from schemathesis.core.failures import Failure, FailureGroup

    for found in schema.get_all_operations():
        operation = found.ok()
        try:
            _ask(operation, asker, plan)
        except (Failure, FailureGroup, AssertionError) as error:
            yield f"{operation.label}: {error}"


def _checks() -> list[Any]:
    from schemathesis import checks
    from schemathesis.specs.openapi import checks as openapi_checks

    return [
        checks.not_a_server_error,
        openapi_checks.status_code_conformance,
        openapi_checks.content_type_conformance,
        openapi_checks.response_headers_conformance,
        openapi_checks.response_schema_conformance,
    ]


def _ask(operation: Any, asker: Asker, plan: Plan) -> None:
    @seed(plan.number)
    @settings(
        max_examples=plan.n_examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def asked(case: Any) -> None:
        _ask_once(case, operation, asker, is_there=False)
        # Both ways of every case: what is drawn depends on all code that was loaded before.
        case.path_parameters = {
            name: plan.existing.get(name, value) for name, value in case.path_parameters.items()
        }
        known = set(case.path_parameters or ()) <= set(plan.existing)
        _ask_once(case, operation, asker, is_there=known)

    asked()


def _ask_once(case: Any, operation: Any, asker: Asker, *, is_there: bool) -> None:
    headers = {**(case.headers or {}), **PLAIN, **asker.headers}
    response = case.call(headers=headers)
    case.validate_response(response, checks=_checks())
    _within(operation.definition.raw, response.status_code, asker, is_there=is_there)


def _within(operation: Mapping[str, Any], status: int, asker: Asker, *, is_there: bool) -> None:
    """Hold the answer to the scope that the schema names."""
    if asker.may(operation):
        assert status not in REFUSED, f"{status} although the scope is enough"
    elif is_there:
        assert status in REFUSED, f"{status} beyond the scope {operation['x-scope']}"
    else:
        assert status >= 400, f"{status} beyond the scope {operation['x-scope']}"


@pytest.fixture(autouse=True)
def _keep_the_connection():
    """What is asked over WSGI would close the connection that the test's transaction is in."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def plan(settings, tmp_path) -> Plan:
    settings.HEART_API_RATES = dict.fromkeys(("anonymous", "read", "write"), 10**9)
    ash, beech = make_system(slug="ash", name="Ash"), make_system(slug="beech", name="Beech")
    study = make_judged_study(systems=[ash, beech], with_llm=True, n_dialogues=2)
    fit = make_fit(study=study)
    make_rating(fit=fit, system=ash)
    context = Context.objects.values_list("key", flat=True)[0]
    there = {"study": study.slug, "slug": "ash", "key": context, "path": "README.md"}
    settings.HEART_DATA_DIR = tmp_path
    return Plan(FEW, NUMBER, there | {"release": make_kept_release(study).key})


@pytest.fixture
def askers() -> dict[str, Asker]:
    rater = make_secret(Scope.WRITE_JUDGMENTS)
    return {
        "nobody": Asker({}, is_stranger=True),
        "rater": Asker(bearing(rater), {Scope.WRITE_JUDGMENTS}),
        "team": Asker(bearing(make_secret(*Scope)), set(Scope)),
    }


@pytest.mark.parametrize("n", [FEW, pytest.param(MANY, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["nobody", "rater", "team"])
def test_every_operation_answers_as_the_schema_says(name, n, askers, plan):
    assert list(failures(load(), askers[name], replace(plan, n_examples=n))) == []


def test_a_door_left_open_is_found_and_named(askers, plan, monkeypatch):
    schema = load().include(path_regex="/studies/(|{study}/judgments/)$")
    honest, quick = Scoped.has_permission, replace(plan, n_examples=4)
    assert list(failures(schema, askers["rater"], quick)) == []
    monkeypatch.setattr(
        Scoped,
        "has_permission",
        lambda self, request, view: isinstance(view, Judgments) or honest(self, request, view),
    )

    (found,) = failures(schema, askers["rater"], quick)

    assert found.startswith("GET /api/v1/studies/{study}/judgments/:")
    assert "beyond the scope read:judgments" in found
