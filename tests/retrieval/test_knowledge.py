"""A published generation as tools see it."""

from __future__ import annotations

import gc
import shutil
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from ner.ingestion import IngestionRequest, SourceRequest
from ner.spec import DomainSpec, RecogniserSpec
from pipelines.engines.local import LocalEngine
from pipelines.run import PipelineRunner
from retrieval.knowledge import StoreKnowledge, StoreKnowledgeBase
from store.errors import NoGenerationError
from toolkit.documents import UniqueTextDocument
from toolkit.knowledge import Entity, Knowledge, KnowledgeBase

TALE = (
    "A kovács lánya",
    "Varga Benedek a falu kovácsa volt.",
    "Varga lánya, Borbála, a malomban szolgált.",
    "Borbála szerette Illést.",
    "Illésnek két ökre volt.",
    "A vásárba Borbálával indult Illés.",
    "Este Benedek uram elaludt.",
    "A kút mellett senki sem járt.",
    "Varga Benedeknek fájt a keze.",
    "Illés elment Egerbe.",
)


@pytest.fixture
def tale(base: StoreKnowledgeBase) -> StoreKnowledge:
    return base.open("tale")


def texts(documents: list[UniqueTextDocument]) -> list[str | None]:
    return [document.text for document in documents]


def entity(knowledge: StoreKnowledge, name: str) -> Entity:
    return next(each for each in knowledge.find_entities(name) if each.name == name)


def test_it_is_what_tools_are_promised(base: StoreKnowledgeBase, tale: StoreKnowledge) -> None:
    promised: tuple[KnowledgeBase, Knowledge] = (base, tale)
    assert promised[0].domains() == ["sea", "tale"]
    assert (tale.domain, tale.generation, tale.languages) == ("tale", 2, ("hu",))


def test_an_unknown_domain_is_told_with_those_there_are(base: StoreKnowledgeBase) -> None:
    for name in ("land", "../tale", "", "\x00", "t" * 500):
        with pytest.raises(NoGenerationError, match="sea, tale"):
            base.open(name)


def test_search_gives_places_texts_and_scores_best_first(tale: StoreKnowledge) -> None:
    best, *others = tale.search("Kinek fájt a keze?", limit=3)
    assert (best.document_name, best.page, best.sentence_number) == ("mese", 0, 8)
    assert best.text == "Varga Benedeknek fájt a keze."
    assert best.sentence_score > max(each.sentence_score for each in others)


def test_r1_6_every_call_honours_the_systems(tale: StoreKnowledge) -> None:
    borbala = entity(tale, "Borbála")
    paper = ("paper",)
    assert texts(tale.search("Borbála", paper, 9)) == ["A pályázatot Borbála nyerte meg."]
    assert texts(tale.entity_sentences(borbala, paper)) == ["A pályázatot Borbála nyerte meg."]
    assert tale.neighbours(borbala, paper) == []
    assert tale.find_entities("Varga Benedek és Illés", paper) == [entity(tale, "Illés")]
    assert [name for name, _ in tale.search_documents("Borbála", paper)] == ["hirek.txt"]
    for nobody in (("nobody",), ("\ud800",), ("book' OR 1=1 --",)):
        assert tale.search("Borbála", nobody) == []
        assert tale.entity_sentences(borbala, nobody) == []
        assert tale.find_entities("Borbála", nobody) == []
        assert tale.neighbours(borbala, nobody) == []


def test_r1_6_nothing_of_another_domain_is_found(base: StoreKnowledgeBase) -> None:
    assert base.open("sea").find_entities("Borbála") == []
    assert base.open("sea").search("Borbála") == []
    assert base.open("tale").search("Harrow's captain") == []


def test_neighbours_of_a_sentence_join_in_reading_order(tale: StoreKnowledge) -> None:
    found = tale.search("vásár", limit=1)
    around = tale.with_neighbours(found, before=2, after=1)
    assert texts(around) == list(TALE[3:7])
    assert [each.sentence_score for each in around] == [0.0, 0.0, found[0].sentence_score, 0.0]
    assert texts(tale.with_neighbours(tale.search("kovács", limit=1), 5, 0)) == list(TALE[:2])
    assert tale.with_neighbours([]) == []


def test_a_page_has_all_its_sentences(tale: StoreKnowledge) -> None:
    document = tale.search("vásár", limit=1)[0]
    assert texts(tale.page(document.document_id, 0)) == list(TALE)
    assert tale.page(document.document_id, 7) == tale.page(1, 0) == []


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Ki az a Borbála?", ["Borbála"]),
        ("Kit szeretett Borbála, Illést vagy Vargát?", ["Borbála", "Illés", "Varga"]),
        ("Ki Varga Benedek?", ["Varga Benedek"]),
        ("VARGA BENEDEK", ["Varga Benedek"]),
        ("Mi történt Egerben?", ["Eger"]),
        ("ki az a borbala", ["Borbála"]),
        ("Ki az a Borbállya?", []),
        ("Ki az a Borballa?", ["Borbála"]),
        ("Mit ettek vacsorára?", []),
        ("Bor\u00adbála", ["Borbála"]),
        ("", []),
    ],
)
def test_entities_are_found_by_their_names(tale: StoreKnowledge, question: str, names: list[str]) -> None:
    assert [each.name for each in tale.find_entities(question)] == names


def test_an_entity_has_its_forms_and_counts(tale: StoreKnowledge) -> None:
    found = entity(tale, "Borbála")
    assert (found.label, found.aliases) == ("PER", ("Borbála", "Borbálával"))
    assert (found.mention_count, found.document_count) == (4, 2)


def test_the_sentence_that_says_who_somebody_is_comes_first(
    base: StoreKnowledgeBase, tale: StoreKnowledge
) -> None:
    assert tale.entity_sentences(entity(tale, "Varga Benedek"))[0].text == TALE[1]
    assert tale.entity_sentences(entity(tale, "Borbála"))[0].text == TALE[2]
    sea = base.open("sea")
    assert (
        sea.entity_sentences(entity(sea, "Mabel"))[0].text
        == "The captain's niece, Mabel, kept Harrow's books."
    )


def test_the_company_of_an_entity_comes_with_its_evidence(tale: StoreKnowledge) -> None:
    found = tale.neighbours(entity(tale, "Borbála"))
    assert [(each.entity.name, each.weight, texts(list(each.evidence))) for each in found] == [
        ("Illés", 2.0, [TALE[3], TALE[5]]),
        ("Varga", 1.0, [TALE[2]]),
    ]
    assert tale.neighbours(entity(tale, "Borbála"), ("book", "paper")) == found
    assert tale.neighbours(entity(tale, "Borbála"), limit=1) == found[:1]
    assert tale.neighbours(entity(tale, "Borbála"), limit=0) == []


@pytest.mark.parametrize(
    "text",
    [
        "\x00\x1b[31m",
        "\ud800 Borbála",
        "🙂👩‍👩‍👧 ‮rlo‬ שלום",
        "\"'; DROP TABLE entities; -- %",
        "AND OR NOT ( ) [ ] { } ^ ~ * ? : \\ /",
        "Borbála " * 15_000,
        "x" * 100_000,
        "Á" * 100_000,
    ],
)
def test_any_text_may_be_asked(tale: StoreKnowledge, text: str) -> None:
    tale.search(text)
    tale.search_documents(text)
    tale.find_entities(text)
    assert texts(tale.search("vásár", limit=1)) == [TALE[5]]


def test_threads_share_a_generation(tale: StoreKnowledge) -> None:
    questions = ["vásár", "kovács", "Borbála", "Illés ökre", "kút"] * 20

    def ask(question: str) -> tuple[list[UniqueTextDocument], list[Entity]]:
        return tale.search(question), tale.find_entities(question)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, questions)) == [ask(question) for question in questions]


def test_a_generation_cannot_be_written_to(tale: StoreKnowledge) -> None:
    with pytest.raises(duckdb.Error):
        tale._generation.query("DELETE FROM entities")


def publish(root: Path, domain: str, text: str) -> None:
    source = root / "source"
    source.mkdir(exist_ok=True)
    (source / "a.txt").write_text(text, encoding="utf-8")
    gazetteer = RecogniserSpec("gazetteer", ("hu",), {"names": [["Borbála", "PER"]]})
    with PipelineRunner(root / "store", lambda: LocalEngine(1)) as runner:
        runner.run(
            DomainSpec(domain=domain, recognisers=(gazetteer,)),
            IngestionRequest(sources=(SourceRequest(str(source)),)),
        )


def test_a_new_generation_is_taken_up_while_the_old_one_serves_whoever_holds_it(tmp_path: Path) -> None:
    publish(tmp_path, "d", "Borbála a kútnál ült.")
    base = StoreKnowledgeBase(tmp_path / "store")
    old = base.open("d")
    assert base.open("d") is old
    publish(tmp_path, "d", "Borbála a toronyban ült.")
    new = base.open("d")
    assert (old.generation, new.generation) == (1, 2)
    assert texts(old.search("Borbála")) == ["Borbála a kútnál ült."]
    assert texts(new.search("Borbála")) == ["Borbála a toronyban ült."]
    gone = weakref.ref(old._generation)
    del old
    gc.collect()
    assert gone() is None


def test_a_domain_that_is_gone_is_gone(tmp_path: Path) -> None:
    publish(tmp_path, "d", "Borbála a kútnál ült.")
    base = StoreKnowledgeBase(tmp_path / "store")
    base.open("d")
    shutil.rmtree(tmp_path / "store" / "d")
    with pytest.raises(NoGenerationError):
        base.open("d")
    assert base.domains() == []


def test_threads_that_open_a_domain_at_once_share_one_generation(small_store: Path) -> None:
    base = StoreKnowledgeBase(small_store)
    barrier = threading.Barrier(6)

    def open_tale(_: int) -> StoreKnowledge:
        barrier.wait()
        return base.open("tale")

    with ThreadPoolExecutor(6) as pool:
        assert len(set(map(id, pool.map(open_tale, range(6))))) == 1


def test_documents_and_their_headings(tale: StoreKnowledge) -> None:
    news, story = tale.documents()
    assert (news.name, news.system, news.language, news.page_count) == ("hirek", "paper", "hu", 1)
    assert (story.name, story.system) == ("mese", "book")
    assert tale.documents(["book"]) == [story]
    assert tale.documents(limit=1) == [news]
    assert (tale.document(story.document_id), tale.document(1)) == (story, None)
    assert len(tale.headings(story.document_id)) == story.page_count
    assert tale.headings(1) == []


def test_r1_6_entities_by_mentions(tale: StoreKnowledge) -> None:
    assert [each.name for each in tale.entities(limit=2)] == ["Illés", "Borbála"]
    assert [each.name for each in tale.entities(["paper"])] == ["Eger", "Borbála", "Illés"]
