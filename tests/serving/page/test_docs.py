"""The page of the API in headless Chromium: nothing from the network, calls can be tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Fixture = Any
Open = Callable[..., Page]
TOKEN = "0123456789abcdef0123"


def test_r13_3_the_api_is_shown_and_tried_without_any_other_host(
    make_app: Fixture, running: Fixture, open_page: Open, shoot: Fixture
) -> None:
    with running(make_app(token=TOKEN)) as server:
        page = open_page(server.url)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(urlsplit(request.url).netloc))
        page.goto(f"{server.url}/docs")
        expect(page.get_by_role("heading", name="Tudástár")).to_be_visible()
        shoot(page, "docs")
        page.get_by_role("button", name="Authorize").click()
        page.get_by_label("auth-bearer-value").fill(TOKEN)
        page.get_by_role("button", name="Apply credentials").click()
        page.get_by_role("button", name="Close", exact=True).click()
        page.get_by_role("button", name="GET /api/domains Domains").click()
        page.get_by_role("button", name="Try it out").click()
        page.get_by_role("button", name="Execute").click()
        expect(page.locator(".live-responses-table td.response-col_status:not(.col_header)")).to_contain_text(
            "200"
        )
        expect(page.locator(".live-responses-table")).to_contain_text("hospital")
        assert {name for name in asked if name} == {urlsplit(server.url).netloc}
