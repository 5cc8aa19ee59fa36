"""Cursors of lists that are told newest first. A client takes them as they are and makes none itself."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

MOST_ROWS = 100
"""Longest page of a list."""
_PATTERN = r"^[0-9]{1,12}\.[0-9]{1,9}_[A-Za-z0-9_-]{1,64}$"

LimitQuery = Annotated[int, Query(ge=1, le=MOST_ROWS, description="How many at most.")]
CursorQuery = Annotated[
    str | None,
    Query(pattern=_PATTERN, description="`next` of the page before; without it the first page."),
]


def cursor_of(time: float, row_id: str) -> str:
    """Where the page behind a row begins; the time is in seconds since 1970."""
    return f"{time!r}_{row_id}"


def place_of(cursor: str | None) -> tuple[float, str] | None:
    """The row behind which a page begins; None for the first page."""
    if cursor is None:
        return None
    time, _, row_id = cursor.partition("_")
    return float(time), row_id
