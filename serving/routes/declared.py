"""Error answers as the API's description declares them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from fastapi import Security
from fastapi.security import HTTPBearer

from serving.wire import Problem

Responses: TypeAlias = dict[int | str, dict[str, Any]]

TOKEN = Security(HTTPBearer(scheme_name="token", auto_error=False, description="The user's own token."))
"""Declares that calls need a token, on servers where they do; the guard is what asks for it."""
_HOST = {421: "HOST_NOT_ALLOWED: the server does not answer under this name."}
_EVERYWHERE = {
    **_HOST,
    401: "TOKEN_REQUIRED: this server needs a token.",
    403: "ORIGIN_NOT_ALLOWED: a web page elsewhere may not call this server.",
    411: "LENGTH_REQUIRED: the body came without a Content-Length.",
    413: "BODY_TOO_LARGE: the body is longer than the server takes.",
    422: "INVALID_REQUEST: a field is missing or wrong.",
}


def problems(described: Mapping[int, str]) -> Responses:
    """Problem details for these statuses, and for those that any call may end with."""
    return _declared({**_EVERYWHERE, **described})


def open_problems(described: Mapping[int, str]) -> Responses:
    """The same for calls outside of /api, which anybody on the host may make."""
    return _declared({**_HOST, **described})


def followed(by: Iterable[str], parameter: str, place: str) -> dict[str, Any]:
    """Links of an answer: these operations take its value at `place` as their `parameter`."""
    parameters = {parameter: f"$response.body#{place}"}
    return {"links": {name: {"operationId": name, "parameters": parameters} for name in by}}


def _declared(described: Mapping[int, str]) -> Responses:
    content = {"application/problem+json": {"schema": Problem.model_json_schema()}}
    return {
        status: {"description": description, "content": content}
        for status, description in sorted(described.items())
    }


LOCATION = {"Location": {"description": "Its address.", "required": True, "schema": {"type": "string"}}}
"""Header of an answer that something was started."""


BODY_PROBLEMS = {
    400: "BODY_NOT_JSON: the body is no valid JSON.",
    415: "CONTENT_TYPE_NOT_JSON: the body is sent without `Content-Type: application/json`.",
}
"""Of calls with a body."""
