"""Who may call: pure ASGI middleware for host names, origins, the token, body size and page headers."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.errors import ApiError, shortened
from serving.identity import ANONYMOUS, User, set_user, signed_in
from serving.problems import problem_response

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}

GUARDED = ("/api", "/metrics")
"""Paths that take the user's token."""
DESCRIPTION = "/api/openapi.json"
"""Open to all, since it holds nothing of the users': with it the page of the API can be looked at."""


class GuardMiddleware:
    """Refuses what a web page elsewhere, or a stranger, could send; adds the security headers.

    With `loopback_only`, the Host header must be a loopback name or address or one of `allowed_hosts`, so
    that a name which an attacker points at 127.0.0.1 does not reach the API. A request with an Origin
    is served when the origin is the server itself or one of `cors_origins`. With `tokens` (by user), every call
    of the API needs one, and comes from its user.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        loopback_only: bool,
        allowed_hosts: Iterable[str] = (),
        cors_origins: Iterable[str] = (),
        tokens: Mapping[str, str] = MappingProxyType({}),
        body_bytes: int,
    ) -> None:
        self._app = app
        self._loopback_only = loopback_only
        self._allowed_hosts = {host.lower() for host in allowed_hosts}
        self._cors_origins = {origin.lower().rstrip("/") for origin in cors_origins}
        self._tokens = {user: token.encode() for user, token in tokens.items()}
        self._body_bytes = body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_security_headers(send)
        try:
            self._check(scope)
        except ApiError as error:
            await problem_response(error, path=scope["path"])(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        self._check_host(headers)
        if not scope["path"].startswith(GUARDED):
            return
        self._check_origin(headers)
        set_user(scope, self._user(scope["path"], headers))
        self._check_size(headers)

    def _check_host(self, headers: Headers) -> None:
        if not self._loopback_only and not self._allowed_hosts:
            return
        host = _host_name(headers.get("host", ""))
        if host in self._allowed_hosts or (self._loopback_only and _is_loopback_name(host)):
            return
        raise ApiError(
            421,
            "HOST_NOT_ALLOWED",
            f"This server does not answer under the name {shortened(host)!r}. Open it as 127.0.0.1 or "
            "localhost, or add the name to TUDASTAR_ALLOWED_HOSTS.",
        )

    def _check_origin(self, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is None:
            if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not self._cors_origins:
                raise _foreign_origin("another site")
            return
        given = origin.lower()
        same = urlsplit(given).netloc == headers.get("host", "").lower()
        if not (same or given in self._cors_origins or "*" in self._cors_origins):
            raise _foreign_origin(origin)

    def _user(self, path: str, headers: Headers) -> User:
        if not self._tokens or path == DESCRIPTION:
            return ANONYMOUS
        scheme, _, given = headers.get("authorization", "").partition(" ")
        token = given.strip().encode()
        known = [user for user, own in self._tokens.items() if hmac.compare_digest(token, own)]
        if scheme.lower() != "bearer" or not known:
            raise ApiError(
                401,
                "TOKEN_REQUIRED",
                "This server needs a token: send it as `Authorization: Bearer TOKEN`. It is what "
                "TUDASTAR_TOKEN was set to when the server was started, or your own in TUDASTAR_USERS.",
            )
        return signed_in(known[0])

    def _check_size(self, headers: Headers) -> None:
        length = headers.get("content-length", "0")
        if headers.get("transfer-encoding") is not None:
            raise ApiError(411, "LENGTH_REQUIRED", "Send the body with a Content-Length.")
        if not (length.isascii() and length.isdigit()) or int(length) > self._body_bytes:
            raise ApiError(413, "BODY_TOO_LARGE", f"The body may be {self._body_bytes} bytes long at most.")


def _foreign_origin(origin: str) -> ApiError:
    return ApiError(
        403,
        "ORIGIN_NOT_ALLOWED",
        f"A web page of {shortened(origin)!r} may not call this server. To allow it, add its origin to "
        "TUDASTAR_CORS_ORIGINS.",
    )


def _host_name(header: str) -> str:
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return header.lower()


def _is_loopback_name(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _with_security_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
