"""Ask every operation of the OpenAPI schema with odd input, and hold the answers to the schema.

Schemathesis is slow to import: that waits until something is asked.
"""
# ruff: noqa: PLC0415 -- imports that wait

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from hypothesis import HealthCheck, Phase, given, seed, settings

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
