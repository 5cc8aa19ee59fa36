"""`tudastar ask`: a question answered as the chat endpoint answers it, without a server."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.console import errors_told, print_json, print_text, say
from jobs.exit_codes import ExitCode
from jobs.options import DEFAULT_STORE, DomainOption, JsonOption, StoreOption, SystemsOption
from store.reader import KnowledgeStore

if TYPE_CHECKING:
    import httpx

API = "http://localhost/api/chatbot"
TEXT_EVENTS = ("LLM_GENERATION", "ANSWER")

Reply = Callable[[dict[str, Any]], str | None]
"""The answer to a question of a tool; None when there is none."""


@dataclass
class Answer:
    """A whole answer with what it rests on, or the question of a tool that nobody answered."""

    answer: str = ""
    sources: list[dict[str, Any]] = field(default_factory=list)
    question: dict[str, Any] | None = None
    trace: dict[str, Any] | None = None
    error: str | None = None


def ask(
    question: Annotated[str, typer.Argument(help="The question, in Hungarian or English.")],
    domain: DomainOption,
    system: SystemsOption = None,
    language: Annotated[
        str | None, typer.Option(help="hu or en; by default the question's language.")
    ] = None,
    reply: Annotated[
        list[str] | None,
        typer.Option(help="Answer to a question that a tool asks back; may be given several times."),
    ] = None,
    tool: Annotated[str | None, typer.Option(help="Start this tool, past the routing.")] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show which tools ran, and why.")] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the domain's documents, with sources."""
    request = {
        "message": question,
        "domain": domain,
        "systems": system or [],
        "language": language,
        "toolName": tool,
        "trace": trace,
    }
    with errors_told():
        KnowledgeStore(store).commit(domain)
        answer = answer_question(store, request, replies(reply or []))
    if answer.error:
        say(f"error: {answer.error}")
        raise typer.Exit(ExitCode.FAILED)
    if as_json:
        more = {"question": answer.question, "trace": answer.trace}
        told = {name: value for name, value in more.items() if value}
        print_json({"answer": answer.answer, "sources": answer.sources, **told})
    else:
        tell(answer)
    if answer.question:
        say("the question waits for an answer: give it by --reply")
        raise typer.Exit(ExitCode.QUESTION)


def replies(given: Sequence[str]) -> Reply:
    """The given answers one after the other, then those of the terminal, if there is one."""
    waiting = list(given)

    def reply(question: dict[str, Any]) -> str | None:
        if waiting:
            return waiting.pop(0)
        if not sys.stdin.isatty():
            return None
        say(described(question))
        return str(typer.prompt("", prompt_suffix="> ", err=True))

    return reply


def answer_question(store: Path, request: dict[str, Any], reply: Reply = lambda question: None) -> Answer:
    """The answer of the chat endpoint, collected from its events; `reply` answers what tools ask back."""
    return asyncio.run(_collect(store, request, reply))


def tell(answer: Answer) -> None:
    """Print an answer and the places of its sources, or the question that waits."""
    for entry in answer.trace["tools"] if answer.trace else ():
        reason = f" ({entry['reason']})" if entry["reason"] else ""
        say(f"{entry['outcome'].lower()}: {entry['tool']}, {entry['seconds']:.3f} s{reason}")
    if answer.question:
        print_text(described(answer.question))
        return
    print_text(answer.answer)
    for source in answer.sources:
        place = f"page {source['page'] + 1}, sentence {source['sentenceNumber'] + 1}"
        print_text(f"  [{source.get('number', '-')}] {source['documentName']}, {place}")


def described(question: dict[str, Any]) -> str:
    """A question with its options."""
    return "\n".join([question["text"], *(f"  - {option}" for option in question["options"])])


async def _collect(store: Path, request: dict[str, Any], reply: Reply) -> Answer:
    async with _client(store) as client:
        answer, chat_id = await _post(client, "chat", request)
        while answer.question and (given := reply(answer.question)) is not None:
            asked = answer.question
            body = {"chatId": chat_id, "answer": given, "trace": request.get("trace", False)}
            answer, _ = await _post(client, "clarify", body)
            if answer.error and sys.stdin.isatty():
                say(f"error: {answer.error}")
                answer = Answer(question=asked)
    return answer


@asynccontextmanager
async def _client(store: Path) -> AsyncIterator[httpx.AsyncClient]:
    import httpx

    from serving.app import create_app
    from serving.settings import Settings

    app = create_app(Settings(store=store, host="127.0.0.1", token=None, users={}, state="sqlite://"))
    transport = httpx.ASGITransport(app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport) as client:
        yield client


async def _post(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> tuple[Answer, str]:
    """What the stream's events add up to, and the chat's id."""
    answer, chat_id = Answer(), ""
    async with client.stream("POST", f"{API}/{path}", json=body, timeout=None) as response:
        if response.is_error:
            return Answer(error=json.loads(await response.aread())["detail"]), chat_id
        async for line in response.aiter_lines():
            if line.startswith("data:"):
                event = json.loads(line.removeprefix("data:"))
                chat_id = event["chatId"]
                _take_in(answer, event)
    return answer, chat_id


def _take_in(answer: Answer, event: dict[str, Any]) -> None:
    status = event["progressStatus"]
    if status in TEXT_EVENTS:
        answer.answer += event["content"]
    elif status == "SOURCES":
        answer.sources = event["sources"]
    elif status == "INTERACTIVE_QUESTION":
        answer.question = event["question"]
    elif status == "TRACE":
        answer.trace = event["trace"]
    elif status == "ERROR":
        answer.error = event["error"]["message"]
