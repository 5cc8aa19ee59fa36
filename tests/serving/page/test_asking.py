"""The chat page in headless Chromium: a question, its answer and the sources."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from toolkit.tool import ChatbotTool

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
Make = Callable[..., Any]
SENTENCE = "A betegek a kórház északi oldalán parkolhatnak."


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
    make_app: Make, running: Make, open_page: Open, ask: Make, shoot: Make
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
    make_app: Make,
    running: Make,
    open_page: Open,
    ask: Make,
    shoot: Make,
    name: str,
    options: dict[str, Any],
) -> None:
    with running(make_app()) as server:
        page = open_page(server.url, **options)
        ask(page, "Mikor rendel a kardiológia?")
        expect(page.locator(".answer blockquote")).to_have_count(3)
        expect(page.locator(".segment > p")).to_have_text("A tudástár alapján, szó szerint idézve:")
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
    make_app: Make, running: Make, open_page: Open, ask: Make, shoot: Make
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
    make_app: Make,
    running: Make,
    open_page: Open,
    ask: Make,
    shoot: Make,
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
