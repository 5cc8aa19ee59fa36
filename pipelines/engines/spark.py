"""The Spark engine: the same tasks on executors, DataFrame queries, `local[*]` or any cluster."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds

from pipelines.engines.contract import Advance, Task
from pipelines.engines.local import query_parquet
from store.parts import Part
from store.tables import columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS_PER_CORE = 4
POLL_SECONDS = 0.2
DRIVER_QUERY_BYTES = 64 * 1024 * 1024
"""Queries over less are asked on the driver: a shuffle would take longer than the answer."""
LOGGING = Path(__file__).resolve().with_name("log4j2.properties")
_RESULT = columns(number=pa.int64(), parts=pa.string())


class SparkEngine:
    """Runs on the given master; None takes what `spark-submit` says, or else all cores of this machine."""

    name = "spark"

    def __init__(self, master: str | None = None, driver_query_bytes: int = DRIVER_QUERY_BYTES) -> None:
        self._master = master
        self._driver_query_bytes = driver_query_bytes
        self._session: SparkSession | None = None

    def map(self, task: Task, items: Sequence[Any], advance: Advance) -> list[Part]:
        if not items:
            return []
        session = self._spark()
        slices = min(len(items), TASKS_PER_CORE * session.sparkContext.defaultParallelism)
        numbers = session.range(0, len(items), 1, slices)
        tasks = numbers.mapInArrow(_RunItems(task, items), "number long, parts string")
        rows = self._collect(tasks.toArrow, len(items), slices, advance)
        ordered = sorted(rows.to_pylist(), key=lambda row: int(row["number"]))
        return [Part.model_validate(part) for row in ordered for part in json.loads(row["parts"])]

    def query(self, sql: str, tables: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        size = sum(file.stat().st_size for files in tables.values() for file in files)
        if size < self._driver_query_bytes:
            return query_parquet(sql, tables)
        return self._distributed_query(sql, tables)

    def _distributed_query(self, sql: str, tables: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        session = self._spark()
        for name, files in tables.items():
            session.read.parquet(*[file.as_uri() for file in files]).createOrReplaceTempView(name)
        folder = Path(tempfile.mkdtemp(prefix="tudastar-query-"))
        try:
            session.sql(sql).write.mode("overwrite").parquet(folder.as_uri())
            written = sorted(str(path) for path in folder.glob("part-*.parquet"))
            yield from ds.dataset(written, format="parquet").to_batches(batch_size=8192)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        if self._session is not None:
            self._session.stop()
            self._session = None

    def _spark(self) -> SparkSession:
        if self._session is None:
            self._session = _start_session(self._master)
        return self._session

    def _collect(self, action: Callable[[], pa.Table], items: int, slices: int, advance: Advance) -> pa.Table:
        """Run the action in a thread and report Spark's finished tasks meanwhile."""
        rows: list[pa.Table] = []
        errors: list[Exception] = []

        def run() -> None:
            try:
                rows.append(action())
            except Exception as error:
                errors.append(error)

        worker = threading.Thread(target=run, name="spark-action", daemon=True)
        worker.start()
        reported = 0
        tracker = self._spark().sparkContext.statusTracker()
        while worker.is_alive():
            worker.join(POLL_SECONDS)
            stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
            finished = max((stage.numCompletedTasks for stage in stages if stage), default=0)
            done = min(items * finished // slices, items)
            if done > reported:
                advance(done - reported)
                reported = done
        if errors:
            raise errors[0]
        advance(items - reported)
        return rows[0]


class _RunItems:
    """The function that Spark's workers run over batches of item numbers."""

    def __init__(self, task: Task, items: Sequence[Any]) -> None:
        self._task = task
        self._items = items

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in (int(value) for value in batch.column(0).to_numpy()):
                parts = self._task(self._items[number])
                content = json.dumps([part.model_dump(mode="json") for part in parts])
                yield pa.RecordBatch.from_pylist([{"number": number, "parts": content}], schema=_RESULT)


def _start_session(master: str | None) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("tudastar")
    if master:
        builder = builder.master(master)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={LOGGING.as_uri()}",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
