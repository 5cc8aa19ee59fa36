"""Counting for Prometheus: requests, turns, tools, jobs, generations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families
from pydantic import BaseModel

from toolkit.results import ToolExecutionResult
from toolkit.tool import ALL, ChatbotTool, ToolCall

Ask = Callable[..., Any]
Client = Callable[..., httpx.AsyncClient]
MakeApp = Callable[..., Any]
TOKEN = "0123456789abcdef0123"


class Nothing(BaseModel):
    pass


class Broken(ChatbotTool[Nothing]):
    name = "broken"
    eligible_system = ALL
    request_class = Nothing
    executable_instruction = "broken: never"

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        raise ZeroDivisionError


async def scraped(client: httpx.AsyncClient) -> dict[tuple[str, ...], float]:
    """Values by name, and by labels in the order of their names, of what the product counts."""
    response = await client.get("/metrics")
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, *dict(sorted(sample.labels.items())).values()): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
        if not sample.name.endswith(("_bucket", "_created", "_sum"))
        and sample.name.startswith(("tudastar", "process_open"))
    }


async def test_r13_3_what_was_done_is_counted(make_app: MakeApp, chat: Ask, client_for: Client) -> None:
    app = make_app(Broken)
    await chat(app, "Hol parkolhatnak a betegek?")
    await chat(app, "x", toolName="broken")
    async with client_for(app) as client:
        await client.get("/api/nowhere/17")
        await client.request("BREW", "/healthz")
        await client.get("/api/chatbot/chats/none")
        found = await scraped(client)
        again = await scraped(client)
    assert found.pop(("process_open_fds",)) > 0
    assert found == {
        ("tudastar_http_requests_total", "POST", "/api/chatbot/chat", "200"): 2,
        ("tudastar_http_requests_total", "GET", "other", "404"): 1,
        ("tudastar_http_requests_total", "other", "/healthz", "405"): 1,
        ("tudastar_http_requests_total", "GET", "/api/chatbot/chats/{chat_id}", "404"): 1,
        ("tudastar_chat_turns_total", "DONE"): 2,
        ("tudastar_chat_turn_seconds_count",): 2,
        ("tudastar_chat_turns_running",): 0,
        ("tudastar_tool_seconds_count", "FAILED", "broken"): 1,
        ("tudastar_tool_seconds_count", "CONTEXT", "rag_retrieval"): 1,
        ("tudastar_tool_seconds_count", "NONE", "rag_retrieval"): 1,
        ("tudastar_domain_generation", "english"): 1,
        ("tudastar_domain_generation", "hospital"): 1,
    }
    assert again[("tudastar_http_requests_total", "GET", "/metrics", "200")] == 1


async def test_r13_3_a_domain_that_is_gone_is_no_longer_told(
    make_app: MakeApp, client_for: Client, knowledge_base: Any
) -> None:
    async with client_for(make_app()) as client:
        assert ("tudastar_domain_generation", "english") in await scraped(client)
        del knowledge_base.stores["english"]
        assert ("tudastar_domain_generation", "english") not in await scraped(client)


async def test_r13_0_counters_take_the_token_where_there_is_one(
    make_app: MakeApp, client_for: Client
) -> None:
    async with client_for(make_app(token=TOKEN)) as client:
        assert (await client.get("/metrics")).json()["code"] == "TOKEN_REQUIRED"
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        assert (await client.get("/metrics")).status_code == 200
