"""What one running app shares among its requests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from serving.metrics import Metrics
from serving.settings import Settings
from serving.state.state import State
from serving.turns import ChatServices
from serving.work.platform import Work


@dataclass(frozen=True, slots=True)
class Platform:
    """Made once by `create_app`."""

    settings: Settings
    chat: ChatServices
    state: State
    """Use it by `await state.opened()`."""
    work: Work
    """Use it by `await work.opened()`."""
    metrics: Metrics
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server stops: open streams end."""


def platform_of(request: Request) -> Platform:
    """The app's platform."""
    platform = request.app.state.platform
    assert isinstance(platform, Platform)
    return platform
