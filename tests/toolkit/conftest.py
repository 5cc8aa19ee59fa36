"""A misbehaving model server, and assistants that talk to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from toolkit.llm.client import OpenAiAssistant
from toolkit.llm.settings import LlmSettings
from toolkit.testing.model_server import ModelServer, running_model_server


@pytest.fixture(scope="session")
def _server() -> Iterator[ModelServer]:
    with running_model_server() as server:
        yield server


@pytest.fixture
def server(_server: ModelServer) -> ModelServer:
    """The misbehaving model server, fresh."""
    _server.reset()
    return _server


@pytest.fixture
async def connect(server: ModelServer) -> AsyncIterator[Callable[..., OpenAiAssistant]]:
    """Makes assistants for that server, with settings fit for tests; closes them."""
    made: list[OpenAiAssistant] = []

    def make(**settings: Any) -> OpenAiAssistant:
        usual: dict[str, Any] = {
            "base_url": server.url,
            "model": "m",
            "first_delay_seconds": 0.01,
            "silence_seconds": 5.0,
            "total_seconds": 10.0,
        }
        made.append(OpenAiAssistant(LlmSettings(**(usual | settings))))
        return made[-1]

    yield make
    for each in made:
        await each.aclose()
