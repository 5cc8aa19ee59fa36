"""The chat page in headless Chromium: the list of chats, and a chat that is opened again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pydantic import BaseModel

from toolkit.emitter import emit_words_async
from toolkit.results import ToolExecutionResult
from toolkit.tool import ALL, ChatbotTool, ToolCall

pytestmark = pytest.mark.browser

Fixture = Any
Open = Callable[..., Page]
PARKING = "Hol parkolhatnak a betegek?"
CARDIOLOGY = "Mikor rendel a kardiológia?"


def titles(page: Page) -> Any:
    return page.locator("#chat-list a")


def test_a_chat_stands_in_the_address_and_a_reload_opens_it(
    make_app: Fixture, running: Fixture, open_page: Open, ask: Fixture, shoot: Fixture
) -> None:
    with running(make_app()) as server:
        page = open_page(server.url)
        expect(page.get_by_text("Még nincs beszélgetés.")).to_be_visible()
        ask(page, PARKING)
        expect(page.locator(".sources li")).not_to_have_count(0)
        expect(titles(page)).to_have_text([PARKING])
        expect(page).to_have_title(f"{PARKING} · Tudástár")
        assert "#chat=" in page.url
        ask(page, CARDIOLOGY)
        expect(page.locator(".status")).to_have_count(0)
        told = page.locator(".answer").all_inner_texts()
        page.reload()
        expect(page.locator(".turn > h2")).to_have_text([PARKING, CARDIOLOGY])
        assert page.locator(".answer").all_inner_texts() == told
        expect(page.locator("#chat-list [aria-current]")).to_have_text(PARKING)
        expect(page.locator("#turns")).to_have_attribute("aria-live", "polite")
        shoot(page, "history")
        page.get_by_role("button", name="1. forrás").first.click()
        expect(page.locator("mark")).to_contain_text("parkolhatnak")


def test_chats_are_opened_left_and_begun_anew(
    make_app: Fixture, running: Fixture, open_page: Open, ask: Fixture, tell: Fixture
) -> None:
    with running(make_app()) as server:
        tell(server.url, "a", PARKING)
        tell(server.url, "b", CARDIOLOGY)
        page = open_page(server.url)
        expect(titles(page)).to_have_text([CARDIOLOGY, PARKING])
        titles(page).nth(1).click()
        expect(page.locator(".turn > h2")).to_have_text([PARKING])
        titles(page).nth(0).click()
        expect(page.locator(".turn > h2")).to_have_text([CARDIOLOGY])
        page.go_back()
        expect(page.locator(".turn > h2")).to_have_text([PARKING])
        page.get_by_role("button", name="Új beszélgetés").click()
        expect(page.get_by_role("heading", name="Kérdezze a dokumentumait")).to_be_visible()
        expect(page.locator("#question")).to_be_focused()
        assert "#" not in page.url
        ask(page, "Ki rendel?")
        expect(titles(page)).to_have_text(["Ki rendel?", CARDIOLOGY, PARKING])
        expect(page.locator(".turn")).to_have_count(1)


def test_more_chats_are_fetched(
    make_app: Fixture, running: Fixture, open_page: Open, tell: Fixture, ask: Fixture
) -> None:
    with running(make_app()) as server:
        for at in range(23):
            tell(server.url, f"c{at}", f"Hol? {at}")
        page = open_page(server.url)
        expect(titles(page)).to_have_count(20)
        page.get_by_role("button", name="Továbbiak").click()
        expect(titles(page)).to_have_count(23)
        expect(titles(page).nth(20)).to_be_focused()
        expect(page.get_by_role("button", name="Továbbiak")).to_be_hidden()
        ask(page, "Új?")
        expect(titles(page)).to_have_count(24)
        expect(titles(page).first).to_have_text("Új?")


def test_a_chat_is_renamed_and_deleted_after_asking(
    make_app: Fixture, running: Fixture, open_page: Open, tell: Fixture, shoot: Fixture
) -> None:
    with running(make_app()) as server:
        tell(server.url, "a", PARKING)
        tell(server.url, "b", CARDIOLOGY)
        page = open_page(f"{server.url}/#chat=a")
        page.get_by_role("button", name=f"Átnevezés: {PARKING}").click()
        field = page.get_by_role("textbox", name="Cím")
        expect(field).to_have_value(PARKING)
        field.fill("  Parkolás ")
        field.press("Enter")
        expect(titles(page)).to_have_text([CARDIOLOGY, "Parkolás"])
        expect(titles(page).last).to_be_focused()
        expect(page).to_have_title("Parkolás · Tudástár")

        page.get_by_role("button", name="Törlés: Parkolás").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Véglegesen törlődik: „Parkolás”.")
        expect(dialog.get_by_role("button", name="Mégse")).to_be_focused()
        shoot(page, "delete")
        page.keyboard.press("Enter")
        expect(dialog).to_have_count(0)
        expect(titles(page)).to_have_count(2)
        page.get_by_role("button", name="Törlés: Parkolás").click()
        dialog.get_by_role("button", name="Törlés").click()
        expect(titles(page)).to_have_text([CARDIOLOGY])
        expect(page.locator(".turn")).to_have_count(0)
        assert "#" not in page.url


def test_an_empty_title_and_a_chat_that_is_gone_are_told(
    make_app: Fixture, running: Fixture, open_page: Open, tell: Fixture
) -> None:
    with running(make_app()) as server:
        tell(server.url, "a", PARKING)
        page = open_page(f"{server.url}/#chat=gone")
        expect(page.locator("#turns").get_by_role("alert")).to_have_text("Nincs ilyen beszélgetés.")
        assert "#" not in page.url
        page.locator("#chat-list li").hover()
        page.get_by_role("button", name=f"Átnevezés: {PARKING}").click()
        page.get_by_role("textbox", name="Cím").fill("  ")
        page.get_by_role("button", name="Mentés").click()
        expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("title")
        page.get_by_role("button", name="Mégse").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(titles(page)).to_have_text([PARKING])


@pytest.mark.parametrize("restart", [False, True])
def test_a_pending_question_is_answered_after_a_reload_or_a_restart(
    make_app: Fixture,
    running: Fixture,
    open_page: Open,
    tell: Fixture,
    asking_tool: Fixture,
    tmp_path: Path,
    restart: bool,
) -> None:
    state = f"sqlite:///{tmp_path}/state.sqlite"
    with running(make_app(asking_tool, state=state)) as server:
        tell(server.url, "c", "Milyen rendelés van?")
        if not restart:
            answer_to_the_end(open_page(f"{server.url}/#chat=c"))
    if restart:
        with running(make_app(asking_tool, state=state)) as server:
            answer_to_the_end(open_page(f"{server.url}/#chat=c"))


def answer_to_the_end(page: Page) -> None:
    """Answers three questions, with a reload between, and looks at all of it again."""
    page.get_by_role("button", name="Gyermek").click()
    expect(page.get_by_role("group", name="Melyik helyen?")).to_be_visible()
    page.reload()
    expect(page.locator(".said")).to_have_text(["Gyermek"])
    expect(page.locator(".asked:has(button)")).to_have_count(1)
    page.get_by_role("button", name="Fő utca").click()
    page.get_by_role("textbox", name="Az Ön válasza").fill("nincs")
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).to_have_text("Gyermek, Fő utca, nincs")
    page.reload()
    expect(page.locator(".said")).to_have_text(["Gyermek", "Fő utca", "nincs"])
    expect(page.locator(".answer")).to_have_text("Gyermek, Fő utca, nincs")
    expect(page.locator(".asked .note, .asked button")).to_have_count(0)


def test_a_question_that_was_dropped_is_closed_in_the_history(
    make_app: Fixture, running: Fixture, open_page: Open, tell: Fixture, asking_tool: Fixture
) -> None:
    with running(make_app(asking_tool)) as server:
        tell(server.url, "c", "Milyen rendelés van?")
        tell(server.url, "c", PARKING)
        page = open_page(f"{server.url}/#chat=c")
        expect(page.locator(".asked .note")).to_contain_text("Már nem él")
        expect(page.locator(".asked button")).to_have_count(0)


class Nothing(BaseModel):
    """No parameters."""


class Slow(ChatbotTool[Nothing]):
    """Says something, then waits."""

    name = "slow"
    eligible_system = ALL
    request_class = Nothing
    executable_instruction = "slow: never"
    go_on = threading.Event()

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult:
        await emit_words_async(call.emitter, "Elkezdem, de", delay=0)
        while not self.go_on.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        if call.final_callback:
            call.final_callback.on_success(self.name, "Elkezdtem és kész.")
        return ToolExecutionResult.as_answered(self.name)


def test_an_answer_that_was_interrupted_says_so(
    make_app: Fixture, running: Fixture, open_page: Open, use_tool: Fixture
) -> None:
    Slow.go_on.clear()
    with running(make_app(Slow)) as server:
        page = open_page(server.url)
        use_tool(page, "slow", "x")
        expect(page.locator(".answer")).to_have_text("Elkezdem, de")
        page.reload()
        expect(page.locator(".notice")).to_have_text("A válasz félbeszakadt.", timeout=10_000)
        expect(page.locator(".answer")).to_have_text("Elkezdem, de")


def test_an_answer_that_another_window_waits_for_is_shown_when_it_is_there(
    make_app: Fixture, running: Fixture, open_page: Open, use_tool: Fixture
) -> None:
    Slow.go_on.clear()
    with running(make_app(Slow)) as server:
        page = open_page(server.url)
        use_tool(page, "slow", "x")
        expect(page.locator(".answer")).to_have_text("Elkezdem, de")
        other = page.context.new_page()
        other.goto(page.url)
        expect(other.locator(".notice")).to_have_text("A válasz még készül…")
        Slow.go_on.set()
        expect(other.locator(".answer")).to_have_text("Elkezdtem és kész.", timeout=10_000)
        expect(other.locator(".notice")).to_have_count(0)


def test_titles_are_never_markup(
    make_app: Fixture, running: Fixture, open_page: Open, tell: Fixture, evil: str
) -> None:
    with running(make_app()) as server:
        tell(server.url, "c", evil)
        page = open_page(f"{server.url}/#chat=c")
        expect(titles(page)).to_contain_text("<img src=x onerror=")
        expect(page.locator(".turn > h2")).to_have_text(evil)
        page.get_by_role("button", name="Törlés").click()
        expect(page.get_by_role("dialog")).to_contain_text("<img src=x onerror=")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Átnevezés").click()
        page.get_by_role("textbox", name="Cím").fill(f"másik {evil}")
        page.keyboard.press("Enter")
        expect(titles(page)).to_contain_text("másik <img src=x")
        assert page.locator("#panel img, #panel b, #turns img, dialog img").count() == 0
        assert page.evaluate("document.body.dataset.hacked") is None


def test_on_a_small_screen_the_list_folds_away(
    make_app: Fixture, running: Fixture, open_page: Open, tell: Fixture, shoot: Fixture
) -> None:
    with running(make_app()) as server:
        tell(server.url, "a", PARKING)
        page = open_page(server.url, viewport={"width": 360, "height": 740}, has_touch=True)
        opener = page.get_by_role("button", name="Beszélgetések")
        expect(titles(page)).to_be_hidden()
        expect(opener).to_have_attribute("aria-expanded", "false")
        opener.click()
        expect(titles(page)).to_be_visible()
        expect(opener).to_have_attribute("aria-expanded", "true")
        expect(page.get_by_role("button", name="Új beszélgetés")).to_be_focused()
        shoot(page, "phone-list")
        page.keyboard.press("Escape")
        expect(titles(page)).to_be_hidden()
        expect(opener).to_be_focused()
        opener.click()
        page.mouse.click(350, 600)
        expect(titles(page)).to_be_hidden()
        opener.click()
        titles(page).click()
        expect(titles(page)).to_be_hidden()
        expect(page.locator(".turn > h2")).to_have_text([PARKING])
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_another_chat_may_be_opened_while_an_answer_is_on_its_way(
    make_app: Fixture, running: Fixture, open_page: Open, use_tool: Fixture, tell: Fixture
) -> None:
    Slow.go_on.clear()
    with running(make_app(Slow)) as server:
        tell(server.url, "a", PARKING)
        page = open_page(server.url)
        use_tool(page, "slow", "x")
        expect(page.locator(".answer")).to_have_text("Elkezdem, de")
        page.get_by_role("link", name=PARKING).click()
        expect(page.locator(".turn > h2")).to_have_text([PARKING])
        expect(page.get_by_role("button", name="Kérdezek")).to_be_visible()
        expect(page.locator(".answer")).to_contain_text("északi oldalán")
        assert page.url.endswith("#chat=a")
