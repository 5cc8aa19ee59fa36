"""The chat page in headless Chromium."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from toolkit.tool import ChatbotTool

pytestmark = pytest.mark.browser

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TOKEN = "0123456789abcdef0123"
SENTENCE = "A betegek a kórház északi oldalán parkolhatnak."


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this file."""
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


def shoot(page: Page, name: str) -> None:
    """A screenshot into the folder `TUDASTAR_SCREENSHOTS`, when it is set."""
    folder = os.environ.get("TUDASTAR_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


def ask(page: Page, question: str, domain: str = "hospital") -> None:
    page.get_by_label("Terület").or_(page.get_by_label("Domain")).select_option(domain)
    page.locator("#question").fill(question)
    page.locator("#question").press("Enter")


class SlowModel:
    """Says its answer in pieces, half a second apart."""

    async def stream_text(self, user_prompt: str, system_prompt: str) -> AsyncIterator[str]:
        for piece in ("A kórház ", "északi oldalán ", "parkolhatnak [1", "]. <b>Ez nem félkövér.</b>"):
            yield piece
            await asyncio.sleep(0.5)

    async def generate_json(
        self, user_prompt: str, system_prompt: str, schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        return dict.fromkeys(schema["properties"])

    async def generate_text(self, user_prompt: str, system_prompt: str) -> str:
        return ""

    async def generate_tool_request(
        self, user_prompt: str, system_prompt: str, tasks: str | None, tool: ChatbotTool[Any]
    ) -> dict[str, dict[str, Any] | None]:
        return {}


def test_a_question_its_streamed_answer_and_the_sentence_on_its_page(
    make_app: Callable[..., Any], running: Callable[..., Any], open_page: Callable[..., Page]
) -> None:
    with running(make_app(llm=SlowModel())) as server:
        page = open_page(server.url)
        shoot(page, "welcome")
        expect(page.get_by_role("heading", name="Kérdezze a dokumentumait")).to_be_visible()
        ask(page, "Hol parkolhatnak a betegek?")
        answer = page.locator(".answer")
        expect(answer).to_contain_text("A kórház")
        assert "Ez nem" not in answer.inner_text()
        expect(page.get_by_role("button", name="Leállítás")).to_be_visible()
        expect(answer).to_contain_text("parkolhatnak 1. <b>Ez nem félkövér.</b>")
        expect(page.locator(".status")).to_have_count(0)
        assert page.locator(".answer b").count() == 0

        page.get_by_role("button", name="1. forrás").click()
        marked = page.locator("mark")
        expect(marked).to_have_text(SENTENCE)
        expect(marked).to_be_in_viewport()
        expect(page.get_by_role("dialog")).to_contain_text("Az első fél óra díjtalan.")
        expect(page.locator("#viewer-place")).to_have_text("1. oldal, 1. mondat")
        shoot(page, "source")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("desktop", {"viewport": {"width": 1280, "height": 860}}),
        ("dark", {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark"}),
        ("phone", {"viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "has_touch": True}),
    ],
)
def test_quotes_and_the_list_of_sources(
    make_app: Callable[..., Any],
    running: Callable[..., Any],
    open_page: Callable[..., Page],
    name: str,
    options: dict[str, Any],
) -> None:
    with running(make_app()) as server:
        page = open_page(server.url, **options)
        ask(page, "Mikor rendel a kardiológia?")
        expect(page.locator(".answer blockquote")).to_have_count(3)
        expect(page.locator(".answer > p")).to_have_text("A tudástár alapján, szó szerint idézve:")
        shoot(page, name)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= options["viewport"]["width"]

        page.locator(".sources li button", has_text="8:00").click()
        expect(page.locator("mark")).to_have_text("Rendelési idő: hétfő és szerda 8:00–13:00.")
        shoot(page, f"{name}-source")
        page.get_by_role("button", name="Következő oldal").click()
        expect(page.get_by_role("dialog")).to_contain_text("A szívritmuszavarok vizsgálata")
        expect(page.locator("mark")).to_have_count(0)
        expect(page.get_by_role("button", name="Következő oldal")).to_be_disabled()
        page.get_by_role("button", name="Bezárás").click()


def test_text_of_documents_is_never_markup(
    make_app: Callable[..., Any], running: Callable[..., Any], open_page: Callable[..., Page]
) -> None:
    with running(make_app()) as server:
        page = open_page(server.url, locale="en-GB")
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        ask(page, "Which script text is only there?", "english")
        expect(page.locator(".answer")).to_contain_text("<script>alert('x')</script> is only text.")
        expect(page.get_by_role("heading", name="Sources")).to_be_visible()
        page.locator(".sources li button").first.click()
        expect(page.locator("mark")).to_contain_text("<script>alert('x')</script>")
    assert dialogs == []


def test_errors_and_stop_are_told(
    make_app: Callable[..., Any],
    running: Callable[..., Any],
    open_page: Callable[..., Page],
    knowledge_base: Any,
) -> None:
    with running(make_app(llm=SlowModel())) as server:
        page = open_page(server.url, locale="en-US")
        ask(page, "Hol parkolhatnak a betegek?")
        expect(page.locator(".answer")).to_contain_text("A kórház")
        page.get_by_role("button", name="Stop").click()
        expect(page.locator(".notice")).to_have_text("Stopped.")
        del knowledge_base.stores["hospital"]
        page.locator("#question").fill("Hol?")
        page.get_by_role("button", name="Ask").click()
        expect(page.get_by_role("alert")).to_have_text("There is no domain 'hospital'. There are: english.")
        shoot(page, "error")


def test_a_token_is_asked_for(
    make_app: Callable[..., Any], running: Callable[..., Any], open_page: Callable[..., Page]
) -> None:
    with running(make_app(token=TOKEN)) as server:
        page = open_page(server.url)
        door = page.get_by_role("dialog")
        expect(door).to_contain_text("Hozzáférési kulcs")
        page.locator("#token").fill(TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator("#domain option")).to_have_count(2)
