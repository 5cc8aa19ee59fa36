from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ner.spec import DomainSpec
from pipelines.engines import choose as choosing
from pipelines.engines.choose import choose
from pipelines.engines.contract import Engine
from pipelines.engines.local import LocalEngine
from pipelines.errors import EngineError
from pipelines.stages.entities import COUNT_NAMES
from pipelines.stages.graph import MERGE_PAIRS
from pipelines.stages.tables import PAIRS, RECOGNISED
from store.parts import Part, write_part
from store.tables import PAGES

Digest = Callable[..., dict[str, str]]


def write_page(root: Path, number: int) -> list[Part]:
    """A task: one page of its own."""
    row = {"document_id": number, "page": 0, "heading": None, "text": f"{number}. oldal", "summary": None}
    part = write_part(
        root, PAGES, f"{number % 3:02x}", [pa.RecordBatch.from_pylist([row], schema=PAGES.schema)]
    )
    return [part] if part else []


def fail_on_two(number: int) -> list[Part]:
    """A task that one item breaks."""
    if number == 2:
        raise ValueError("item 2 cannot be done")
    return []


@pytest.fixture(params=["one process", "processes", pytest.param("spark", marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest) -> Any:
    if request.param == "spark":
        yield request.getfixturevalue("spark_engine")
        return
    local = LocalEngine(1 if request.param == "one process" else 2)
    yield local
    local.close()


def test_parts_come_in_the_order_of_the_items(engine: Engine, tmp_path: Path) -> None:
    steps: list[int] = []
    parts = engine.map(functools.partial(write_page, tmp_path), range(7), steps.append)
    assert parts == [write_page(tmp_path, number)[0] for number in range(7)]
    assert sum(steps) == 7


def test_no_items_are_no_parts(engine: Engine) -> None:
    assert engine.map(fail_on_two, [], lambda _: None) == []


def test_a_failing_task_ends_the_run_with_its_own_words(engine: Engine) -> None:
    with pytest.raises(Exception, match="item 2 cannot be done"):
        engine.map(fail_on_two, range(4), lambda _: None)


def test_both_engines_answer_our_queries_alike(engine: Engine, tmp_path: Path) -> None:
    mention = {"document_id": 1, "page": 0, "sentence_number": 0, "start": 0, "end": 4, "label": "PER"}
    names = [
        mention | {"surface": surface, "lemma": "Éva", "language": "hu"}
        for surface in ("Évát", "Éva", "Évát")
    ]
    place = {"document_id": 1, "page": 0, "sentence_number": 0}
    edge = {"source": 1, "target": 2, "kind": "sentence", "weight": 2.0, "sentences": [place, place]}
    recognised = write_part(
        tmp_path, RECOGNISED, "00", [pa.RecordBatch.from_pylist(names, schema=RECOGNISED.schema)]
    )
    pairs = write_part(tmp_path, PAIRS, "00", [pa.RecordBatch.from_pylist([edge, edge], schema=PAIRS.schema)])
    assert recognised is not None
    assert pairs is not None
    counted = engine.query(COUNT_NAMES, {"recognised": [tmp_path / recognised.path]})
    assert [row for batch in counted for row in batch.to_pylist()] == [
        {"language": "hu", "surface": "Éva", "lemma": "Éva", "label": "PER", "mentions": 1},
        {"language": "hu", "surface": "Évát", "lemma": "Éva", "label": "PER", "mentions": 2},
    ]
    merged = engine.query(MERGE_PAIRS, {"pairs": [tmp_path / pairs.path]})
    assert [row for batch in merged for row in batch.to_pylist()] == [
        edge | {"weight": 4.0, "sentences": [place] * 4}
    ]


@pytest.mark.spark
@pytest.mark.slow
def test_r10_3_both_engines_make_the_same_store(
    ingest: Any, sample_data: Path, digest: Digest, spark_engine: Engine
) -> None:
    class _Shared:
        """The shared session, which a run must not stop."""

        name = spark_engine.name
        map = staticmethod(spark_engine.map)
        query = staticmethod(spark_engine.query)

        def close(self) -> None:
            return

    folder = sample_data / "english"
    spec = DomainSpec(domain="d")
    by_spark = ingest(folder, spec=spec, make_engine=_Shared)
    by_local = ingest(folder, spec=spec, store="local", make_engine=lambda: LocalEngine(2))
    assert (by_spark.engine, by_local.engine) == ("spark", "local")
    assert by_spark.counts == by_local.counts
    assert by_spark.counts["entities"] > 10
    assert digest() == digest("local")


def test_auto_takes_spark_where_java_is_new_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    for version, engine, word in [(21, "spark", "21"), (17, "spark", "17"), (11, "local", "too old")]:
        monkeypatch.setattr(choosing, "java_version", lambda version=version: version)
        assert choose("auto").engine == engine
        assert word in choose("auto").reason
    monkeypatch.setattr(choosing, "java_version", lambda: None)
    assert "apt-get install" in choose("auto").reason
    assert choose("local").engine == "local"
    with pytest.raises(EngineError, match="no Java was found"):
        choose("spark")
    with pytest.raises(EngineError, match="auto, spark, local"):
        choose("hadoop")


def test_the_version_of_java_is_read_from_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert choosing.java_version() is None
    for answer, version in [('openjdk version "17.0.1" 2021', 17), ('java version "1.8.0_292"', 8)]:
        java.write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
        java.chmod(0o755)
        assert choosing.java_version() == version
