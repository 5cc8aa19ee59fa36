"""Running the server."""

from __future__ import annotations

import logging
import socket

import uvicorn
from fastapi import FastAPI

from serving.settings import Settings

logger = logging.getLogger(__name__)

SECONDS_AFTER_STREAMS = 2
"""Beyond the time given to open streams, before uvicorn cuts what is left."""


class StreamEndingServer(uvicorn.Server):
    """A uvicorn server that lets open streams end by themselves before it closes connections."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell the streams, then do as uvicorn does."""
        app = self.config.app
        if isinstance(app, FastAPI):
            app.state.platform.stopping.set()
        await super().shutdown(sockets)


def make_server(settings: Settings, app: FastAPI, *, log_level: str = "info") -> StreamEndingServer:
    """The server for an app; `run` it, or `await serve()` it inside an event loop."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_level=log_level,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(settings.limits.shutdown_seconds) + SECONDS_AFTER_STREAMS,
    )
    return StreamEndingServer(config)
