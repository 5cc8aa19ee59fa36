"""Running the server."""

from __future__ import annotations

import gc
import resource
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from serving.app import create_app
from serving.errors import StartupError
from serving.pacing import PacedApp
from serving.settings import Settings

SECONDS_AFTER_STREAMS = 2
"""Beyond the time given to open streams, before uvicorn cuts what is left."""
DESCRIPTORS = 65536
"""Many systems allow 1,024 by default, one for each open stream."""

OnReady = Callable[[str], None]
"""Takes the address to open, once requests are served."""


class StreamEndingServer(uvicorn.Server):
    """A uvicorn server that says when it serves, and lets open streams end before it closes connections."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, url: str, on_ready: OnReady | None) -> None:
        super().__init__(config)
        self._app = app
        self.url = url
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does, then tell the address."""
        await super().startup(sockets)
        if self.started and self._on_ready is not None:
            self._on_ready(self.url)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell the streams, then do as uvicorn does."""
        self._app.state.platform.stopping.set()
        await super().shutdown(sockets)


def serve(settings: Settings, on_ready: OnReady | None = None, *, log_level: str = "info") -> None:
    """Serve until the process is told to stop (SIGINT, SIGTERM).

    Raises StartupError when the settings are unsafe or the address is not to be had.
    """
    raise_descriptor_limit()
    app = create_app(settings)
    listener = open_listener(settings)

    def ready(url: str) -> None:
        spare_the_collector()
        if on_ready is not None:
            on_ready(url)

    make_server(settings, app, listener, ready, log_level=log_level).run(sockets=[listener])


def spare_the_collector() -> None:
    """Take what is loaded out of garbage collection, or each full one would hold up all chats for long."""
    gc.collect()
    gc.freeze()


def raise_descriptor_limit() -> None:
    """Let this process hold `DESCRIPTORS` connections and files at once, or as many as the system lets it."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if now != resource.RLIM_INFINITY and now < DESCRIPTORS:
        raised = DESCRIPTORS if most == resource.RLIM_INFINITY else min(most, DESCRIPTORS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(now, raised), most))


def open_listener(settings: Settings) -> socket.socket:
    """The socket to listen on; port 0 takes a free one. Raises StartupError."""
    settings.check()
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise StartupError(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror or error}. Another server may "
            "run there: stop it, or choose another port with TUDASTAR_PORT"
        ) from error
    # Connections inherit both. asyncio sets the first only on sockets that name their protocol, which these do not.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        stall = int(settings.limits.stall_seconds * 1000)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, stall)
    return listener


def make_server(
    settings: Settings,
    app: FastAPI,
    listener: socket.socket,
    on_ready: OnReady | None = None,
    *,
    log_level: str = "info",
) -> StreamEndingServer:
    """The server for an app; `run(sockets=[listener])` it, or await `serve` inside an event loop."""
    config = uvicorn.Config(
        PacedApp(app),
        log_level=log_level,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(settings.limits.shutdown_seconds) + SECONDS_AFTER_STREAMS,
    )
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return StreamEndingServer(config, app, f"http://{host}:{listener.getsockname()[1]}", on_ready)
