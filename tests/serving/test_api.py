from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from toolkit.results import ToolExecutionResult
from toolkit.testing.knowledge import MemoryDocument, MemoryKnowledge
from toolkit.tool import ChatbotTool, ToolCall

URL = "/api/chatbot/chat"
PARKING = "8149815039825122791"
"""Id of `Parkolás.txt`."""


def problem(response: Any) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == response.status_code
    assert {"type", "title", "detail", "instance"} <= set(body)
    return response.status_code, body["code"]


async def test_an_unknown_domain_names_those_there_are(
    make_app: Callable[..., Any], client_for: Callable[..., Any]
) -> None:
    async with client_for(make_app()) as client:
        response = await client.post(URL, json={"message": "Hol?", "domain": "novel"})
    assert problem(response) == (404, "UNKNOWN_DOMAIN")
    assert response.json()["detail"] == "There is no domain 'novel'. There are: english, hospital."


@pytest.mark.parametrize(
    ("body", "expected", "helps"),
    [
        ({"message": " \n", "domain": "hospital"}, (422, "EMPTY_MESSAGE"), "write a question"),
        ({"message": "x" * 51, "domain": "hospital"}, (422, "MESSAGE_TOO_LONG"), "at most 50"),
        ({"message": "x"}, (422, "INVALID_REQUEST"), "domain: Field required"),
        ({"message": 5, "domain": "hospital"}, (422, "INVALID_REQUEST"), "message: "),
        ({"message": "x", "domain": "hospital", "mesage": 1}, (422, "INVALID_REQUEST"), "mesage: "),
        ({"message": "x", "domain": "hospital", "language": "de"}, (422, "UNKNOWN_LANGUAGE"), "hu, en"),
        ({"message": "x", "domain": "hospital", "chatId": "../x"}, (422, "INVALID_REQUEST"), "chatId: "),
        ({"message": "x", "domain": "hospital", "toolName": "no"}, (404, "UNKNOWN_TOOL"), "rag_retrieval"),
        (
            {"message": "x", "domain": "hospital", "toolParameters": {}},
            (422, "TOOL_NAME_MISSING"),
            "toolName",
        ),
        ([], (422, "INVALID_REQUEST"), "object"),
    ],
)
async def test_what_is_wrong_is_told(
    make_app: Callable[..., Any],
    client_for: Callable[..., Any],
    body: Any,
    expected: tuple[int, str],
    helps: str,
) -> None:
    async with client_for(make_app(limits={"message_length": 50})) as client:
        response = await client.post(URL, json=body)
    assert problem(response) == expected
    assert helps in response.json()["detail"]


@pytest.mark.parametrize(
    ("body", "expected", "helps"),
    [
        (b"{", (400, "BODY_NOT_JSON"), "not valid JSON"),
        (b"", (422, "INVALID_REQUEST"), "needs a body, which is a JSON object"),
        (b"null", (422, "INVALID_REQUEST"), "needs a body, which is a JSON object"),
        (b"\xff", (400, "BODY_NOT_JSON"), "JSON in UTF-8"),
        ('{"message": "őz"}'.encode("latin2"), (400, "BODY_NOT_JSON"), "JSON in UTF-8"),
        (b'{"message": "\\ud800"', (400, "BODY_NOT_JSON"), "not valid JSON"),
        (b"message=x", (400, "BODY_NOT_JSON"), "not valid JSON"),
    ],
)
async def test_a_broken_body(
    make_app: Callable[..., Any],
    client_for: Callable[..., Any],
    body: bytes,
    expected: tuple[int, str],
    helps: str,
) -> None:
    async with client_for(make_app()) as client:
        response = await client.post(URL, content=body, headers={"Content-Type": "application/json"})
    assert problem(response) == expected
    assert helps in response.json()["detail"]


async def test_a_body_without_the_json_type(
    make_app: Callable[..., Any], client_for: Callable[..., Any]
) -> None:
    async with client_for(make_app()) as client:
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        response = await client.post(URL, content=b'{"message":"x","domain":"hospital"}', headers=form)
        utf8 = {"Content-Type": "application/json; charset=utf-8"}
        right = await client.post(URL, content=b'{"message":"x","domain":"hospital"}', headers=utf8)
    assert problem(response) == (415, "CONTENT_TYPE_NOT_JSON")
    assert right.status_code == 200


async def test_unknown_paths_and_methods(
    make_app: Callable[..., Any], client_for: Callable[..., Any]
) -> None:
    async with client_for(make_app()) as client:
        assert problem(await client.get("/api/nothing")) == (404, "NOT_FOUND")
        wrong = await client.get(URL)
    assert problem(wrong) == (405, "METHOD_NOT_ALLOWED")
    assert wrong.headers["allow"] == "POST"


async def test_domains(make_app: Callable[..., Any], client_for: Callable[..., Any]) -> None:
    async with client_for(make_app()) as client:
        assert (await client.get("/api/domains")).json() == {
            "domains": [
                {"name": "english", "generation": 1, "languages": ["en"]},
                {"name": "hospital", "generation": 1, "languages": ["hu"]},
            ]
        }


async def test_a_page_has_all_its_sentences(
    make_app: Callable[..., Any], client_for: Callable[..., Any]
) -> None:
    path = f"/api/documents/{PARKING}/pages/0"
    async with client_for(make_app()) as client:
        assert (await client.get(path, params={"domain": "hospital"})).json() == {
            "domain": "hospital",
            "generation": 1,
            "documentId": PARKING,
            "documentName": "Parkolás.txt",
            "documentUrl": None,
            "page": 0,
            "summary": None,
            "sentences": [
                {"sentenceNumber": 0, "text": "A betegek a kórház északi oldalán parkolhatnak."},
                {"sentenceNumber": 1, "text": "Az első fél óra díjtalan."},
            ],
        }
        gone = await client.get(f"/api/documents/{PARKING}/pages/7", params={"domain": "hospital"})
        elsewhere = await client.get(path, params={"domain": "english"})
        malformed = await client.get("/api/documents/x/pages/-1", params={"domain": "english"})
    assert problem(gone) == (404, "UNKNOWN_PAGE")
    assert problem(elsewhere) == (404, "UNKNOWN_PAGE")
    assert problem(malformed) == (422, "INVALID_REQUEST")


async def test_entities(make_app: Callable[..., Any], client_for: Callable[..., Any]) -> None:
    async with client_for(make_app()) as client:
        response = await client.get("/api/entities", params={"domain": "hospital", "q": "Ki Kelemen Anna?"})
        none = await client.get("/api/entities", params={"domain": "hospital", "q": "Ki?"})
    assert response.json() == {
        "entities": [
            {
                "entityId": "210180959398348116",
                "name": "Kelemen Anna",
                "label": "PER",
                "aliases": ["Kelemen Anna", "Kelemen Annát"],
                "mentionCount": 1,
                "documentCount": 1,
            }
        ]
    }
    assert none.json() == {"entities": []}


async def test_health(make_app: Callable[..., Any], client_for: Callable[..., Any]) -> None:
    async with client_for(make_app()) as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz")).json() == {"status": "ready", "domains": 2}


async def test_a_store_that_cannot_be_read_is_not_ready(
    make_app: Callable[..., Any], client_for: Callable[..., Any], knowledge_base: Any
) -> None:
    def fail() -> list[str]:
        raise PermissionError("no access to the store")

    knowledge_base.domains = fail
    async with client_for(make_app()) as client:
        assert (await client.get("/healthz")).status_code == 200
        assert problem(await client.get("/readyz")) == (503, "STORE_NOT_READABLE")


async def test_a_new_generation_is_served_without_a_restart(
    make_app: Callable[..., Any], chat: Callable[..., Any], knowledge_base: Any
) -> None:
    app = make_app()
    before = await chat(app, "Hol van a röntgen?", trace=True)
    new = MemoryDocument("R.txt", "A röntgen a földszinten van.")
    knowledge_base.stores["hospital"] = MemoryKnowledge([new], domain="hospital", generation=2)
    after = await chat(app, "Hol van a röntgen?", trace=True)

    def sources(events: list[dict[str, Any]]) -> list[str]:
        return [source["text"] for event in events for source in event.get("sources", ())]

    assert (sources(before), sources(after)) == ([], ["A röntgen a földszinten van."])
    assert [event["trace"]["generation"] for event in after if "trace" in event] == [2]


class Nothing(BaseModel):
    pass


class ClosedTool(ChatbotTool[Nothing]):
    name = "closed"
    request_class = Nothing
    executable_instruction = "closed: for signed-in users"

    def is_eligible(self, user_data: object) -> bool:
        return user_data is not None

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        return ToolExecutionResult.as_answered(self.name)


async def test_r4_10_is_eligible_holds_for_a_tool_started_by_name(
    make_app: Callable[..., Any], client_for: Callable[..., Any]
) -> None:
    async with client_for(make_app(ClosedTool)) as client:
        response = await client.post(URL, json={"message": "x", "domain": "hospital", "toolName": "closed"})
        hidden = await client.post(
            URL, json={"message": "x", "domain": "hospital", "systems": ["A"], "toolName": "closed"}
        )
    assert problem(response) == (403, "TOOL_NOT_ELIGIBLE")
    assert problem(hidden) == (422, "TOOL_NOT_ACTIVATABLE")
