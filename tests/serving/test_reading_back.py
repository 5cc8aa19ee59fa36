"""Reading a chat again: from the newest message back, with what waits, what was begun and why it failed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from serving.offline.quotes import QuoteAnswerer
from toolkit.clarification import ClarificationSession, ClarifyingQuestion
from toolkit.documents import TextAnswer
from toolkit.emitter import LLM_GENERATION, ProgressEvent
from toolkit.kinds import ClarifiableTool
from toolkit.results import ToolExecutionResult
from toolkit.tool import ALL, ChatbotTool, ToolCall

Client = Callable[..., httpx.AsyncClient]
MakeApp = Callable[..., Any]
AGE = ClarifyingQuestion("age", "Felnőtt vagy gyermek?", ("Felnőtt", "Gyermek"))
LAST = 2**31 - 1


class Nothing(BaseModel):
    pass


class Asking(ClarifiableTool[Nothing]):
    name = "asking"
    eligible_system = ALL
    priority = 1
    request_class = Nothing
    executable_instruction = "asking: never"

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        return ToolExecutionResult.needs_clarification(AGE, "{}", self.name)

    def execute_with_clarification(
        self, session: ClarificationSession, call: ToolCall
    ) -> ToolExecutionResult:
        return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set("8–12"))


class Reporting(ChatbotTool[Nothing]):
    """Says something, then gives a file."""

    name = "reporting"
    eligible_system = ALL
    request_class = Nothing
    executable_instruction = "reporting: never"

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        assert call.emitter is not None
        call.emitter.next(ProgressEvent(LLM_GENERATION, "Íme a jelentés: "))
        return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set("UERG"), "BASE64_PDF")


async def send(client: httpx.AsyncClient, tool: str | None, key: str | None = None) -> list[dict[str, Any]]:
    body = {"chatId": "c", "message": "Hol parkolhatnak?", "domain": "hospital", "toolName": tool}
    response = await client.post(
        "/api/chatbot/chat", json=body, headers={"Idempotency-Key": key} if key else {}
    )
    assert response.status_code == 200, response.text
    return [json.loads(line[6:]) for line in response.text.split("\n\n") if line.startswith("data: ")]


async def read(client: httpx.AsyncClient, **parameters: Any) -> dict[str, Any]:
    response = await client.get("/api/chatbot/chats/c", params=parameters)
    assert response.status_code == 200, response.text
    chat: dict[str, Any] = response.json()
    return chat


async def test_r13_3_messages_are_read_from_the_newest_back(make_app: MakeApp, client_for: Client) -> None:
    async with client_for(make_app()) as client:
        for _ in range(3):
            await send(client, None)
        pages = [await read(client, limit=4, before=LAST)]
        while (previous := pages[-1]["previous"]) is not None:
            pages.append(await read(client, limit=4, before=previous))
        forward = await read(client, limit=4)
        none = await read(client, before=0)
    assert [[each["sequence"] for each in page["messages"]] for page in pages] == [[2, 3, 4, 5], [0, 1]]
    assert [(page["previous"], page["next"]) for page in pages] == [(2, None), (None, 1)]
    assert (forward["previous"], forward["next"]) == (None, 3)
    assert (none["messages"], none["previous"], none["next"]) == ([], None, None)


async def test_r13_3_a_chat_tells_the_question_that_waits(make_app: MakeApp, client_for: Client) -> None:
    async with client_for(make_app(Asking)) as client:
        await send(client, "asking")
        waiting = (await read(client))["pendingQuestion"]
        answer = {"chatId": "c", "answer": "Felnőtt"}
        assert (await client.post("/api/chatbot/clarify", json=answer)).status_code == 200
        answered = (await read(client))["pendingQuestion"]
    assert waiting["question"] == AGE.to_wire()
    assert waiting["expiresAt"].endswith("+00:00")
    assert answered is None


async def test_r13_3_a_question_that_expired_no_longer_waits(make_app: MakeApp, client_for: Client) -> None:
    async with client_for(make_app(Asking, question_hours=1e-9)) as client:
        await send(client, "asking")
        assert (await read(client))["pendingQuestion"] is None


async def test_r13_3_text_ahead_of_a_file_is_kept_and_told_again(
    make_app: MakeApp, client_for: Client
) -> None:
    async with client_for(make_app(Reporting)) as client:
        first, again = [await send(client, "reporting", "k") for _ in range(2)]
        (_, answer) = (await read(client))["messages"]
    assert (answer["introduction"], answer["content"], answer["contentType"]) == (
        "Íme a jelentés: ",
        "UERG",
        "BASE64_PDF",
    )
    told = [each for each in first if each["progressStatus"] in (LLM_GENERATION, "ANSWER")]
    assert [each for each in again if each["progressStatus"] not in ("CHAT", "DONE")] == told


async def test_r13_3_a_failed_answer_keeps_why(
    make_app: MakeApp, client_for: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(QuoteAnswerer, "answer", broken)
    async with client_for(make_app()) as client:
        first, again = [await send(client, None, "k") for _ in range(2)]
        (_, answer) = (await read(client))["messages"]
    assert answer["status"] == "FAILED"
    assert answer["error"] == first[-1]["error"] == again[-1]["error"]
    assert answer["error"]["code"] == "INTERNAL_ERROR"
    assert "secret" not in answer["error"]["message"]


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("  Parkolás \n hol? ", "Parkolás hol?"),
        ("a\x00b", "a b"),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
        ("x" * 200, "x" * 200),
    ],
)
async def test_r13_3_a_title_is_one_visible_line_and_does_not_move_the_chat(
    make_app: MakeApp, client_for: Client, title: str, kept: str
) -> None:
    async with client_for(make_app()) as client:
        await send(client, None)
        before = await read(client)
        renamed = (await client.patch("/api/chatbot/chats/c", json={"title": title})).json()
    assert (renamed["title"], renamed["updatedAt"]) == (kept, before["updatedAt"])


@pytest.mark.parametrize(
    ("title", "code"),
    [
        *((title, "EMPTY_TITLE") for title in ("", " \n", "\x00", "\u200b\u200d")),
        *((title, "INVALID_REQUEST") for title in ("x" * 201, 7, None)),
    ],
)
async def test_r13_3_a_title_that_nobody_could_see_is_refused(
    make_app: MakeApp, client_for: Client, title: object, code: str
) -> None:
    async with client_for(make_app()) as client:
        await send(client, None)
        refused = await client.patch("/api/chatbot/chats/c", json={"title": title})
        chat = await read(client)
    assert (refused.status_code, refused.json()["code"]) == (422, code)
    assert chat["title"] == "Hol parkolhatnak?"


@pytest.mark.parametrize("document", ["１２", "٣", "1" * 20, "-1", "x"])
async def test_r13_3_a_document_id_is_plain_digits(
    make_app: MakeApp, client_for: Client, document: str
) -> None:
    async with client_for(make_app()) as client:
        response = await client.get(f"/api/documents/{document}/pages/0", params={"domain": "hospital"})
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")
