"""`tudastar ask`: a question answered as the chat endpoint answers it, without a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from jobs.console import errors_told, print_json, print_text, say
from jobs.exit_codes import ExitCode
from jobs.options import DEFAULT_STORE, DomainOption, JsonOption, StoreOption, SystemsOption
from store.reader import KnowledgeStore

ENDPOINT = "http://localhost/api/chatbot/chat"
TEXT_EVENTS = ("LLM_GENERATION", "ANSWER")


@dataclass
class Answer:
    """A whole answer with what it rests on."""

    answer: str = ""
    sources: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None


def ask(
    question: Annotated[str, typer.Argument(help="The question, in Hungarian or English.")],
    domain: DomainOption,
    system: SystemsOption = None,
    language: Annotated[
        str | None, typer.Option(help="hu or en; by default the question's language.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the domain's documents, with sources."""
    request = {"message": question, "domain": domain, "systems": system or [], "language": language}
    with errors_told():
        KnowledgeStore(store).commit(domain)
        answer = answer_question(store, request)
    if answer.error:
        say(f"error: {answer.error}")
        raise typer.Exit(ExitCode.FAILED)
    if as_json:
        print_json({"answer": answer.answer, "sources": answer.sources})
    else:
        tell(answer)


def answer_question(store: Path, request: dict[str, Any]) -> Answer:
    """The answer of the chat endpoint, collected from its events."""
    return asyncio.run(_collect(store, request))


def tell(answer: Answer) -> None:
    """Print an answer and the places of its sources."""
    print_text(answer.answer)
    for source in answer.sources:
        place = f"page {source['page'] + 1}, sentence {source['sentenceNumber'] + 1}"
        print_text(f"  [{source.get('number', '-')}] {source['documentName']}, {place}")


async def _collect(store: Path, request: dict[str, Any]) -> Answer:
    answer = Answer()
    async for event in _events(store, request):
        status = event["progressStatus"]
        if status in TEXT_EVENTS:
            answer.answer += event["content"]
        elif status == "SOURCES":
            answer.sources = event["sources"]
        elif status == "ERROR":
            answer.error = event["error"]["message"]
    return answer


async def _events(store: Path, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    import httpx

    from serving.app import create_app
    from serving.settings import Settings

    app = create_app(Settings(store=store, host="127.0.0.1", token=None, users={}, state="sqlite://"))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport) as client,
        client.stream("POST", ENDPOINT, json=request, timeout=None) as response,
    ):
        if response.is_error:
            problem = json.loads(await response.aread())
            yield {"progressStatus": "ERROR", "error": {"message": problem["detail"]}}
            return
        async for line in response.aiter_lines():
            if line.startswith("data:"):
                yield json.loads(line.removeprefix("data:"))


def default_store() -> Path:
    """The store that commands use when none is named."""
    return DEFAULT_STORE
