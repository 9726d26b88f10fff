"""What the OpenAPI schema says of every operation: its scope, its errors, who may ask."""

from typing import Any

from django.conf import settings
from drf_spectacular.openapi import AutoSchema

from access.api.permissions import scope_of
from access.api.problems import CONTENT_TYPE

METHODS = ("get", "post", "put", "patch", "delete")
ERRORS = {
    "400": "What was sent is not valid",
    "401": "This needs a valid token",
    "403": "The token's scopes or its owner's role are not enough",
    "404": "There is no such thing",
    "405": "Not with this method",
    "406": "The answer exists in no such form",
    "429": "Too many requests; Retry-After says when to come back",
}
WRITING_ERRORS = {
    "409": "It does not fit what is there already",
    "413": "Too much at once",
    "415": "Only JSON is taken",
    "422": "The Idempotency-Key belongs to another request",
}
WAYS_IN = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "heart_...",
        "description": "A token of the console, with the scope that the operation names.",
    }
}
PROBLEM = {
    "type": "object",
    "description": "An error in the one shape of RFC 9457.",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "For programs."},
        "detail": {"type": "string", "description": "For people."},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "detail"],
                "properties": {"pointer": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
    },
}


class ScopedSchema(AutoSchema):
    """An operation with the scope that it takes."""

    def get_auth(self) -> list[dict[str, list[str]]]:
        """Return who may ask: a token with the scope, a member who reads, perhaps anybody."""
        scope = scope_of(self.view, self.method)
        ways: list[dict[str, list[str]]] = [{"token": [str(scope)] if scope else []}]
        if self.method == "GET":
            ways.append({"session": []})
        if scope is None or getattr(self.view, "is_public", False):
            ways.append({})
        return ways

    def get_extensions(self) -> dict[str, Any]:
        """Name the scope, and whether it is needed without a token, too."""
        scope = scope_of(self.view, self.method)
        is_public = scope is None or getattr(self.view, "is_public", False)
        return {"x-scope": str(scope) if scope else None, "x-public": bool(is_public)}


def add_problems(result: dict[str, Any], **_others: object) -> dict[str, Any]:
    """Add to every operation how it refuses, and to what is read how it says "as before"."""
    components = result.setdefault("components", {})
    components["securitySchemes"] = WAYS_IN | {
        "session": {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}
    }
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    for path in result["paths"].values():
        for method in METHODS:
            if method in path:
                _refuses(path[method], is_read=method == "get")
    return result


def _refuses(operation: dict[str, Any], *, is_read: bool) -> None:
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    errors = ERRORS if is_read else ERRORS | WRITING_ERRORS
    for status, description in errors.items():
        operation["responses"].setdefault(status, {"description": description, "content": content})
    if is_read:
        operation["responses"].setdefault("304", {"description": "As If-None-Match has it"})
