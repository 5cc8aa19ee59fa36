"""The chat page in headless Chromium: answers that are files, and answers in segments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

Fixture = Any
Open = Callable[..., Page]


def saved(page: Page, name: str) -> tuple[str, bytes]:
    with page.expect_download() as download:
        page.get_by_role("link", name=name).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_a_pdf_is_saved_as_it_is_live_and_from_the_history(
    make_app: Fixture,
    running: Fixture,
    open_page: Open,
    giving_tool: Fixture,
    use_tool: Fixture,
    shoot: Fixture,
) -> None:
    with running(make_app(giving_tool)) as server:
        page = open_page(server.url)
        use_tool(page, "giving", "pdf")
        name, content = saved(page, "Letöltés: valasz.pdf")
        assert (name, content[:8]) == ("valasz.pdf", b"%PDF-1.4")
        expect(page.locator(".answer")).not_to_contain_text("JVBER")
        shoot(page, "pdf")
        page.reload()
        assert saved(page, "Letöltés: valasz.pdf") == (name, content)


def test_a_pdf_opens_in_a_window_of_its_own(
    make_app: Fixture, running: Fixture, open_page: Open, giving_tool: Fixture, use_tool: Fixture
) -> None:
    with running(make_app(giving_tool)) as server:
        page = open_page(server.url)
        use_tool(page, "giving", "pdf")
        with page.expect_popup() as popup:
            page.get_by_role("link", name="PDF megnyitása").click()
        popup.value.wait_for_load_state()
        assert popup.value.url.startswith(f"blob:{server.url}")
        assert popup.value.evaluate("document.contentType") == "application/pdf"


@pytest.mark.parametrize(
    ("what", "name", "beginning"),
    [
        ("csv", "valasz.csv", "név;kor".encode()),
        ("page", "valasz.html", b"<script>"),
        ("odd", "valasz.bin", b"x"),
    ],
)
def test_other_content_types_are_saved_and_never_opened(
    make_app: Fixture,
    running: Fixture,
    open_page: Open,
    giving_tool: Fixture,
    tell: Fixture,
    what: str,
    name: str,
    beginning: bytes,
) -> None:
    with running(make_app(giving_tool)) as server:
        tell(server.url, "c", what, tool="giving")
        page = open_page(f"{server.url}/#chat=c")
        found, content = saved(page, f"Letöltés: {name}")
        assert (found, content[: len(beginning)]) == (name, beginning)
        expect(page.locator(".file a")).to_have_count(1)
        assert page.evaluate("document.body.dataset.hacked") is None


def test_a_damaged_file_is_told(
    make_app: Fixture, running: Fixture, open_page: Open, giving_tool: Fixture, tell: Fixture
) -> None:
    with running(make_app(giving_tool)) as server:
        tell(server.url, "c", "damaged", tool="giving")
        page = open_page(f"{server.url}/#chat=c")
        expect(page.locator(".answer").get_by_role("alert")).to_have_text("A válaszban lévő fájl sérült.")


def test_segments_are_blocks_of_their_own(
    make_app: Fixture, running: Fixture, open_page: Open, giving_tool: Fixture, use_tool: Fixture
) -> None:
    with running(make_app(giving_tool)) as server:
        page = open_page(server.url)
        use_tool(page, "giving", "segments")
        expect(page.locator(".answer .segment")).to_have_text(["Első rész.", "Második rész."])
