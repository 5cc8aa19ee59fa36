"""The tables come to this version from wherever they are, once, and never back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect, text

from serving.errors import StartupError
from serving.state.database import Database, database_url
from serving.state.tables import metadata

MIGRATE = """
import asyncio, sys
from pathlib import Path
from serving.state.database import Database, database_url

async def migrate() -> None:
    database = Database(database_url(sys.argv[1], Path()))
    print("ready", flush=True)
    sys.stdin.readline()
    await database.migrate()
    await database.close()

asyncio.run(migrate())
"""


def opened(url: str) -> Database:
    return Database(database_url(url, Path()))


async def migrate(url: str) -> None:
    database = opened(url)
    try:
        await database.migrate()
    finally:
        await database.close()


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, metadata))


async def test_from_empty_and_again_it_is_what_the_tables_say(state_url: str) -> None:
    for _ in range(2):
        database = opened(state_url)
        await database.migrate()
        async with database.reading() as connection:
            assert await connection.run_sync(differences) == []
            names = await connection.run_sync(lambda each: inspect(each).get_table_names())
            revisions = (await connection.execute(text("SELECT version_num FROM alembic_version"))).all()
        await database.close()
        assert set(names) == {*metadata.tables, "alembic_version"}
        assert len(revisions) == 1


async def test_a_difference_would_be_seen(state_url: str) -> None:
    database = opened(state_url)
    await database.migrate()
    async with database.writing() as connection:
        await connection.execute(text("ALTER TABLE chats ADD COLUMN colour INTEGER"))
        assert await connection.run_sync(differences) != []
    await database.close()


@pytest.mark.parametrize("processes", [3])
def test_processes_that_begin_at_once_all_find_their_tables(state_url: str, processes: int) -> None:
    command = [sys.executable, "-W", "error", "-c", MIGRATE, state_url]
    begun = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(processes)
    ]
    for process in begun:
        assert process.stdout is not None
        process.stdout.readline()
    for process in begun:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    errors = [process.communicate(timeout=60)[1] for process in begun]
    assert [process.returncode for process in begun] == [0] * processes, b"\n".join(errors).decode()


async def test_a_database_of_a_newer_version_is_refused_and_left_alone(state_url: str) -> None:
    database = opened(state_url)
    await database.migrate()
    async with database.writing() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StartupError, match=r"is of a newer version of Tudástár \(9999\)"):
        await database.migrate()
    async with database.reading() as connection:
        assert (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalar() == "9999"
    await database.close()


@pytest.mark.parametrize(
    "url",
    ["sqlite:////proc/nowhere/state.sqlite", "postgresql://nobody:secret@127.0.0.1:1/none"],
)
async def test_a_database_that_cannot_be_reached_is_told_without_its_password(url: str) -> None:
    with pytest.raises(StartupError) as raised:
        await migrate(url)
    assert "TUDASTAR_STATE" in str(raised.value)
    assert "secret" not in str(raised.value)


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    await asyncio.to_thread(path.write_text, "Nem adatbázis. " * 100)
    database = opened(f"sqlite:///{path}")
    with pytest.raises(StartupError, match="cannot be used"):
        await database.migrate()
    await database.close()
