"""A Hypothesis state machine: whatever happens to sources and store, each run ends as a fresh build would."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

import tantivy
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from ingestion_model import DOMAIN, SPECS, SYSTEMS, FreshBuilds, Held, request, run
from os_calls import Killed, killed_before

from pipelines.engines.contract import Engine
from pipelines.engines.local import LocalEngine
from pipelines.errors import SourceError, UnknownContentError
from pipelines.purge import Selection, purge
from pipelines.stages.load import document_id
from store.commits import commit_numbers, latest_commit
from store.errors import NoGenerationError
from store.layout import DomainLayout
from store.reader import KnowledgeStore
from store.rollback import rollback
from store.verify import verify

PATHS = ("a.txt", "x/a.txt", "y/a.txt", "文書.txt")
TEXTS = (
    "Gergő látta Évát. Dobó Egerben volt.",
    "Éva írt Gergőnek Egerből.",
    "Dobó was in Eger. Gergő wrote to Dobó. He waited.",
    "吾輩は猫である。名前はまだ無い。",
    "",
)
"""The last one is a reject."""
BEGINNINGS = (
    {"alfa": {"a.txt": TEXTS[0]}, "béta": {"a.txt": TEXTS[0]}},
    {"alfa": {"x/a.txt": TEXTS[1], "y/a.txt": TEXTS[1]}, "béta": {"文書.txt": TEXTS[3], "a.txt": TEXTS[4]}},
    {"alfa": {"a.txt": TEXTS[2], "文書.txt": TEXTS[3]}, "béta": {"x/a.txt": TEXTS[1]}},
)
"""One document in two systems; one name in two folders; scripts and a reject."""
sources = st.sampled_from(sorted(SYSTEMS))
some_sources = st.sampled_from((("alfa",), ("béta",), ("alfa", "béta")))
paths = st.sampled_from(PATHS)
moments = st.none() | st.integers(0, 160)
"""The call before which the process is killed; None for a whole run."""


def no_engine() -> Engine:
    raise AssertionError("an engine was asked for though nothing is new")


class IngestionMachine(RuleBasedStateMachine):
    """Sources that change, and runs over them."""

    fresh: ClassVar[FreshBuilds] = FreshBuilds()
    compared: ClassVar[int] = 0
    """Generations that were compared with a fresh build."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(prefix="machine-"))
        self.store = self.place / "store"
        self.layout = DomainLayout.of(self.store, DOMAIN)
        self.folders: dict[str, dict[str, str]] = {source: {} for source in SYSTEMS}
        self.languages = dict.fromkeys(SYSTEMS, "auto")
        self.spec = "whole"
        self.state: frozenset[Held] = frozenset()
        self.number = 0
        self.kept: dict[int, frozenset[Held]] = {}
        self.purged_documents: set[tuple[str, str]] = set()
        self.purged_sources: set[str] = set()
        for source in SYSTEMS:
            (self.place / source).mkdir()

    def make_engine(self) -> Engine:
        return LocalEngine(1)

    @initialize(files=st.sampled_from(BEGINNINGS))
    def begin(self, files: dict[str, dict[str, str]]) -> None:
        for source, texts in files.items():
            for path, text in texts.items():
                self.put(source, path, text)
        self.ingest(tuple(sorted(files)), None, False)

    @rule(source=sources, path=paths, text=st.sampled_from(TEXTS))
    def put(self, source: str, path: str, text: str) -> None:
        self.folders[source][path] = text
        file = self.place / source / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")

    @rule(source=sources, path=paths, target_path=paths)
    def rename(self, source: str, path: str, target_path: str) -> None:
        if path in self.folders[source] and path != target_path:
            self.put(source, target_path, self.folders[source][path])
            self.delete(source, path)

    @rule(source=sources, path=paths)
    def delete(self, source: str, path: str) -> None:
        if self.folders[source].pop(path, None) is not None:
            (self.place / source / path).unlink()

    @rule(spec=st.sampled_from(sorted(SPECS)))
    def describe_otherwise(self, spec: str) -> None:
        self.spec = spec

    @rule(source=sources, language=st.sampled_from(("auto", "hu", "en")))
    def read_as(self, source: str, language: str) -> None:
        self.languages[source] = language

    @rule(source=sources, path=paths, text=st.sampled_from(TEXTS), moment=moments)
    def put_and_ingest(self, source: str, path: str, text: str, moment: int | None) -> None:
        self.put(source, path, text)
        self.ingest((source,), moment, False)

    @rule(names=some_sources, moment=moments, include_purged=st.booleans())
    def ingest(self, names: tuple[str, ...], moment: int | None, include_purged: bool) -> None:
        requests = [request(self.place / name, name, self.languages[name]) for name in names]

        def ingest(make_engine: Callable[[], Engine] = self.make_engine) -> Any:
            return run(
                self.store,
                SPECS[self.spec],
                *requests,
                make_engine=make_engine,
                include_purged=include_purged,
            )

        barred = self.purged_sources.intersection(names) and not include_purged
        if barred or not all(self.folders[name] for name in names):
            self._refused(SourceError, ingest)
            return
        kept_away = set() if include_purged else self.purged_documents
        self._changed(ingest, moment, self.state_after(names, kept_away))
        if moment is None:
            assert ingest(no_engine).status == "unchanged"
            if include_purged:
                self.purged_sources -= set(names)
                self.purged_documents = {each for each in self.purged_documents if each[0] not in names}

    def state_after(self, names: tuple[str, ...], away: set[tuple[str, str]]) -> frozenset[Held]:
        named = {
            Held(
                name,
                self.spec,
                self.languages[name],
                tuple(sorted(f for f in self.folders[name].items() if (name, f[0]) not in away)),
            )
            for name in names
        }
        return frozenset(named | {held for held in self.state if held.source not in names})

    @precondition(lambda self: self.number)
    @rule(moment=moments)
    def roll_back(self, moment: int | None) -> None:
        kept = commit_numbers(self.layout)
        if len(kept) < 2:
            self._refused(NoGenerationError, lambda: rollback(self.layout))
        else:
            self._changed(lambda: rollback(self.layout), moment, self.kept[kept[-2]])

    @precondition(lambda self: self.number)
    @rule(source=sources, path=paths, moment=moments)
    def purge_document(self, source: str, path: str, moment: int | None) -> None:
        selection = Selection(document=document_id(DOMAIN, SYSTEMS[source], source, path))
        kept = {held for number in commit_numbers(self.layout) for held in self.kept[number]}
        texts = [dict(held.files).get(path) for held in kept if held.source == source]
        if not any(texts) and (source, path) not in self.purged_documents:
            self._refused(UnknownContentError, lambda: self._purge(selection))
            return
        state = frozenset(held.without(path) if held.source == source else held for held in self.state)
        self.purged_documents.add((source, path))
        self._purged(selection, moment, state)

    @precondition(lambda self: self.number)
    @rule(source=sources, moment=moments)
    def purge_source(self, source: str, moment: int | None) -> None:
        kept = {held.source for number in commit_numbers(self.layout) for held in self.kept[number]}
        if source not in kept | self.purged_sources:
            self._refused(UnknownContentError, lambda: self._purge(Selection(source=source)))
            return
        self.purged_sources.add(source)
        self._purged(
            Selection(source=source), moment, frozenset(held for held in self.state if held.source != source)
        )

    @precondition(lambda self: self.number)
    @rule(moment=moments)
    def purge_domain(self, moment: int | None) -> None:
        kept = {held.source for number in commit_numbers(self.layout) for held in self.kept[number]}
        self.purged_sources |= kept
        self._purged(Selection(), moment, frozenset())

    def _purge(self, selection: Selection) -> Any:
        return purge(self.store, DOMAIN, selection, self.make_engine)

    def _purged(self, selection: Selection, moment: int | None, state: frozenset[Held]) -> None:
        """A purge that ended early is to be run again."""
        if moment is not None:
            self._attempt(lambda: self._purge(selection), moment)
        self._purge(selection)
        self.kept = {}
        numbers = commit_numbers(self.layout)
        assert len(numbers) <= 1
        self.number = numbers[-1] if numbers else self.number
        self._is(state, numbers[-1] if numbers else None)

    def _refused(self, kind: type[Exception], act: Callable[[], Any]) -> None:
        before = commit_numbers(self.layout)
        try:
            act()
        except kind:
            assert commit_numbers(self.layout) == before
        else:
            raise AssertionError(f"{kind.__name__} was to be raised")

    def _changed(self, act: Callable[[], Any], moment: int | None, state: frozenset[Held]) -> None:
        """After a whole run the store holds `state`; after a killed one that, or what it held before."""
        before = self.latest
        whole = self._attempt(act, moment)
        if whole or self.latest != before:
            self._is(state, self.latest)
        else:
            self._is(self.state, before)

    def _attempt(self, act: Callable[[], Any], moment: int | None) -> bool:
        guard: AbstractContextManager[None] = nullcontext() if moment is None else killed_before(moment)
        try:
            with guard:
                act()
        except Killed:
            return False
        return True

    @property
    def latest(self) -> int | None:
        return next(iter(commit_numbers(self.layout)[::-1]), None)

    def _is(self, state: frozenset[Held], number: int | None) -> None:
        self.state = state
        if number is None:
            assert not any(held.files for held in state)
            return
        assert number >= self.number
        self.number = number
        self.kept[number] = state
        commit = latest_commit(self.layout)
        assert commit is not None
        assert commit.digest == self.fresh.digest(state)
        type(self).compared += 1

    def teardown(self) -> None:
        """In the end all is as listed, and the files that serve hold the rows of the tables."""
        try:
            if commit_numbers(self.layout):
                assert [fault for fault in verify(self.layout).faults if fault.kind != "foreign"] == []
                self._serves()
        finally:
            shutil.rmtree(self.place)

    def _serves(self) -> None:
        with KnowledgeStore(self.store).open(DOMAIN) as generation:
            for table, rows in generation.commit.counts.items():
                there = generation.query(f"SELECT count(*) AS n FROM {table}").to_pylist()
                assert there == [{"n": rows}]
            index = tantivy.Index.open(str(generation.search_path / "sentences"))
            assert index.searcher().num_docs == generation.commit.counts["sentences"]
