"""Who a request comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.types import Scope

_KEY = "tudastar_user"


@dataclass(frozen=True, slots=True)
class User:
    """The owner of what a request makes."""

    name: str
    data: Mapping[str, Any] | None = None
    """What tools get as `user_data`; None for an anonymous user."""


LOCAL_USER = "local"
"""Owner on a server without tokens, and with the one token."""
ANONYMOUS = User(LOCAL_USER)


def signed_in(name: str) -> User:
    """The user of a token."""
    return User(name, {"name": name})


def set_user(scope: Scope, user: User) -> None:
    """Remember for the rest of a request whom it comes from."""
    scope[_KEY] = user


def user_of(request: Request) -> User:
    """Whom the request comes from."""
    user: User = request.scope.get(_KEY, ANONYMOUS)
    return user
