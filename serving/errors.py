"""Errors of the API layer.

ServingError
├── StartupError      fix the settings; the server does not start
├── ApiError          fix the request; becomes a problem+json answer with its code
└── TurnError         the answer cannot be finished; becomes the stream's ERROR event
"""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_QUOTED_VALUE = 80
"""Characters of a caller's value that a message repeats."""


class ServingError(Exception):
    """Base of this package's errors."""


class StartupError(ServingError):
    """Settings under which the server would be unsafe or could not work."""


class ApiError(ServingError):
    """A request that cannot be served, with the code by which a program knows why."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail


class TurnError(ServingError):
    """An answer that broke off after its stream had begun."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def to_wire(self) -> dict[str, str]:
        """{code, message}."""
        return {"code": self.code, "message": self.message}


def turn_error(error: Exception) -> TurnError:
    """What the user is told of an answer that broke off; a fault of the server's is not told whole."""
    if isinstance(error, TurnError):
        return error
    message = "The answer broke off because of a fault in the server; its log tells more."
    return TurnError("INTERNAL_ERROR", message)


def unknown_domain(domain: str, there_are: Sequence[str]) -> ApiError:
    """404 that names the domains there are."""
    if there_are:
        hint = f"There are: {', '.join(there_are)}."
    else:
        hint = "The store is empty; fill it with `tudastar ingest PATH --domain NAME`."
    return ApiError(404, "UNKNOWN_DOMAIN", f"There is no domain {shortened(domain)!r}. {hint}")


def shortened(value: str) -> str:
    """The value, cut for a message."""
    if len(value) <= LONGEST_QUOTED_VALUE:
        return value
    return value[: LONGEST_QUOTED_VALUE - 1] + "…"
