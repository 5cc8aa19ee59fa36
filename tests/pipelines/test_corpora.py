"""The main job on real corpora, with the shipped models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ner.ingestion import IngestionRequest, SourceRequest
from ner.spec import DomainSpec
from pipelines.engines.local import LocalEngine
from pipelines.run import PipelineRunner
from store.reader import Generation, KnowledgeStore

pytestmark = pytest.mark.slow

CODES = {
    "empty.txt": "empty",
    "loremipsum-flat.pdf": "no_text",
    "password.pdf": "encrypted",
    "password_protected.xlsx": "encrypted",
    "pypdf__git.pdf": "no_text",
}


def built(store: Path, domain: str, *roots: Path) -> Generation:
    with PipelineRunner(store, lambda: LocalEngine(2)) as runner:
        sources = tuple(SourceRequest(str(root)) for root in roots)
        runner.run(DomainSpec(domain=domain), IngestionRequest(sources=sources))
    return KnowledgeStore(store).open(domain)


@pytest.fixture(scope="module")
def novel(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> Iterator[Generation]:
    text = shared_data / "hu_novels" / "egri_csillagok.txt"
    with built(tmp_path_factory.mktemp("novel"), "novel", text) as generation:
        yield generation


def persons(generation: Generation, limit: int) -> dict[str, Any]:
    rows = generation.query(
        "SELECT name, aliases, mention_count FROM entities WHERE label = 'PER'"
        " ORDER BY mention_count DESC, name LIMIT ?",
        [limit],
    ).to_pylist()
    return {row["name"]: row["aliases"] for row in rows}


def test_the_novels_main_persons_stand_once_with_their_inflected_forms(novel: Generation) -> None:
    found = persons(novel, 10)
    expected = {
        "Gergely": {"Gergelynek", "Gergelyt"},
        "Dobó": {"Dobónak", "Dobót"},
        "Éva": {"Évának", "Évát"},
        "Mekcsey": {"Mekcseynek", "Mekcseyt"},
        "Cecey": {"Ceceynek", "Ceceyt"},
    }
    assert set(expected) <= set(found)
    for name, forms in expected.items():
        assert forms <= set(found[name])
    elsewhere = novel.query(
        "SELECT name, label FROM entities WHERE name IN (SELECT unnest(?)) AND label <> 'PER'",
        [list(expected)],
    )
    assert elsewhere.to_pylist() == []


def test_the_novels_pages_are_its_chapters_and_lose_nothing(novel: Generation, shared_data: Path) -> None:
    pages = novel.query("SELECT heading, text FROM pages ORDER BY page").to_pylist()
    text = (shared_data / "hu_novels" / "egri_csillagok.txt").read_text(encoding="utf-8")
    assert "".join(page["text"] for page in pages) == text
    assert len({page["heading"] for page in pages}) == 96


def test_every_mention_lies_where_it_says(novel: Generation) -> None:
    wrong = novel.query(
        "SELECT count(*) AS n FROM mentions m JOIN sentences s USING (document_id, page, sentence_number)"
        " WHERE s.text[m.start + 1 : m.end] <> m.surface"
    ).to_pylist()
    assert wrong == [{"n": 0}]


def test_r10_5_messy_files_are_read_or_rejected_with_a_reason(tmp_path: Path, shared_data: Path) -> None:
    messy = shared_data / "messy_docs"
    novel = shared_data / "en_novels" / "11_alices_adventures_in_wonderland.txt"
    with built(tmp_path, "messy", messy / "files", novel) as generation:
        rejects = generation.query("SELECT source_id, code, message FROM rejects").to_pylist()
        assert {row["source_id"]: row["code"] for row in rejects} == CODES
        assert all(row["message"] for row in rejects)
        read = generation.query(
            "SELECT DISTINCT split_part(source_id, '#', 1) AS file FROM documents"
        ).to_pylist()
        files = {path.name for path in (messy / "files").iterdir()}
        assert {row["file"] for row in read} == files - set(CODES) | {novel.name}
        for expected in sorted((messy / "expected").iterdir()):
            pages = generation.query(
                "SELECT text FROM pages JOIN documents USING (document_id) WHERE source_id = ? ORDER BY page",
                [expected.name.removesuffix(".utf8.txt")],
            ).to_pylist()
            assert "".join(page["text"] for page in pages) == expected.read_bytes().decode("utf-8"), (
                expected.name
            )
