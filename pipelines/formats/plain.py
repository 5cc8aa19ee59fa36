"""Plain text → pages: chapters where headings tell them, and blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.formats.contract import RawPage
from pipelines.formats.headings import CAPITALS_LEVEL, Heading, find_headings

PAGE_CHARACTERS = 6_000
"""A page's usual limit: a longer chapter goes over several pages, cut between lines or sentences."""
LEAST_CHAPTER = 300
"""A line in capitals that follows a heading after fewer characters begins no chapter."""


def split_pages(text: str, heading: str | None = None, *, markdown: bool = False) -> list[RawPage]:
    """The pages of a text; joined they give it back unchanged. Without any letter or digit there are none.

    `heading` is that of the pages before the first heading in the text. In a Markdown text lines that begin
    with `#` are headings.
    """
    if not any(char.isalnum() for char in text):
        return []
    return [
        RawPage(title, block)
        for title, chapter in _chapters(text, heading, markdown)
        for block in _blocks(chapter)
    ]


def _chapters(text: str, first: str | None, markdown: bool) -> Iterator[tuple[str | None, str]]:
    """Heading and text of each chapter; a heading comes with those above it (`II. KÖTET. ELSŐ RÉSZ. IV.`)."""
    start = body = 0
    path: list[Heading] = []
    for heading in find_headings(text, markdown):
        follows_heading = not text[body : heading.start].strip()
        short = not follows_heading and heading.start - body < LEAST_CHAPTER
        if short and heading.level == CAPITALS_LEVEL and not markdown:
            continue
        if not follows_heading:
            yield _joined(path) or first, text[start : heading.start]
            start = heading.start
        path = [
            above
            for above in path
            if above.level < heading.level or (follows_heading and above.start >= start)
        ]
        path.append(heading)
        body = heading.end
    yield _joined(path) or first, text[start:]


def _joined(path: list[Heading]) -> str | None:
    return " ".join(heading.title for heading in path) or None


def _blocks(text: str) -> Iterator[str]:
    """The text in pieces of bounded size."""
    start = 0
    while len(text) - start > PAGE_CHARACTERS:
        end = _cut(text, start, start + PAGE_CHARACTERS)
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _cut(text: str, start: int, limit: int) -> int:
    """The best end of a page in its second half: a blank line, a line end, a sentence, a space."""
    earliest = start + PAGE_CHARACTERS // 2
    for mark in ("\n\n", "\n\r\n", "\n", ". ", " "):
        found = text.rfind(mark, earliest, limit)
        if found > 0:
            return found + len(mark)
    return limit
