"""`tudastar serve`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from jobs.console import say
from jobs.exit_codes import ExitCode
from jobs.options import DEFAULT_STORE, StoreOption


def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; any but loopback needs TUDASTAR_TOKEN.")
    ] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = None,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Serve the chat page and the REST API. A newly published generation is picked up without a restart."""
    given: dict[str, Any] = {"host": host, "port": port, "store": store}
    from serving.errors import StartupError
    from serving.server import serve as run_server
    from serving.settings import Settings

    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})
        if not settings.store.exists():
            say(f"note: {settings.store} is not there yet; `tudastar ingest` makes it, no restart is needed")
        run_server(settings, lambda url: say(f"open {url} in a browser; Ctrl+C ends"))
    except (StartupError, ValueError) as error:
        say(f"error: {error}")
        raise typer.Exit(ExitCode.USAGE) from error
