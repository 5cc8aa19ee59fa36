from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ner.ingestion import DomainIngestionTool, IngestionRequest, SourceRequest
from ner.recognisers.contract import BUILT_IN, Mention
from ner.recognisers.gazetteer import GazetteerRecogniser
from ner.spec import DomainSpec, RecogniserSpec
from pipelines.engines.contract import Engine
from pipelines.engines.local import LocalEngine
from pipelines.errors import SourceError
from pipelines.run import PipelineRunner
from store.errors import StoreLockedError
from store.layout import DomainLayout
from store.lock import writer_lock
from store.parts import Part
from store.reader import KnowledgeStore

Digest = Callable[..., dict[str, str]]


def no_engine() -> Engine:
    raise AssertionError("an engine was asked for though nothing is new")


def query(tmp_path: Path, sql: str) -> list[dict[str, Any]]:
    with KnowledgeStore(tmp_path / "store").open("d") as generation:
        return generation.query(sql).to_pylist()


def test_a_run_makes_every_table(ingest: Any, corpus: Path, tmp_path: Path) -> None:
    report = ingest(corpus)
    assert (report.status, report.engine, report.generation) == ("published", "local", 1)
    assert list(report.seconds) == ["load", "sentences", "mentions", "entities", "graph", "index", "publish"]
    assert query(
        tmp_path,
        "SELECT source_id, record_id, name, url, language, page_count FROM documents ORDER BY source_id",
    ) == [
        {
            "source_id": source_id,
            "record_id": record_id,
            "name": name,
            "url": url,
            "language": "hu",
            "page_count": 1,
        }
        for source_id, record_id, name, url in [
            ("egy.txt", None, "egy", None),
            ("ketto.md", None, "ketto", None),
            ("sorok.jsonl#a", "a", "Levél", "http://example.org/a"),
            ("sorok.jsonl#b", "b", "sorok.jsonl #b", None),
        ]
    ]
    assert query(tmp_path, "SELECT name, label, aliases, mention_count FROM entities ORDER BY name") == [
        {"name": name, "label": label, "aliases": aliases, "mention_count": count}
        for name, label, aliases, count in [
            ("Bornemissza Gergely", "PER", ["Bornemissza Gergellyel"], 1),
            ("Dobó", "PER", ["Dobó", "Dobónak"], 3),
            ("Eger", "LOC", ["Eger", "Egerbe", "Egerben"], 3),
            ("Gergő", "PER", ["Gergő"], 2),
            ("Éva", "PER", ["Éva", "Évának", "Évát"], 3),
        ]
    ]


def test_edges_carry_the_sentences_as_evidence(ingest: Any, corpus: Path, tmp_path: Path) -> None:
    ingest(corpus)
    rows = query(
        tmp_path,
        """SELECT a.name AS one, b.name AS other, weight, s.text FROM edges
        JOIN entities a ON a.entity_id = source JOIN entities b ON b.entity_id = target,
        unnest(edges.sentences) AS evidence(place)
        JOIN sentences s ON s.document_id = place.document_id AND s.page = place.page
        AND s.sentence_number = place.sentence_number""",
    )
    found = {(frozenset((row["one"], row["other"])), row["weight"], row["text"]) for row in rows}
    assert found == {
        (frozenset(("Gergő", "Éva")), 1.0, "Gergő látta Évát."),
        (frozenset(("Dobó", "Gergő")), 1.0, "Dobónak szólt Gergő."),
        (frozenset(("Dobó", "Eger")), 1.0, "Dobó Egerben volt."),
        (frozenset(("Éva", "Eger")), 1.0, "Éva Egerbe ment."),
        (frozenset(("Bornemissza Gergely", "Dobó")), 1.0, "Bornemissza Gergellyel jött Dobó."),
    }


def test_a_sentence_lies_where_its_offsets_say(ingest: Any, tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("Gergő meg\u00adlátta  Évát.\nDobó\nEgerben volt.\n", encoding="utf-8")
    ingest(source)
    rows = query(
        tmp_path,
        "SELECT s.text, s.start, s.end, p.text AS page FROM sentences s JOIN pages p USING (document_id, page)"
        " ORDER BY sentence_number",
    )
    assert rows[0]["text"] == "Gergő meglátta Évát."
    assert rows[0]["page"][rows[0]["start"] : rows[0]["end"]] == "Gergő meg\u00adlátta  Évát."
    assert (
        query(
            tmp_path,
            "SELECT surface FROM mentions m JOIN sentences s USING (document_id, page, "
            "sentence_number) WHERE s.text[m.start + 1 : m.end] <> m.surface",
        )
        == []
    )


def test_r10_2_nothing_new_means_no_engine(ingest: Any, corpus: Path) -> None:
    first = ingest(corpus)
    again = ingest(corpus, make_engine=no_engine)
    assert (again.status, again.generation, again.counts) == ("unchanged", 1, first.counts)


def test_r10_2_content_decides_what_is_new_and_not_time(ingest: Any, corpus: Path) -> None:
    import os

    ingest(corpus)
    os.utime(corpus / "egy.txt", (1, 1))
    assert ingest(corpus, make_engine=no_engine).status == "unchanged"
    (corpus / "egy.txt").write_text("Dobó Egerben volt.\n", encoding="utf-8")
    os.utime(corpus / "egy.txt", (1, 1))
    assert ingest(corpus).status == "published"


def test_r10_3_after_changes_the_store_equals_a_fresh_one(ingest: Any, corpus: Path, digest: Digest) -> None:
    ingest(corpus)
    (corpus / "egy.txt").write_text("Éva és Dobó Egerben.\n", encoding="utf-8")
    (corpus / "uj.txt").write_text("Gergő Egerben. Bornemissza Gergely ír.\n", encoding="utf-8")
    ingest(corpus)
    (corpus / "ketto.md").unlink()
    (corpus / "uj.txt").rename(corpus / "masik.txt")
    assert ingest(corpus).generation == 3
    ingest(corpus, store="fresh")
    assert digest() == digest("fresh")
    shutil.copytree(corpus, corpus.parent / "elsewhere" / "corpus")
    ingest(corpus.parent / "elsewhere" / "corpus", store="moved")
    assert digest() == digest("moved")


def test_r10_3a_a_run_touches_the_sources_that_it_names(ingest: Any, corpus: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "egy.txt").write_text("Dobó.\n", encoding="utf-8")
    ingest(corpus)
    ingest(other)
    (corpus / "egy.txt").unlink()
    ingest(other, make_engine=no_engine)
    ingest(corpus)
    rows = query(tmp_path, "SELECT source, source_id FROM documents ORDER BY ALL")
    assert [(row["source"], row["source_id"]) for row in rows] == [
        ("corpus", "ketto.md"),
        ("corpus", "sorok.jsonl#a"),
        ("corpus", "sorok.jsonl#b"),
        ("other", "egy.txt"),
    ]


def test_files_of_one_name_in_two_folders_are_two_documents(ingest: Any, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / "src" / folder).mkdir(parents=True)
        (tmp_path / "src" / folder / "readme.md").write_text("Dobó.", encoding="utf-8")
    ingest(tmp_path / "src")
    rows = query(tmp_path, "SELECT source_id FROM documents ORDER BY 1")
    assert [row["source_id"] for row in rows] == ["a/readme.md", "b/readme.md"]


def test_r10_5_a_bad_file_is_a_reject_and_the_rest_is_done(ingest: Any, corpus: Path, tmp_path: Path) -> None:
    (corpus / "rossz.pdf").write_bytes(b"%PDF-1.4 rubbish")
    (corpus / "ures.txt").write_bytes(b"")
    with (corpus / "sorok.jsonl").open("a", encoding="utf-8") as lines:
        lines.write('{"_id": "a", "text": "again"}\n{"cut\n')
    report = ingest(corpus)
    rows = query(tmp_path, "SELECT source_id, stage, code FROM rejects ORDER BY ALL")
    assert [(row["source_id"], row["stage"], row["code"]) for row in rows] == [
        ("rossz.pdf", "load", "malformed"),
        ("sorok.jsonl#3", "load", "duplicate_record"),
        ("sorok.jsonl#4", "load", "bad_record"),
        ("ures.txt", "load", "empty"),
    ]
    assert report.counts["documents"] == 4


class Choosy(GazetteerRecogniser):
    """Finds names, and fails on a page that holds a certain word."""

    def recognise(self, sentences: Sequence[str]) -> list[list[Mention]]:
        if any("Egerben" in sentence for sentence in sentences):
            raise ValueError("not this page")
        return super().recognise(sentences)


def test_r10_5_a_page_on_which_a_recogniser_fails_is_a_reject_and_stays_one(
    ingest: Any, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BUILT_IN, "choosy", f"{__name__}:Choosy")
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or ModuleType(__name__))
    monkeypatch.setattr(sys.modules[__name__], "Choosy", Choosy, raising=False)
    names = [["Dobó", "PER"], ["Éva", "PER"]]
    spec = DomainSpec(domain="d", recognisers=(RecogniserSpec("choosy", ("hu", "en"), {"names": names}),))
    assert ingest(corpus, spec=spec).counts["documents"] == 4
    failed = [{"source_id": "ketto.md", "stage": "mentions", "code": "page_failed"}]
    rejects = "SELECT source_id, stage, code FROM rejects"
    assert query(tmp_path, rejects) == failed
    found = query(tmp_path, "SELECT name FROM entities ORDER BY name")
    assert [row["name"] for row in found] == ["Dobó", "Éva"]
    assert query(tmp_path, "SELECT text FROM sentences WHERE text = 'Dobó Egerben volt.'")
    (corpus / "uj.txt").write_text("Dobó.\n", encoding="utf-8")
    ingest(corpus, spec=spec)
    assert query(tmp_path, rejects) == failed


def test_a_corpus_without_names_is_an_empty_graph(ingest: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nincs itt senki.\n", encoding="utf-8")
    report = ingest(tmp_path / "a.txt")
    assert report.counts == {
        "documents": 1,
        "pages": 1,
        "sentences": 1,
        "mentions": 0,
        "entities": 0,
        "edges": 0,
        "rejects": 0,
    }


class _FailsAfter:
    """An engine that dies when it is asked for one more stage."""

    name = "local"

    def __init__(self, stages: int) -> None:
        self.stages = stages
        self.ran = 0
        self._engine = LocalEngine(1)

    def map(self, task: Any, items: Sequence[Any], advance: Callable[[int], None]) -> list[Part]:
        if self.ran == self.stages:
            raise RuntimeError("killed")
        self.ran += 1
        return self._engine.map(task, items, advance)

    def query(self, sql: str, tables: Mapping[str, Sequence[Path]]) -> Any:
        return self._engine.query(sql, tables)

    def close(self) -> None:
        self._engine.close()


@pytest.mark.parametrize("finished", range(5))
def test_r10_2_a_killed_run_goes_on_behind_its_last_finished_stage(
    ingest: Any, corpus: Path, digest: Digest, finished: int
) -> None:
    with pytest.raises(RuntimeError, match="killed"):
        ingest(corpus, make_engine=lambda: _FailsAfter(finished))
    rest = _FailsAfter(stages=99)
    assert ingest(corpus, make_engine=lambda: rest).generation == 1
    assert rest.ran == 5 - finished
    ingest(corpus, store="fresh")
    assert digest() == digest("fresh")


def test_r10_4_the_last_generation_serves_while_a_run_fails(
    ingest: Any, corpus: Path, digest: Digest
) -> None:
    ingest(corpus)
    before = digest()
    (corpus / "egy.txt").write_text("Dobó.\n", encoding="utf-8")
    with pytest.raises(RuntimeError):
        ingest(corpus, make_engine=lambda: _FailsAfter(2))
    assert digest() == before


def test_r10_6_a_second_run_is_told_to_wait(ingest: Any, corpus: Path, tmp_path: Path) -> None:
    ingest(corpus)
    with (
        writer_lock(DomainLayout.of(tmp_path / "store", "d").lock_file),
        pytest.raises(StoreLockedError, match="wait for it"),
    ):
        ingest(corpus)


def test_old_generations_are_swept_and_three_stay(ingest: Any, corpus: Path, tmp_path: Path) -> None:
    for number in range(5):
        (corpus / "egy.txt").write_text(f"Dobó {number}.\n", encoding="utf-8")
        ingest(corpus)
    layout = DomainLayout.of(tmp_path / "store", "d")
    assert [path.stem for path in sorted(layout.commits.iterdir())] == ["00000003", "00000004", "00000005"]
    assert len(list(layout.search.iterdir())) == 3
    assert len(list(layout.root.glob("knowledge-*"))) == 3
    assert list(layout.stages.iterdir()) == []


def test_a_changed_description_has_everything_read_again(ingest: Any, corpus: Path) -> None:
    ingest(corpus)
    changed = DomainSpec(domain="d", recognisers=(), version="2")
    report = ingest(corpus, spec=changed)
    assert (report.generation, report.counts["mentions"]) == (2, 0)


def test_a_source_name_that_is_taken_is_told(ingest: Any, corpus: Path, tmp_path: Path) -> None:
    ingest(corpus)
    other = tmp_path / "x" / "corpus"
    other.mkdir(parents=True)
    (other / "a.txt").write_text("Dobó.", encoding="utf-8")
    with pytest.raises(SourceError, match="was ingested from"):
        ingest(other)
    assert ingest(SourceRequest(str(other), name="corpus")).counts["documents"] == 1
    with pytest.raises(SourceError, match="belongs to system"):
        ingest(SourceRequest(str(other), name="corpus", system="s"))
    with pytest.raises(SourceError, match="same source name"):
        ingest(other, corpus)


def test_nothing_at_the_root_is_told_and_changes_nothing(ingest: Any, corpus: Path, tmp_path: Path) -> None:
    ingest(corpus)
    with pytest.raises(SourceError, match="nowhere"):
        ingest(tmp_path / "nowhere")
    assert query(tmp_path, "SELECT count(*) AS n FROM documents") == [{"n": 4}]


def test_r4_4_the_tool_reports_an_error_and_does_not_raise(tmp_path: Path) -> None:
    tool = DomainIngestionTool(DomainSpec(domain="d"))
    request = IngestionRequest(sources=(SourceRequest(str(tmp_path / "nowhere")),))
    assert tool.execute_ingestion(request).error == "tool 'domain_ingestion' was given no runner"
    tool.runner = PipelineRunner(tmp_path / "store", no_engine)
    report = tool.execute_ingestion(request)
    assert report.status == "failed"
    assert report.error is not None
    assert "nowhere" in report.error
