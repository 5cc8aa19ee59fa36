from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text

from serving.state.database import Database, database_url, whole_transactions


@whole_transactions
class Writer:
    """One transaction that takes its time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(self, number: int) -> None:
        async with self._database.writing() as connection:
            await connection.execute(text("INSERT INTO numbers VALUES (:number)"), {"number": number})
            await asyncio.sleep(0.2)
            await connection.execute(text("INSERT INTO numbers VALUES (:number)"), {"number": number + 1})


@pytest.mark.parametrize("url", ["sqlite://", None])
async def test_a_caller_that_is_cancelled_leaves_a_transaction_whole(tmp_path: Path, url: str | None) -> None:
    database = Database(database_url(url, tmp_path))
    async with database.writing() as connection:
        await connection.execute(text("CREATE TABLE numbers (number INTEGER)"))
    writing = asyncio.create_task(Writer(database).write(1))
    await asyncio.sleep(0.1)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    async with database.reading() as connection:
        found = (await connection.execute(text("SELECT number FROM numbers ORDER BY number"))).scalars().all()
    await database.close()
    assert list(found) == [1, 2]
