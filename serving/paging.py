"""Opaque cursors of lists that are told newest first."""

from __future__ import annotations

import base64
import binascii
import json

from serving.errors import ApiError, shortened

MOST_ROWS = 100
"""Longest page of a list."""


def cursor_of(time: float, row_id: str) -> str:
    """Where the page behind a row begins."""
    return base64.urlsafe_b64encode(json.dumps([time, row_id]).encode()).decode().rstrip("=")


def place_of(cursor: str | None) -> tuple[float, str] | None:
    """The row behind which a page begins; None for the first page. Raises ApiError (422)."""
    if cursor is None:
        return None
    try:
        time, row_id = json.loads(base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)))
        if not isinstance(time, float) or not isinstance(row_id, str) or "\x00" in row_id:
            raise ValueError(cursor)
        row_id.encode()
    except (ValueError, TypeError, binascii.Error, RecursionError) as error:
        detail = f"The cursor {shortened(cursor)!r} is none of ours; use `next` of the page before, or leave it out."
        raise ApiError(422, "INVALID_CURSOR", detail) from error
    return time, row_id
