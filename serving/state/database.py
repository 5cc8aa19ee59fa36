"""The database behind the API: SQLite without set-up, or PostgreSQL by URL."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import StaticPool

from serving.errors import StartupError

logger = logging.getLogger(__name__)

T = TypeVar("T")

BUSY_SECONDS = 30.0
"""So long a SQLite writer waits for the one before it."""
POOL_SIZE = 10
"""Connections to PostgreSQL; none is held while an answer is streamed."""
_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgresql": "postgresql+asyncpg",
    "postgres": "postgresql+asyncpg",
}
_MIGRATION_LOCK = 7262813
"""Of PostgreSQL's advisory locks: one process migrates, the others wait."""


class Database:
    """Short transactions on one engine; made in the event loop that uses it. Raises StartupError."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self._is_sqlite = url.get_backend_name() == "sqlite"
        self.in_memory = self._is_sqlite and not url.database
        self._engine = _engine(url)
        self._one_writer = asyncio.Lock()

    async def migrate(self) -> None:
        """Bring the tables to this version. Raises StartupError when that cannot be done."""
        try:
            async with self.writing() as connection:
                await connection.run_sync(_migrate)
        except (SQLAlchemyError, OSError) as error:
            raise _unusable(self.url, str(error)) from error

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that sees one state of the database."""
        alone: AbstractAsyncContextManager[Any] = self._one_writer if self.in_memory else nullcontext()
        async with alone, self._engine.begin() as connection:
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that is committed at the end, and rolled back on an exception.

        On SQLite it takes the write lock at its beginning, so what it read stays true until it is committed.
        """
        if not self._is_sqlite:
            async with self._engine.begin() as connection:
                yield connection
            return
        async with (
            self._one_writer,
            self._engine.execution_options(tudastar_writes=True).begin() as connection,
        ):
            yield connection

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()


def whole_transactions(cls: type[T]) -> type[T]:
    """Of a class whose public methods are one transaction each: cancelling a caller does not tear one apart.

    The caller is cancelled when the transaction has ended; a connection that is left in the middle would be lost.
    """
    for name, method in tuple(vars(cls).items()):
        if inspect.iscoroutinefunction(method) and not name.startswith("_"):
            setattr(cls, name, _whole(method))
    return cls


def _whole(method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
    @wraps(method)
    async def call(*args: Any, **kwargs: Any) -> Any:
        task = asyncio.create_task(method(*args, **kwargs))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            while not task.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait({task})
            if not task.cancelled() and task.exception() is not None:
                logger.error("a transaction failed after its caller had gone", exc_info=task.exception())
            raise

    return call


def database_url(given: str | None, folder: Path) -> URL:
    """The URL of the settings, or of a SQLite file in the folder; `sqlite://` is kept in memory alone.

    Raises StartupError.
    """
    if given is None:
        return URL.create("sqlite+aiosqlite", database=str(folder / "state.sqlite"))
    try:
        url = make_url(given)
        driver = _DRIVERS[url.get_backend_name()]
    except (ArgumentError, KeyError) as error:
        raise StartupError(
            "TUDASTAR_STATE is no database address that can be used; valid are sqlite:///path/to/file and "
            "postgresql://user:password@host/database"
        ) from error
    return url.set(drivername=driver)


def _engine(url: URL) -> AsyncEngine:
    if url.get_backend_name() != "sqlite":
        return _create(url, pool_size=POOL_SIZE, max_overflow=POOL_SIZE, pool_pre_ping=True)
    if url.database:
        try:
            Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unusable(url, str(error)) from error
        engine = _create(url, connect_args={"timeout": BUSY_SECONDS})
    else:
        engine = _create(url, poolclass=StaticPool)
    event.listen(engine.sync_engine, "connect", _set_up_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _unusable(url: URL, reason: str) -> StartupError:
    return StartupError(
        f"the database {url.render_as_string()} cannot be used: {reason}. Check TUDASTAR_STATE"
    )


def _create(url: URL, **options: Any) -> AsyncEngine:
    try:
        return create_async_engine(url, **options)
    except ModuleNotFoundError as error:
        raise StartupError(
            f"the driver for {url.get_backend_name()} is not installed: pip install 'tudastar[postgres]'"
        ) from error


def _set_up_sqlite(connection: Any, record: Any) -> None:
    """The driver begins no transactions of its own; `_begin_sqlite` does."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("tudastar_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _migrate(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
    config = Config()
    config.set_main_option("script_location", "serving.state:migrations")
    config.attributes["connection"] = connection
    there = MigrationContext.configure(connection).get_current_heads()
    known = {each.revision for each in ScriptDirectory.from_config(config).walk_revisions()}
    if not known.issuperset(there):
        url = connection.engine.url.render_as_string()
        raise StartupError(
            f"the database {url} is of a newer version of Tudástár ({', '.join(there)}): start that version, or name "
            "another database in TUDASTAR_STATE"
        )
    command.upgrade(config, "head")
