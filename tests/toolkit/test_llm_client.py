from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from toolkit.errors import LlmOutputError, LlmTruncatedError, LlmUnavailableError
from toolkit.llm.client import OpenAiAssistant
from toolkit.schema import strict_json_schema
from toolkit.testing.model_server import (
    Behaviour,
    ModelServer,
    replies,
    says,
)
from toolkit.tool import ChatbotTool, ToolCall

Connect = Callable[..., OpenAiAssistant]


class DepartmentRequest(BaseModel):
    department: str | None = None
    floor: int = 2


class DepartmentInfo(ChatbotTool[DepartmentRequest]):
    name = "department_info"
    instruction = "department: az osztály neve"
    request_class = DepartmentRequest

    def execute_with_result(self, call: ToolCall) -> None:
        return None


class PatientRequest(BaseModel):
    patient: str
    ward: str | None = None


class PatientLookup(DepartmentInfo):
    name = "patient_lookup"
    request_class = PatientRequest  # type: ignore[assignment]


class OwnSchema(DepartmentInfo):
    def request_json_schema(self) -> dict[str, Any]:
        schema = strict_json_schema(DepartmentRequest)
        schema["properties"]["department"] = {"enum": ["sebészet", None]}
        return schema


SCHEMA = {
    "type": "object",
    "properties": {
        "sufficient": {"type": "boolean"},
        "reason": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["sufficient", "reason"],
    "additionalProperties": False,
}
GOOD = {"sufficient": True, "reason": "x"}


async def test_r3_5_r3_6_the_request_as_the_server_gets_it(server: ModelServer, connect: Connect) -> None:
    server.script = [says('{"department": "sebészet", "floor": null}')]
    tool = DepartmentInfo()

    result = await connect(api_key="secret", max_tokens=100).generate_tool_request(
        "Hol a sebészet?", "Feladat: %s. Mezők: %s", "osztály", tool
    )

    assert result == {"department_info": {"department": "sebészet", "floor": 2}}
    assert server.bodies == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Feladat: osztály. Mezők: department: az osztály neve"},
                {"role": "user", "content": "Hol a sebészet?"},
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "department_info",
                    "strict": True,
                    "schema": tool.request_json_schema(),
                },
            },
            "temperature": 0.0,
            "max_tokens": 100,
            "stream": False,
        }
    ]
    assert server.headers[0]["authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    "text",
    [
        '{"sufficient": true, "reason": "x"}',
        '\ufeff \n{"sufficient": true, "reason": "x"}\n',
        '```json\n{"sufficient": true, "reason": "x"}\n```',
        'Íme:\n```\n{"sufficient": true, "reason": "x"}\n```\nRemélem, segít {így}.',
        'A válaszom {tehát}: {"sufficient": true, "reason": "x"}. Ennyi.',
        '<think>Legyen {"sufficient": false, "reason": "y"}?</think>{"sufficient": true, "reason": "x"}',
        '[{"sufficient": true, "reason": "x"}]',
        '{"sufficient": true, "reason": "x", "confidence": 0.9}',
    ],
)
async def test_r8_2_what_stands_around_the_object_does_no_harm(
    text: str, server: ModelServer, connect: Connect
) -> None:
    server.script = [says(text)]
    assert await connect().generate_json("q", "s", SCHEMA) == GOOD
    assert len(server.bodies) == 1


async def test_r8_2_a_missing_nullable_key_is_null(server: ModelServer, connect: Connect) -> None:
    server.script = [says('{"sufficient": false}')]
    assert await connect().generate_json("q", "s", SCHEMA) == {"sufficient": False, "reason": None}


async def test_r8_2_a_bare_value_is_taken_for_the_only_field(server: ModelServer, connect: Connect) -> None:
    names = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "properties": {"names": names}, "required": ["names"]}
    server.script = [says('["Dobó", "Mekcsey"]')]
    assert await connect().generate_json("q", "s", schema) == {"names": ["Dobó", "Mekcsey"]}


@pytest.mark.parametrize(
    "text", ["Sajnos nem tudom.", '{"sufficient": "talán", "reason": null}', "[1, 2]", "{}"]
)
async def test_r8_2_what_is_not_valid_is_asked_for_once_more_with_the_error(
    text: str, server: ModelServer, connect: Connect
) -> None:
    server.script = [says(text), says('{"sufficient": true, "reason": "x"}')]

    assert await connect().generate_json("q", "s", SCHEMA) == GOOD

    first, second = (body["messages"] for body in server.bodies)
    assert second[:-1] == [*first, {"role": "assistant", "content": text}]
    assert second[-1]["role"] == "user"
    assert second[-1]["content"].startswith("That is not what was asked for: ")
    assert server.bodies[1]["response_format"] == server.bodies[0]["response_format"]


async def test_r8_2_invalid_twice_is_a_typed_error_with_the_output(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [says('{"sufficient": "talán", "reason": null}'), says("bocsánat")]
    with pytest.raises(
        LlmOutputError, match=r"also when asked again: there is no JSON object .* bocsánat"
    ) as caught:
        await connect().generate_json("q", "s", SCHEMA)
    assert caught.value.output == "bocsánat"
    assert len(server.bodies) == 2


async def test_r8_2_a_cut_off_object_is_asked_for_again_with_more_room(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [
        says('{"sufficient": true, "reason": {"sufficient": false, "reason": null}, "m', "length"),
        says('{"sufficient": true, "reason": "x"}'),
    ]
    assert await connect(max_tokens=50).generate_json("q", "s", SCHEMA) == GOOD
    assert [body["max_tokens"] for body in server.bodies] == [50, 100]
    assert "cut off" in server.bodies[1]["messages"][-1]["content"]


async def test_r8_2_cut_off_twice_is_a_typed_error(server: ModelServer, connect: Connect) -> None:
    server.script = [says('{"sufficient": tr', "length"), says("", "length")]
    with pytest.raises(LlmTruncatedError, match="raise max_tokens"):
        await connect().generate_json("q", "s", SCHEMA)
    assert len(server.bodies) == 2


async def test_r8_2_whole_though_marked_as_cut_off_is_taken(server: ModelServer, connect: Connect) -> None:
    server.script = [says('{"sufficient": true, "reason": "x"} és még', "length")]
    assert await connect().generate_json("q", "s", SCHEMA) == GOOD


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ('{"department": "sebészet"}', {"department": "sebészet", "floor": 2}),
        (
            '{"department_info": {"department": "sebészet", "floor": 3}}',
            {"department": "sebészet", "floor": 3},
        ),
        ('{"department": null, "floor": "3", "phone": 1}', {"department": None, "floor": 3}),
        ("null", None),
    ],
)
async def test_r3_5_parameters_are_plain_and_fit_the_request_class(
    text: str, parameters: dict[str, Any] | None, server: ModelServer, connect: Connect
) -> None:
    server.script = [says(text)]
    result = await connect().generate_tool_request("q", "s", None, DepartmentInfo())
    assert result == {"department_info": parameters}


async def test_r3_5_a_mandatory_parameter_that_is_not_told_means_nothing_extracted(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [says('{"patient": null, "ward": "B"}')]
    result = await connect().generate_tool_request("q", "s", None, PatientLookup())
    assert result == {"patient_lookup": None}
    assert len(server.bodies) == 1


async def test_r3_5_a_tools_own_schema_is_held(server: ModelServer, connect: Connect) -> None:
    server.script = [says('{"department": "pékség", "floor": 1}'), says('{"department": null, "floor": 1}')]
    result = await connect().generate_tool_request("q", "s", None, OwnSchema())
    assert result == {"department_info": {"department": None, "floor": 1}}


@pytest.mark.parametrize("mode", ["json_object", "none"])
async def test_r8_2_a_server_without_schema_mode_is_told_the_schema(
    mode: str, server: ModelServer, connect: Connect
) -> None:
    server.script = [says('{"sufficient": true, "reason": "x"}')]
    assert await connect(structured_output=mode).generate_json("q", "be brief", SCHEMA) == GOOD
    (body,) = server.bodies
    assert body.get("response_format") == ({"type": "json_object"} if mode == "json_object" else None)
    assert body["messages"][0]["content"].startswith("be brief\n\nAnswer with one JSON object")
    assert '"sufficient": {"type": "boolean"}' in body["messages"][0]["content"]


async def test_r8_2_a_server_may_take_the_schema_beside_the_type(
    server: ModelServer, connect: Connect
) -> None:
    server.script = [says('{"sufficient": true, "reason": "x"}')]
    assistant = connect(structured_output="json_object_schema")
    assert await assistant.generate_json("q", "be brief", SCHEMA) == GOOD
    (body,) = server.bodies
    assert body["response_format"] == {"type": "json_object", "schema": SCHEMA}
    assert body["messages"][0]["content"] == "be brief"


async def test_r8_1_text(server: ModelServer, connect: Connect) -> None:
    server.script = [says("Dobó István.")]
    assert await connect().generate_text("Ki?", "") == "Dobó István."
    assert server.bodies[0]["messages"] == [{"role": "user", "content": "Ki?"}]


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (says(None, refusal="Erre nem felelek."), "refuses to answer: Erre nem felelek"),
        (says("", "content_filter"), "content filter"),
    ],
)
async def test_r8_2_a_refusal_is_a_typed_error_at_once(
    behaviour: Behaviour, message: str, server: ModelServer, connect: Connect
) -> None:
    server.script = [behaviour]
    with pytest.raises(LlmOutputError, match=message):
        await connect().generate_text("q", "s")
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "behaviour",
    [
        replies(b"<html>gateway</html>", "text/html"),
        replies(b"{broken"),
        replies(b"{}"),
        replies(b"[]"),
        replies(b"null"),
        replies(b'"text"'),
        replies(b'{"choices": []}'),
        replies(b'{"choices": [{"message": null}]}'),
        replies(b'{"error": {"message": "model is loading"}}'),
        says(None),
        says(" \n"),
    ],
)
async def test_r8_4_an_unusable_reply_is_tried_again_and_then_a_typed_error(
    behaviour: Behaviour, server: ModelServer, connect: Connect
) -> None:
    server.script = [behaviour, says("jó")]
    assert await connect().generate_text("q", "s") == "jó"

    server.reset()
    server.script = [behaviour]
    with pytest.raises((LlmOutputError, LlmUnavailableError), match=server.url):
        await connect(max_retries=1).generate_text("q", "s")
    assert len(server.bodies) == 2


async def test_r8_4_calls_at_once_are_bounded(server: ModelServer, connect: Connect) -> None:
    async def slow(exchange: Any) -> None:
        await asyncio.sleep(0.05)
        await says("jó")(exchange)

    server.script = [slow]
    assistant = connect(max_concurrency=3)
    answers = await asyncio.gather(*(assistant.generate_text("q", "s") for _ in range(9)))
    assert answers == ["jó"] * 9
    assert server.most_active == 3


async def test_r8_4_cancelling_closes_the_connection_and_frees_the_slot(
    server: ModelServer, connect: Connect
) -> None:
    async def hang(exchange: Any) -> None:
        await exchange.wait_for_disconnect()

    server.script = [hang, says("jó")]
    assistant = connect(max_concurrency=1)
    task = asyncio.create_task(assistant.generate_text("q", "s"))
    assert await asyncio.to_thread(server.requested.wait, 2)
    started = time.perf_counter()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(server.disconnected.wait, 2)
    assert time.perf_counter() - started < 2
    assert await assistant.generate_text("q", "s") == "jó"
