"""Chromium, and a served app that asks questions, gives files and tells in segments."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright
from pydantic import BaseModel

from retrieval.tools.rag import RAGRetrievalTool
from serving.app import create_app
from serving.settings import Settings
from toolkit.clarification import ClarificationSession, ClarifyingQuestion
from toolkit.documents import TextAnswer
from toolkit.emitter import LLM_GENERATION, SEGMENT_BREAK, ProgressEvent
from toolkit.kinds import ClarifiableTool
from toolkit.results import ToolExecutionResult
from toolkit.tool import ALL, ChatbotTool, ToolCall

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n"
EVIL = "<img src=x onerror=\"document.body.dataset.hacked='1'\"><b>x</b>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a file: while it runs, no test with an event loop of its own can."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("browser tests need Chromium (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens an address in a fresh profile; a fault in the page's script fails the test."""
    faults: list[str] = []
    contexts: list[Any] = []

    def open_at(url: str, **options: Any) -> Page:
        context = browser.new_context(**{"locale": "hu-HU", **options})
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda m: faults.append(m.text) if "Content Security Policy" in m.text else None)
        page.goto(url)
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def shoot() -> Callable[[Page, str], None]:
    """Takes a screenshot into the folder `TUDASTAR_SCREENSHOTS`, when it is set."""
    folder = os.environ.get("TUDASTAR_SCREENSHOTS")

    def take(page: Page, name: str) -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png")

    return take


@pytest.fixture
def ask() -> Callable[..., None]:
    """Types a question into the page."""

    def type_in(page: Page, question: str, domain: str = "hospital") -> None:
        page.get_by_label("Terület").or_(page.get_by_label("Domain")).select_option(domain)
        page.locator("#question").fill(question)
        page.locator("#question").press("Enter")

    return type_in


@pytest.fixture
def tell() -> Callable[..., None]:
    """Sends a message past the page, into a chat that is named; with `tool` to that tool alone."""

    def send(url: str, chat_id: str, message: str, tool: str | None = None, token: str | None = None) -> None:
        body = {"chatId": chat_id, "message": message, "domain": "hospital"}
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        named = {"toolName": tool} if tool else {}
        response = httpx.post(f"{url}/api/chatbot/chat", json=body | named, headers=headers, timeout=20)
        assert response.status_code == 200, response.text
        assert '"DONE"' in response.text

    return send


@pytest.fixture
def use_tool() -> Callable[..., None]:
    """Asks a question whose request names a tool, which the page by itself does not."""

    def ask_it(page: Page, tool: str, question: str) -> None:
        def named(route: Route) -> None:
            route.continue_(post_data=route.request.post_data_json | {"toolName": tool})

        expect(page.locator("#domain option")).to_have_count(2)
        page.route("**/api/chatbot/chat", named)
        page.locator("#question").fill(question)
        page.locator("#question").press("Enter")

    return ask_it


@pytest.fixture
def make_app(knowledge_base: Any) -> Callable[..., FastAPI]:
    """Makes an app over the small store, for a server: it closes the app's state when it stops."""

    def make(*tools: type[ChatbotTool[Any]], llm: Any = None, **settings: Any) -> FastAPI:
        settings.setdefault("state", "sqlite://")
        made = Settings(_env_file=None, **settings)
        built_ins = (RAGRetrievalTool, *tools)
        return create_app(made, knowledge=knowledge_base, llm=llm, built_ins=built_ins, plugins=())

    return make


class Visit(BaseModel):
    """What the asking tool wants to know."""

    age: str | None = None
    place: str | None = None
    note: str | None = None


ASKED = (
    ClarifyingQuestion("age", "Felnőtt vagy gyermek?", ("Felnőtt", "Gyermek")),
    ClarifyingQuestion("place", "Melyik helyen?", ("Fő utca", "Malom utca"), allow_free_text=True),
    ClarifyingQuestion("note", f"Van megjegyzése? {EVIL}"),
)


@pytest.fixture
def evil() -> str:
    """A text that would run if it were ever taken for markup."""
    return EVIL


@pytest.fixture
def asking_tool() -> type[ChatbotTool[Any]]:
    """A tool that needs three answers: an option, an option or a text, and a text; then it gives them back."""

    class Asking(ClarifiableTool[Visit]):
        name = "asking"
        eligible_system = ALL
        priority = 0
        request_class = Visit
        executable_instruction = "asking: true, ha rendelést keres"

        def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
            return self.go_on(Visit()) if "rendelés" in call.user_prompt else None

        def execute_with_clarification(
            self, session: ClarificationSession, call: ToolCall
        ) -> ToolExecutionResult:
            request = Visit.model_validate_json(session.partial_request_json)
            given = {session.pending_question_id: session.pending_answer}
            return self.go_on(request.model_copy(update=given))

        def go_on(self, request: Visit) -> ToolExecutionResult:
            for question in ASKED:
                if getattr(request, question.question_id) is None:
                    return ToolExecutionResult.needs_clarification(
                        question, request.model_dump_json(), self.name
                    )
            text = f"{request.age}, {request.place}, {request.note}"
            return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set(text))

    return Asking


@pytest.fixture
def evil_tool() -> type[ChatbotTool[Any]]:
    """A tool whose question and options are written like markup."""

    class Evil(ClarifiableTool[Visit]):
        name = "evil"
        eligible_system = ALL
        priority = 0
        request_class = Visit
        executable_instruction = "evil: never"

        def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
            question = ClarifyingQuestion("age", EVIL, (f"1 {EVIL}", "javascript:alert(1)"))
            return ToolExecutionResult.needs_clarification(question, "{}", self.name)

        def execute_with_clarification(
            self, session: ClarificationSession, call: ToolCall
        ) -> ToolExecutionResult:
            return ToolExecutionResult.as_answer(self.name, TextAnswer.as_set(session.pending_answer))

    return Evil


@pytest.fixture
def giving_tool() -> type[ChatbotTool[Any]]:
    """A tool that gives what the message names: a PDF, other files, a damaged one, or segments."""
    given = {
        "pdf": (base64.b64encode(PDF).decode(), "BASE64_PDF"),
        "damaged": ("%%%", "BASE64_PDF"),
        "csv": ("név;kor\nÁron;5\n", "text/csv"),
        "page": ("<script>document.body.dataset.hacked='1'</script>", "text/html"),
        "odd": ("x", "../../odd name"),
    }

    class Giving(ChatbotTool[Visit]):
        name = "giving"
        eligible_system = ALL
        request_class = Visit
        executable_instruction = "giving: never"

        def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
            if call.user_prompt == "segments":
                return self.in_segments(call)
            content, content_type = given[call.user_prompt]
            answer = TextAnswer.as_set(content)
            return ToolExecutionResult.as_answer(self.name, answer, content_type=content_type)

        def in_segments(self, call: ToolCall) -> ToolExecutionResult:
            assert call.emitter is not None
            for status, text in (
                (LLM_GENERATION, "Első "),
                (LLM_GENERATION, "rész."),
                (SEGMENT_BREAK, None),
                (LLM_GENERATION, "Második rész."),
            ):
                call.emitter.next(ProgressEvent(status, text))
            return ToolExecutionResult.as_answered(self.name)

    return Giving
