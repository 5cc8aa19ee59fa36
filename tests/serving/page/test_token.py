"""The chat page in headless Chromium: the token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Fixture = Any
Open = Callable[..., Page]
TOKEN = "0123456789abcdef0123"


def test_a_token_is_asked_for_once_and_kept_for_the_session(
    make_app: Fixture, running: Fixture, open_page: Open, tell: Fixture
) -> None:
    with running(make_app(token=TOKEN)) as server:
        tell(server.url, "c", "Hol parkolhatnak a betegek?", token=TOKEN)
        page = open_page(f"{server.url}/#chat=c")
        door = page.get_by_role("dialog")
        expect(door).to_contain_text("Hozzáférési kulcs")
        page.locator("#token").fill(TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator("#domain option")).to_have_count(2)
        expect(page.locator("#chat-list a")).to_have_count(1)
        expect(page.locator(".answer")).to_contain_text("északi oldalán")
        expect(door).to_have_count(0)
        page.reload()
        expect(page.locator(".answer")).to_contain_text("északi oldalán")
        expect(door).to_have_count(0)


def test_a_wrong_token_is_told_and_asked_for_again(
    make_app: Fixture, running: Fixture, open_page: Open
) -> None:
    with running(make_app(token=TOKEN)) as server:
        page = open_page(server.url)
        page.locator("#token").fill("őszi")
        page.keyboard.press("Enter")
        expect(page.locator("#token:invalid")).to_be_visible()
        page.locator("#token").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog").get_by_role("alert")).to_have_text(
            "A kiszolgáló ezt a kulcsot nem fogadta el."
        )
        expect(page.locator("#token")).to_have_value("")
        page.locator("#token").fill(TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator("#domain option")).to_have_count(2)


def test_without_a_token_the_page_says_what_is_missing(
    make_app: Fixture, running: Fixture, open_page: Open
) -> None:
    with running(make_app(token=TOKEN)) as server:
        page = open_page(server.url)
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#welcome").get_by_role("alert")).to_contain_text("This server needs a token")
        expect(page.get_by_role("dialog")).to_have_count(0)
