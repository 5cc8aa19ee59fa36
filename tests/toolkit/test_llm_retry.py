from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

from toolkit.errors import (
    LlmError,
    LlmRateLimitError,
    LlmRejectedError,
    LlmTimeoutError,
    LlmUnavailableError,
)
from toolkit.llm.client import OpenAiAssistant
from toolkit.llm.retry import retry_after
from toolkit.llm.settings import LlmSettings
from toolkit.testing.model_server import Behaviour, ModelServer, fails, hangs, says, streams

Connect = Callable[..., OpenAiAssistant]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_r8_4_what_may_pass_is_tried_again(status: int, server: ModelServer, connect: Connect) -> None:
    server.script = [fails(status), fails(status), says("jó")]
    assert await connect().generate_text("q", "s") == "jó"
    assert len(server.bodies) == 3


@pytest.mark.parametrize(
    ("status", "kind"), [(429, LlmRateLimitError), (500, LlmUnavailableError), (503, LlmUnavailableError)]
)
async def test_r8_4_the_number_of_tries_is_bounded(
    status: int, kind: type[LlmError], server: ModelServer, connect: Connect
) -> None:
    server.script = [fails(status, "túlterhelt")]
    with pytest.raises(kind, match=rf"answered {status}: .*túlterhelt") as caught:
        await connect(max_retries=2).generate_text("q", "s")
    assert type(caught.value) is kind
    assert len(server.bodies) == 3


@pytest.mark.parametrize(
    ("behaviour", "hint"),
    [
        (fails(400), "json_schema"),
        (fails(401), "check the api_key"),
        (fails(404), "check base_url and model"),
        (fails(429, code="insufficient_quota"), "no credit"),
    ],
)
async def test_r8_4_what_cannot_pass_is_not_tried_again(
    behaviour: Behaviour, hint: str, server: ModelServer, connect: Connect
) -> None:
    server.script = [behaviour]
    with pytest.raises(LlmRejectedError, match=hint) as caught:
        await connect().generate_text("q", "s")
    assert caught.value.status in (400, 401, 404, 429)
    assert len(server.bodies) == 1


async def test_the_key_never_stands_in_a_message_or_a_repr(server: ModelServer, connect: Connect) -> None:
    server.script = [fails(401, "bad key sk-topsecret")]
    with pytest.raises(LlmRejectedError) as caught:
        await connect(api_key="sk-topsecret").generate_text("q", "s")
    assert "sk-topsecret" not in str(caught.value)
    assert "sk-topsecret" not in repr(LlmSettings("http://x", "m", api_key="sk-topsecret"))


async def test_r8_4_retry_after_is_honoured(server: ModelServer, connect: Connect) -> None:
    server.script = [fails(429, retry_after="0.4"), says("jó")]
    started = time.perf_counter()
    assert await connect().generate_text("q", "s") == "jó"
    assert 0.4 <= time.perf_counter() - started < 2


async def test_r8_4_a_wait_beyond_the_time_limit_is_not_begun(server: ModelServer, connect: Connect) -> None:
    server.script = [fails(503, retry_after="3600")]
    started = time.perf_counter()
    with pytest.raises(LlmUnavailableError):
        await connect().generate_text("q", "s")
    assert time.perf_counter() - started < 2
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3),
        ({"retry-after": "-3"}, 0),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": formatdate(time.time() - 100, usegmt=True)}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_r8_4_the_forms_of_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_r8_4_retry_after_as_a_date() -> None:
    asked = retry_after({"retry-after": formatdate(time.time() + 60, usegmt=True)})
    assert asked == pytest.approx(60, abs=2)


async def test_r8_4_a_server_that_is_not_there() -> None:
    assistant = OpenAiAssistant(
        LlmSettings("http://127.0.0.1:9/v1", "m", max_retries=1, first_delay_seconds=0.01)
    )
    with pytest.raises(
        LlmUnavailableError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached .* is it running"
    ):
        await assistant.generate_text("q", "s")
    await assistant.aclose()


async def test_r8_4_a_server_that_breaks_off(server: ModelServer, connect: Connect) -> None:
    async def breaks_off(exchange: Any) -> None:
        await exchange.begin(200, "application/json", content_length="1000")
        await exchange.write(b'{"choices": [')
        raise ConnectionError("the server breaks off")

    server.script = [breaks_off, says("jó")]
    assert await connect().generate_text("q", "s") == "jó"


async def test_r8_4_a_silent_server_is_left_after_the_time_set(server: ModelServer, connect: Connect) -> None:
    server.script = [hangs]
    started = time.perf_counter()
    with pytest.raises(LlmTimeoutError, match=r"within 0\.1 s"):
        await connect(silence_seconds=0.1, max_retries=1).generate_text("q", "s")
    assert time.perf_counter() - started < 2
    assert len(server.bodies) == 2


async def test_r8_4_all_tries_together_have_a_time_limit(server: ModelServer, connect: Connect) -> None:
    server.script = [hangs]
    started = time.perf_counter()
    with pytest.raises(LlmTimeoutError, match=r"within 0\.3 s"):
        await connect(total_seconds=0.3, max_retries=100).generate_text("q", "s")
    assert time.perf_counter() - started < 2


async def test_r8_4_a_server_that_drips_is_left_too(server: ModelServer, connect: Connect) -> None:
    server.script = [streams([b": keep-alive\n\n"] * 50, delay=0.02)]
    with pytest.raises(LlmTimeoutError):
        async for _ in connect(total_seconds=0.3).stream_text("q", "s"):
            pass


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"base_url": "localhost:8000"}, "http://"),
        ({"model": ""}, "no name"),
        ({"structured_output": "xml"}, "json_object"),
        ({"max_concurrency": 0}, "at least 1"),
        ({"total_seconds": 0}, "total_seconds"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LlmSettings(**({"base_url": "http://x/v1", "model": "m"} | wrong))
