"""The chat page in headless Chromium: a tool's questions to the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

Fixture = Any
Open = Callable[..., Page]
QUESTION = "Milyen rendelés van?"


def open_questions(page: Page) -> Locator:
    """Those that can be answered."""
    return page.locator(".asked:has(button)")


def test_questions_are_answered_by_keyboard_over_several_rounds(
    make_app: Fixture,
    running: Fixture,
    open_page: Open,
    ask: Fixture,
    asking_tool: Fixture,
    shoot: Fixture,
) -> None:
    with running(make_app(asking_tool)) as server:
        page = open_page(server.url)
        ask(page, QUESTION)
        group = page.get_by_role("group", name="Felnőtt vagy gyermek?")
        expect(group.get_by_role("button")).to_have_text(["Felnőtt", "Gyermek"])
        expect(group.get_by_role("textbox")).to_have_count(0)
        expect(group.get_by_role("button", name="Felnőtt")).to_be_focused()
        shoot(page, "question")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")

        group = page.get_by_role("group", name="Melyik helyen?")
        field = group.get_by_role("textbox", name="Más válasz")
        expect(group.get_by_role("button", name="Fő utca")).to_be_focused()
        shoot(page, "question-text")
        field.fill("a sarkon")
        field.press("Enter")

        group = page.get_by_role("group", name="Van megjegyzése?")
        field = group.get_by_role("textbox", name="Az Ön válasza")
        expect(field).to_be_focused()
        expect(group.get_by_role("button")).to_have_count(1)
        field.fill("<b>nincs</b>")
        group.get_by_role("button", name="Válaszolok").click()
        expect(page.locator(".answer")).to_have_text("Gyermek, a sarkon, <b>nincs</b>")
        expect(page.locator(".said")).to_have_text(["Gyermek", "a sarkon", "<b>nincs</b>"])
        expect(page.locator(".turn")).to_have_count(1)
        expect(open_questions(page)).to_have_count(0)
        expect(page.locator("#question")).to_be_focused()
        expect(page.locator("#turns :is(.status, .error, [aria-busy])")).to_have_count(0)


def test_a_message_instead_of_an_answer_drops_the_question(
    make_app: Fixture, running: Fixture, open_page: Open, ask: Fixture, asking_tool: Fixture
) -> None:
    with running(make_app(asking_tool)) as server:
        page = open_page(server.url)
        ask(page, QUESTION)
        expect(open_questions(page)).to_have_count(1)
        ask(page, "Hol parkolhatnak a betegek?")
        expect(page.locator(".asked .note")).to_have_text("Már nem él: válasz helyett új üzenet érkezett.")
        expect(open_questions(page)).to_have_count(0)
        expect(page.locator(".turn").nth(1).locator(".answer")).to_contain_text("északi oldalán")


def test_a_message_that_is_refused_leaves_the_question_open(
    make_app: Fixture,
    running: Fixture,
    open_page: Open,
    ask: Fixture,
    asking_tool: Fixture,
    knowledge_base: Any,
) -> None:
    with running(make_app(asking_tool)) as server:
        page = open_page(server.url)
        ask(page, QUESTION)
        expect(open_questions(page)).to_have_count(1)
        del knowledge_base.stores["english"]
        ask(page, "What?", "english")
        expect(page.get_by_role("alert")).to_contain_text("There is no domain 'english'.")
        page.get_by_role("button", name="Gyermek").click()
        expect(page.get_by_role("group", name="Melyik helyen?")).to_be_visible()


def test_an_empty_answer_is_told_and_may_be_mended(
    make_app: Fixture, running: Fixture, open_page: Open, ask: Fixture, asking_tool: Fixture
) -> None:
    with running(make_app(asking_tool)) as server:
        page = open_page(server.url)
        ask(page, QUESTION)
        page.get_by_role("button", name="Gyermek").click()
        field = page.get_by_role("textbox", name="Más válasz")
        field.fill("  ")
        field.press("Enter")
        expect(page.locator(".asked").get_by_role("alert")).to_have_text("A válasz üres; írjon be valamit.")
        expect(field).to_be_focused()
        expect(page.locator(".said")).to_have_count(1)
        page.get_by_role("button", name="Malom utca").click()
        expect(page.get_by_role("group", name="Van megjegyzése?")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_an_expired_question_says_so_and_closes(
    make_app: Fixture, running: Fixture, open_page: Open, ask: Fixture, asking_tool: Fixture
) -> None:
    with running(make_app(asking_tool, question_hours=1e-9)) as server:
        page = open_page(server.url, locale="en-GB")
        ask(page, QUESTION)
        page.get_by_role("button", name="Gyermek").click()
        expect(page.locator(".asked").get_by_role("alert")).to_contain_text(
            "has expired; ask your question again."
        )
        expect(page.locator(".asked .note")).to_have_text("No longer open.")
        expect(open_questions(page)).to_have_count(0)
        expect(page.locator("#question")).to_be_focused()


def test_a_question_that_was_answered_in_another_window_closes(
    make_app: Fixture, running: Fixture, open_page: Open, ask: Fixture, asking_tool: Fixture
) -> None:
    with running(make_app(asking_tool)) as server:
        page = open_page(server.url)
        ask(page, QUESTION)
        expect(open_questions(page)).to_have_count(1)
        other = page.context.new_page()
        other.goto(page.url)
        ask(other, "Hol parkolhatnak a betegek?")
        expect(other.locator(".turn").nth(1).locator(".answer")).to_contain_text("északi oldalán")
        page.get_by_role("button", name="Gyermek").click()
        expect(page.locator(".asked").get_by_role("alert")).to_contain_text("nem vár kérdés válaszra")
        expect(open_questions(page)).to_have_count(0)


def test_a_stream_that_broke_off_leaves_the_question_to_be_answered_again(
    make_app: Fixture, running: Fixture, open_page: Open, ask: Fixture, asking_tool: Fixture
) -> None:
    with running(make_app(asking_tool)) as server:
        page = open_page(server.url)
        ask(page, QUESTION)
        expect(open_questions(page)).to_have_count(1)
        page.route("**/clarify", lambda route: route.fulfill(status=200, body=": keep-alive\n\n"), times=1)
        page.get_by_role("button", name="Gyermek").click()
        expect(page.get_by_role("alert")).to_contain_text("A kapcsolat megszakadt")
        page.get_by_role("button", name="Gyermek").click()
        expect(page.get_by_role("group", name="Melyik helyen?")).to_be_visible()


def test_questions_and_options_are_never_markup(
    make_app: Fixture, running: Fixture, open_page: Open, ask: Fixture, evil_tool: Fixture, tell: Fixture
) -> None:
    with running(make_app(evil_tool)) as server:
        tell(server.url, "c", QUESTION, tool="evil")
        page = open_page(f"{server.url}/#chat=c")
        expect(page.locator(".asked legend")).to_contain_text("<img src=x onerror=")
        expect(page.locator(".options button")).to_have_count(2)
        page.locator(".options button").first.click()
        expect(page.locator(".said")).to_contain_text("1 <img src=x onerror=")
        expect(page.locator(".answer")).to_contain_text("1 <img src=x onerror=")
        assert page.locator("#turns img, #turns b").count() == 0
        assert page.evaluate("document.body.dataset.hacked") is None
