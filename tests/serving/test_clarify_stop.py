"""A server that stops while it works on the user's reply: the question is put again by the next one."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any, ClassVar

import httpx
from pydantic import BaseModel

from toolkit.clarification import ClarificationSession, ClarifyingQuestion
from toolkit.documents import TextAnswer
from toolkit.kinds import ClarifiableTool
from toolkit.results import ToolExecutionResult
from toolkit.tool import ALL, ToolCall

AGE = ClarifyingQuestion("age", "Felnőtt vagy gyermek?", ("Felnőtt", "Gyermek"))


class Clinic(BaseModel):
    age: str | None = None


class Slow(ClarifiableTool[Clinic]):
    """Works on a reply until `may_end` is set."""

    name = "slow"
    eligible_system = ALL
    priority = 0
    request_class = Clinic
    executable_instruction = "slow: true, ha rendelést keres"
    asked: ClassVar[int]
    replies: ClassVar[list[str]]
    begun: ClassVar[threading.Event]
    may_end: ClassVar[threading.Event]

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        type(self).asked += 1
        return ToolExecutionResult.needs_clarification(AGE, "{}", self.name)

    async def execute_with_clarification(
        self, session: ClarificationSession, call: ToolCall
    ) -> ToolExecutionResult:
        self.replies.append(session.pending_answer)
        self.begun.set()
        while not self.may_end.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set(f"Vége: {session.pending_answer}"))


async def events(client: httpx.AsyncClient, path: str, **body: Any) -> AsyncIterator[dict[str, Any]]:
    async with client.stream("POST", f"/api/chatbot/{path}", json={"chatId": "c", **body}) as response:
        assert response.status_code == 200, await response.aread()
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


async def test_r7_5_r7_7_a_server_that_stops_gives_the_question_back(
    make_app: Callable[..., Any], running: Callable[..., Any], state_url: str
) -> None:
    Slow.asked, Slow.replies, Slow.begun, Slow.may_end = 0, [], threading.Event(), threading.Event()
    options = {"state": state_url, "limits": {"shutdown_seconds": 0.2}}
    with running(make_app(Slow, **options)) as server:
        async with httpx.AsyncClient(base_url=server.url) as client:
            first = await _all(events(client, "chat", message="Rendelés?", domain="hospital"))
            reading = asyncio.create_task(_all(events(client, "clarify", answer="Felnőtt")))
            assert await asyncio.to_thread(Slow.begun.wait, 5)
            server.should_exit = True
            cut = await reading
    assert first[-2]["progressStatus"] == "INTERACTIVE_QUESTION"
    assert cut[-1]["error"]["code"] == "SERVER_STOPPING"
    Slow.may_end.set()
    with running(make_app(Slow, **options)) as server:
        async with httpx.AsyncClient(base_url=server.url) as client:
            again = await _all(events(client, "clarify", answer="Gyermek"))
    assert [each["content"] for each in again if each["progressStatus"] == "ANSWER"] == ["Vége: Gyermek"]
    assert (Slow.asked, Slow.replies) == (1, ["Felnőtt", "Gyermek"])


async def _all(stream: AsyncIterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each async for each in stream]
