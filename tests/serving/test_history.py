"""Chats that last: order, follow-up questions, owners, deletion, requests sent again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest
from pydantic import BaseModel
from sqlalchemy import func, select

from serving.state.tables import metadata
from toolkit.emitter import ProgressEvent, emit_words_async
from toolkit.results import ToolExecutionResult
from toolkit.testing.llm import ScriptedLlm
from toolkit.tool import ALL, ChatbotTool, ToolCall

Ask = Callable[..., Any]
MakeApp = Callable[..., Any]
Client = Callable[..., httpx.AsyncClient]
PARKING = "Hol parkolhatnak a betegek?"


class Nothing(BaseModel):
    pass


class Telling(ChatbotTool[Nothing]):
    """Delivers by itself, slowly."""

    name = "telling"
    eligible_system = ALL
    request_class = Nothing
    executable_instruction = "telling: never"

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        await emit_words_async(call.emitter, f"Ezt mondom: {call.user_prompt}", delay=0.01)
        assert call.emitter is not None
        call.emitter.next(ProgressEvent("SEGMENT_BREAK"))
        await emit_words_async(call.emitter, " Vége.", delay=0)
        if call.final_callback:
            call.final_callback.on_success(self.name, f"Ezt mondom: {call.user_prompt} Vége.")
        return ToolExecutionResult.as_answered(self.name)


async def messages(client: httpx.AsyncClient, chat_id: str, **parameters: Any) -> list[dict[str, Any]]:
    response = await client.get(f"/api/chatbot/chats/{chat_id}", params=parameters)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["messages"]
    return found


async def test_r13_3_a_chat_keeps_questions_answers_sources_and_trace(
    make_app: MakeApp, chat: Ask, client_for: Client
) -> None:
    app = make_app(Telling)
    events = await chat(app, PARKING, chatId="c")
    await chat(app, "Mondj valamit!", chatId="c", toolName="telling")
    async with client_for(app) as client:
        first, answer, second, told = await messages(client, "c")
        (_, traced, *_) = await messages(client, "c", trace=True)
    said = "".join(each["content"] for each in events if each["progressStatus"] == "LLM_GENERATION")
    (sources,) = (each["sources"] for each in events if each["progressStatus"] == "SOURCES")
    assert [
        (each["sequence"], each["role"], each["kind"], each["status"])
        for each in (first, answer, second, told)
    ] == [
        (0, "user", "MESSAGE", "DONE"),
        (1, "assistant", "ANSWER", "DONE"),
        (2, "user", "MESSAGE", "DONE"),
        (3, "assistant", "ANSWER", "DONE"),
    ]
    assert (first["content"], answer["content"], answer["sources"], answer["generation"]) == (
        PARKING,
        said,
        sources,
        1,
    )
    assert told["content"] == "Ezt mondom: Mondj valamit! Vége."
    assert (answer["trace"], traced["trace"]["answeredBy"]) == (None, "quotes")


async def test_messages_at_the_same_time_keep_their_pairs(
    make_app: MakeApp, chat: Ask, client_for: Client
) -> None:
    app = make_app(Telling)
    questions = [f"kérdés {at}" for at in range(8)]
    await asyncio.gather(*(chat(app, each, chatId="c", toolName="telling") for each in questions))
    async with client_for(app) as client:
        found = await messages(client, "c")
        page = await messages(client, "c", limit=3, after=4)
    assert [each["sequence"] for each in found] == list(range(16))
    pairs = [(found[at]["content"], found[at + 1]["content"]) for at in range(0, 16, 2)]
    assert sorted(pairs) == [(each, f"Ezt mondom: {each} Vége.") for each in questions]
    assert page == found[5:8]


async def test_r13_3_chats_are_listed_renamed_and_deleted_from_every_table(
    make_app: MakeApp, chat: Ask, client_for: Client
) -> None:
    app = make_app()
    for name in ("a", "b", "c"):
        await chat(app, f"{PARKING} {name}", chatId=name)
    async with client_for(app) as client:
        first = (await client.get("/api/chatbot/chats", params={"limit": 2})).json()
        rest = (await client.get("/api/chatbot/chats", params={"cursor": first["next"]})).json()
        assert [each["chatId"] for each in first["chats"]] == ["c", "b"]
        assert ([each["chatId"] for each in rest["chats"]], rest["next"]) == (["a"], None)
        assert rest["chats"][0]["title"] == f"{PARKING} a"
        renamed = await client.patch("/api/chatbot/chats/a", json={"title": "  Parkolás "})
        assert renamed.json()["title"] == "Parkolás"
        assert (await client.delete("/api/chatbot/chats/a")).status_code == 204
        assert (await client.get("/api/chatbot/chats/a")).status_code == 404
        assert (await client.delete("/api/chatbot/chats/a")).json()["code"] == "UNKNOWN_CHAT"
        assert (await client.delete("/api/chatbot/chats")).status_code == 204
        assert (await client.get("/api/chatbot/chats")).json() == {"chats": [], "next": None}
    state = app.state.platform.state
    async with state.database.reading() as connection:
        rows = {
            table.name: (await connection.execute(select(func.count()).select_from(table))).scalar_one()
            for table in metadata.sorted_tables
            if table.name != "servers"
        }
    assert rows == dict.fromkeys(rows, 0)


ANNA, BELA = "anna-token-0123456789", "bela-token-0123456789"


async def test_r13_0_what_one_owns_no_other_one_sees_answers_or_deletes(
    make_app: MakeApp, client_for: Client
) -> None:
    app = make_app(users={"anna": ANNA, "bela": BELA}, host="0.0.0.0")
    headers = {name: {"Authorization": f"Bearer {token}"} for name, token in (("anna", ANNA), ("bela", BELA))}
    async with client_for(app) as client:
        body = {"message": PARKING, "domain": "hospital", "chatId": "c"}
        assert (await client.post("/api/chatbot/chat", json=body)).status_code == 401
        assert (await client.post("/api/chatbot/chat", json=body, headers=headers["anna"])).status_code == 200
        for method, path, sent in (
            ("GET", "/api/chatbot/chats/c", None),
            ("DELETE", "/api/chatbot/chats/c", None),
            ("PATCH", "/api/chatbot/chats/c", {"title": "x"}),
            ("POST", "/api/chatbot/chat", body),
            ("POST", "/api/chatbot/clarify", {"chatId": "c", "answer": "x"}),
        ):
            answer = await client.request(method, path, json=sent, headers=headers["bela"])
            assert (answer.status_code, answer.json()["code"]) == (404, "UNKNOWN_CHAT"), (method, path)
        assert (await client.get("/api/chatbot/chats", headers=headers["bela"])).json()["chats"] == []
        assert len((await client.get("/api/chatbot/chats", headers=headers["anna"])).json()["chats"]) == 1


async def test_the_same_request_with_the_same_key_is_answered_once(
    make_app: MakeApp, client_for: Client
) -> None:
    app = make_app()
    async with client_for(app) as client:

        async def send(message: str) -> httpx.Response:
            body = {"message": message, "domain": "hospital"}
            return await client.post("/api/chatbot/chat", json=body, headers={"Idempotency-Key": "k1"})

        first, again, other = await send(PARKING), await send(PARKING), await send("Más?")
        chats = (await client.get("/api/chatbot/chats")).json()["chats"]
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert len(chats) == 1

    def told(response: httpx.Response) -> tuple[str, Any]:
        events = [json.loads(line[6:]) for line in response.text.split("\n\n") if line.startswith("data: ")]
        text = "".join(each.get("content") or "" for each in events)
        return text, [each["sources"] for each in events if "sources" in each]

    assert told(again) == told(first)


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("És mikor rendel?", "És mikor rendel? (kardiológiai szakrendelés)"),
        ("Ott ki rendel?", "Ott ki rendel? (kardiológiai szakrendelés)"),
        ("Hol parkolhatnak a betegek?", "Hol parkolhatnak a betegek?"),
        ("Hol lehet parkolni?", "Hol lehet parkolni?"),
        ("Köszönöm!", "Köszönöm!"),
    ],
)
async def test_r8_3_a_question_that_leans_on_the_one_before_gets_its_words(
    make_app: MakeApp, chat: Ask, question: str, understood: str
) -> None:
    app = make_app()
    await chat(app, "Hol van a kardiológiai szakrendelés?", chatId="c")
    events = await chat(app, question, chatId="c", trace=True)
    (trace,) = (each["trace"] for each in events if each["progressStatus"] == "TRACE")
    assert trace["question"] == understood


async def test_a_model_rewrites_a_question_and_sees_the_conversation_as_data(
    make_app: MakeApp, chat: Ask
) -> None:
    def settled(*further: dict[str, Any]) -> Sequence[dict[str, Any]]:
        plain = {"language": "hu", "important_words": []}
        return [*further, plain, {"sub_queries": ["x"]}, {"rag_retrieval": True}, {"further_queries": []}]

    llm = ScriptedLlm(
        objects=[*settled(), *settled({"message": "Mikor rendel a kardiológia?"})],
        texts=["A B épületben [1].", "Hétfőn [1]."],
    )
    app = make_app(llm=llm, limits={"history_tokens": 60})
    await chat(app, "Hol van a kardiológia?", chatId="c")
    events = await chat(app, "És mikor rendel?", chatId="c", trace=True)
    (trace,) = (each["trace"] for each in events if each["progressStatus"] == "TRACE")
    assert trace["question"] == "Mikor rendel a kardiológia?"
    (_, prompt) = (call.user_prompt for call in llm.calls if call.method == "stream_text")
    assert "Felhasználó: Hol van a kardiológia?\nAsszisztens: A B épületben [1].\n=====" in prompt
    assert "Kérdés:\nMikor rendel a kardiológia?" in prompt


async def test_an_answer_that_breaks_off_is_kept_as_interrupted(
    make_app: MakeApp, running: Any, client_for: Client
) -> None:
    class Slow(Telling):
        name = "slow"
        executable_instruction = "slow: never"

        async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
            await emit_words_async(call.emitter, "Elkezdem, de", delay=0)
            await asyncio.sleep(60)
            return ToolExecutionResult.as_answered(self.name)

    with running(make_app(Slow)) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=20) as client:
            body = {"message": "x", "domain": "hospital", "chatId": "c", "toolName": "slow"}
            async with client.stream("POST", "/api/chatbot/chat", json=body) as response:
                async for line in response.aiter_lines():
                    if " de" in line:
                        break
            for _ in range(100):
                (_, answer) = await messages(client, "c")
                if answer["status"] != "RUNNING":
                    break
                await asyncio.sleep(0.05)
    assert (answer["status"], answer["content"]) == ("INTERRUPTED", "Elkezdem, de")
