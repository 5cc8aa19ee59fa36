"""Errors on the wire: RFC 9457 problem details with a `code`."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Match

from serving.errors import ApiError, shortened
from store.errors import StoreError

logger = logging.getLogger(__name__)


class ProblemResponse(JSONResponse):
    """JSON with the media type of problem details."""

    media_type = "application/problem+json"


def problem_response(
    error: ApiError, *, path: str, headers: dict[str, str] | None = None, **more: Any
) -> ProblemResponse:
    """{type, title, status, detail, code, instance} and what else is given."""
    content = {
        "type": "about:blank",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "detail": error.detail,
        "code": error.code,
        "instance": path,
        **more,
    }
    headers = dict(headers or {})
    if error.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return ProblemResponse(content, error.status, headers)


def install_problem_handlers(app: FastAPI) -> None:
    """Turn every error of a route into problem details."""
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(StoreError, _store_error)
    app.add_exception_handler(Exception, _unforeseen)


async def _api_error(request: Request, error: Exception) -> ProblemResponse:
    assert isinstance(error, ApiError)
    return problem_response(error, path=request.url.path)


async def _validation_error(request: Request, error: Exception) -> ProblemResponse:
    assert isinstance(error, RequestValidationError)
    if _lacks_json_type(request) and any(item["loc"] == ("body",) for item in error.errors()):
        detail = "Send the body as JSON, with the header `Content-Type: application/json`."
        return problem_response(ApiError(415, "CONTENT_TYPE_NOT_JSON", detail), path=request.url.path)
    problems = [_field_problem(item) for item in error.errors()]
    if any(item["type"] in ("json_invalid", "unicode_invalid") for item in error.errors()):
        detail = f"The body is not valid JSON: {problems[0]['message']}."
        return problem_response(ApiError(400, "BODY_NOT_JSON", detail), path=request.url.path)
    detail = "; ".join(
        f"{item['field']}: {item['message']}" if item["field"] else item["message"] for item in problems
    )
    return problem_response(ApiError(422, "INVALID_REQUEST", detail), path=request.url.path, errors=problems)


def _lacks_json_type(request: Request) -> bool:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media_type != "application/json" and not media_type.endswith("+json")


def _field_problem(item: dict[str, Any]) -> dict[str, str]:
    place = [str(part) for part in item["loc"] if part not in ("body", "query", "path")]
    message = str(item.get("ctx", {}).get("error") or item["msg"])
    if item["loc"] == ("body",) and item["type"] != "json_invalid":
        message = "The request needs a body, which is a JSON object."
    return {"field": "" if item["type"] == "json_invalid" else ".".join(place), "message": shortened(message)}


async def _http_error(request: Request, error: Exception) -> ProblemResponse:
    assert isinstance(error, HTTPException)
    code = HTTPStatus(error.status_code).phrase.upper().replace(" ", "_").replace("-", "_")
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.NOT_FOUND:
        detail = f"There is nothing at {shortened(request.url.path)}."
    elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = _allowed_methods(request)
        headers = {"Allow": allowed}
        detail = f"{request.method} is not possible at {shortened(request.url.path)}; possible: {allowed}."
    elif error.status_code == HTTPStatus.BAD_REQUEST:
        code, detail = "BODY_NOT_JSON", "The body is not JSON in UTF-8."
    else:
        detail = str(error.detail)
    return problem_response(ApiError(error.status_code, code, detail), path=request.url.path, headers=headers)


def _allowed_methods(request: Request) -> str:
    """All that the path takes; the framework names the methods of one of its routes alone."""

    def is_taken(method: str) -> bool:
        scope = {**request.scope, "method": method}
        return any(route.matches(scope)[0] is Match.FULL for route in request.app.router.routes)

    return ", ".join(filter(is_taken, ("DELETE", "GET", "PATCH", "POST", "PUT")))


async def _store_error(request: Request, error: Exception) -> ProblemResponse:
    """A store that is there but cannot be read: a fault of the operator's to mend, so it is told whole."""
    logger.error("%s %s: %s", request.method, request.url.path, error)
    problem = ApiError(503, "STORE_UNREADABLE", str(error))
    return problem_response(problem, path=request.url.path)


async def _unforeseen(request: Request, error: Exception) -> ProblemResponse:
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    detail = "A fault in the server; its log tells more."
    return problem_response(ApiError(500, "INTERNAL_ERROR", detail), path=request.url.path)
