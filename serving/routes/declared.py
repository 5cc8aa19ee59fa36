"""Error answers as the API's description declares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from serving.wire import Problem

Responses: TypeAlias = dict[int | str, dict[str, Any]]

_EVERYWHERE = {
    401: "TOKEN_REQUIRED: this server needs a token.",
    403: "ORIGIN_NOT_ALLOWED: a web page elsewhere may not call this server.",
    411: "LENGTH_REQUIRED: the body came without a Content-Length.",
    413: "BODY_TOO_LARGE: the body is longer than the server takes.",
    421: "HOST_NOT_ALLOWED: the server does not answer under this name.",
    422: "INVALID_REQUEST: a field is missing or wrong.",
}


def problems(described: Mapping[int, str]) -> Responses:
    """Problem details for these statuses, and for those that any call may end with."""
    content = {"application/problem+json": {"schema": Problem.model_json_schema()}}
    return {
        status: {"description": description, "content": content}
        for status, description in sorted({**_EVERYWHERE, **described}.items())
    }


BODY_PROBLEMS = {
    400: "BODY_NOT_JSON: the body is no valid JSON.",
    415: "CONTENT_TYPE_NOT_JSON: the body is sent without `Content-Type: application/json`.",
}
"""Of calls with a body."""
