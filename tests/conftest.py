"""What all tests share: the evaluation data, a store of the sample documents, one Spark session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.commands.demo import DOMAINS
from ner.ingestion import IngestionRequest, SourceRequest
from ner.spec import DomainSpec
from pipelines.engines.choose import OLDEST_JAVA, java_version
from pipelines.engines.contract import Engine
from pipelines.engines.local import LocalEngine
from pipelines.run import PipelineRunner

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of evaluation data: `TUDASTAR_TEST_DATA`, or `shared/data` beside the repository."""
    folder = Path(os.environ.get("TUDASTAR_TEST_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"evaluation data is not there: set TUDASTAR_TEST_DATA or lay it at {folder}")
    return folder


@pytest.fixture(scope="session")
def sample_data() -> Path:
    """The sample documents of this repository."""
    return ROOT / "data"


@pytest.fixture(scope="session")
def spark_engine() -> Iterator[Engine]:
    """The one Spark session of the test run."""
    version = java_version()
    if version is None or version < OLDEST_JAVA:
        pytest.skip(f"Spark tests need Java {OLDEST_JAVA} or newer")
    from pipelines.engines.spark import SparkEngine

    engine = SparkEngine("local[2]", driver_query_bytes=0)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory, sample_data: Path) -> Path:
    """A store of the sample documents, read by the shipped models: domains hospital, tale and museum."""
    store = tmp_path_factory.mktemp("sample") / "store"
    with PipelineRunner(store, lambda: LocalEngine(2)) as runner:
        for domain, folder in DOMAINS.items():
            request = IngestionRequest(sources=(SourceRequest(str(sample_data / folder)),))
            runner.run(DomainSpec(domain=domain), request)
    return store
