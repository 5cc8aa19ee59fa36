from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

OPEN = (
    "/",
    "/static/chat.js",
    "/docs",
    "/static/swagger/swagger-ui.css",
    "/api/openapi.json",
    "/healthz",
    "/readyz",
)
TOKEN = "0123456789abcdef0123"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "[::1", "10.0.0.1"]
)
async def test_a_foreign_host_name_does_not_reach_the_loopback_server(
    make_app: Callable[..., Any], client_for: Callable[..., Any], host: str
) -> None:
    async with client_for(make_app()) as client:
        response = await client.get("/api/domains", headers={"Host": host})
    assert (response.status_code, response.json()["code"]) == (421, "HOST_NOT_ALLOWED")


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "LOCALHOST:1", "[::1]:8765", "chat.example"])
async def test_loopback_and_allowed_host_names_do(
    make_app: Callable[..., Any], client_for: Callable[..., Any], host: str
) -> None:
    async with client_for(make_app(allowed_hosts=("chat.example",))) as client:
        assert (await client.get("/api/domains", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_a_web_page_elsewhere_cannot_drive_the_server(
    make_app: Callable[..., Any], client_for: Callable[..., Any], headers: dict[str, str]
) -> None:
    async with client_for(make_app()) as client:
        response = await client.post(
            "/api/chatbot/chat", content=b'{"message":"x","domain":"hospital"}', headers=headers
        )
    assert (response.status_code, response.json()["code"]) == (403, "ORIGIN_NOT_ALLOWED")
    assert "access-control-allow-origin" not in response.headers


async def test_the_own_page_and_named_origins_may(
    make_app: Callable[..., Any], client_for: Callable[..., Any]
) -> None:
    async with client_for(make_app(cors_origins="https://front.example")) as client:
        own = await client.get("/api/domains", headers={"Origin": "http://127.0.0.1:8765"})
        named = await client.get("/api/domains", headers={"Origin": "https://front.example"})
        preflights = [
            await client.options(
                "/api/chatbot/chat",
                headers={
                    "Origin": "https://front.example",
                    "Access-Control-Request-Method": method,
                    "Access-Control-Request-Headers": "authorization, idempotency-key",
                },
            )
            for method in ("POST", "PATCH", "DELETE")
        ]
    assert (own.status_code, named.status_code) == (200, 200)
    assert [each.status_code for each in preflights] == [200, 200, 200]
    assert named.headers["access-control-allow-origin"] == "https://front.example"


@pytest.mark.parametrize(
    "authorization", [None, "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer ", f"Bearer {TOKEN}é"]
)
async def test_r13_0_with_a_token_set_every_api_call_needs_it(
    make_app: Callable[..., Any], client_for: Callable[..., Any], authorization: str | None
) -> None:
    headers = {} if authorization is None else {"Authorization": authorization.encode()}
    async with client_for(make_app(host="0.0.0.0", token=TOKEN)) as client:
        for path in ("/api/domains", "/api/nothing", "/metrics"):
            response = await client.get(path, headers=headers)
            assert (response.status_code, response.json()["code"]) == (401, "TOKEN_REQUIRED")
            assert response.headers["www-authenticate"] == "Bearer"


async def test_r13_0_the_token_opens_the_api_and_health_and_page_are_open(
    make_app: Callable[..., Any], client_for: Callable[..., Any]
) -> None:
    async with client_for(make_app(host="0.0.0.0", token=TOKEN)) as client:
        right = await client.get("/api/domains", headers={"Authorization": f"bearer {TOKEN}"})
        others = [(await client.get(path)).status_code for path in OPEN]
    assert (right.status_code, others) == (200, [200] * len(OPEN))


async def test_a_large_body_is_refused_unread(
    make_app: Callable[..., Any], client_for: Callable[..., Any]
) -> None:
    async def chunks() -> Any:
        yield b"x"

    async with client_for(make_app(limits={"body_bytes": 1000})) as client:
        large = await client.post("/api/chatbot/chat", content=b"x" * 1001)
        unsized = await client.post("/api/chatbot/chat", content=chunks())
    assert (large.status_code, large.json()["code"]) == (413, "BODY_TOO_LARGE")
    assert (unsized.status_code, unsized.json()["code"]) == (411, "LENGTH_REQUIRED")


async def test_the_page_runs_no_foreign_script(
    make_app: Callable[..., Any], client_for: Callable[..., Any]
) -> None:
    async with client_for(make_app()) as client:
        response: httpx.Response = await client.get("/")
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "http" not in response.text.replace("http-equiv", "")
