"""Taking a document's bytes apart by formats that foreign parsers read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipelines.formats.contract import RawPage
from pipelines.formats.decode import decode
from pipelines.formats.html import read_html
from pipelines.formats.kinds import MAIL, RICH
from pipelines.formats.mail import read_mail
from pipelines.formats.plain import split_pages
from pipelines.formats.rich import read_rich


@dataclass(frozen=True, slots=True)
class Content:
    """What is in a file that is one document."""

    title: str | None
    media_type: str
    pages: list[RawPage]
    metadata: Mapping[str, Any] = field(default_factory=dict)


def take_apart(content: bytes, kind: str, name: str) -> Content:
    """Read a `RICH`, `MAIL` or `HTML` document. Raises FormatError, and whatever a parser raises."""
    if kind == RICH:
        return Content(*read_rich(content, name))
    if kind == MAIL:
        title, text = read_mail(content)
        return Content(title, "message/rfc822", split_pages(text))
    title, text = read_html(decode(content))
    return Content(title, "text/html", split_pages(text))
