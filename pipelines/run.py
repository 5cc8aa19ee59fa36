"""One ingestion run: plan, stages with their markers, publish."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ner.entities import Resolution
from ner.fingerprint import digest_of
from ner.ingestion import IngestionReport, IngestionRequest
from ner.spec import DomainSpec
from ner.text.dictionaries import dictionaries
from pipelines.engines.contract import Engine, Task
from pipelines.fingerprint import code_fingerprint
from pipelines.formats.process import close_parsers
from pipelines.options import NO_OPTIONS, RejectLimit, RunOptions
from pipelines.plan import Plan, make_plan, place, source_name
from pipelines.progress import Progress, SilentProgress
from pipelines.publish import build_search_index, count_rows, publish_generation
from pipelines.rejects import check_rejects
from pipelines.stages.entities import LinkTask, count_entities, resolve, write_names
from pipelines.stages.graph import PairsTask, write_edges, write_entities
from pipelines.stages.load import LoadTask
from pipelines.stages.pages import MentionsTask, SentencesTask, page_items
from store.commits import Commit, latest_commit
from store.layout import DomainLayout
from store.lock import writer_lock
from store.markers import StageManifest, read_marker, write_marker
from store.parts import Part
from store.retention import collect_garbage
from store.tombstones import Tombstones, read_tombstones, write_tombstones

PER_DOCUMENT = ("documents", "pages", "rejects", "files", "sentences", "recognised")
"""Tables whose parts are a function of their bucket's files alone."""


class PipelineRunner:
    """Runs ingestions into a store. Use it as a context manager.

    The engine is made when, and only when, there is work; runs one after the other share it.
    """

    def __init__(
        self,
        store: Path,
        make_engine: Callable[[], Engine],
        progress: Progress | None = None,
        options: RunOptions = NO_OPTIONS,
    ) -> None:
        self._options = options
        self._store = store.absolute()
        self._make_engine = make_engine
        self._progress = progress or SilentProgress()
        self._engine: Engine | None = None

    def run(self, spec: DomainSpec, request: IngestionRequest) -> IngestionReport:
        """Ingest. Raises IngestionError, StoreError or NerError; the last good generation then serves on."""
        layout = DomainLayout.of(self._store, spec.domain)
        fingerprint = digest_of([spec.fingerprint(), code_fingerprint()])
        layout.prepare()
        with writer_lock(layout.lock_file):
            purged = self._purged(layout, request)
            plan = make_plan(spec.domain, request.sources, latest_commit(layout), fingerprint, purged)
            if plan.unchanged and plan.parent:
                self._progress.found(layout.root, plan.parent.parts)
                return IngestionReport(
                    spec.domain, "unchanged", generation=plan.parent.number, counts=plan.parent.counts
                )
            dictionaries()
            self._engine = self._engine or self._make_engine()
            run = StagedRun(layout, spec, plan, self._engine, self._progress, self._options.max_rejects)
            commit = run.execute()
            if self._options.include_purged:
                write_tombstones(layout, purged)
            collect_garbage(layout, self._options.keep)
        return IngestionReport(
            spec.domain, "published", self._engine.name, commit.number, commit.counts, run.seconds
        )

    def _purged(self, layout: DomainLayout, request: IngestionRequest) -> Tombstones:
        """What to leave out; with `include_purged`, nothing of the sources that are named."""
        purged = read_tombstones(layout)
        for source in request.sources if self._options.include_purged else ():
            name = source_name(source)
            purged = purged.without(name, place(source.system, name))
        return purged

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        close_parsers()
        if self._engine is not None:
            self._engine.close()
            self._engine = None


class StagedRun:
    """The stages of one run, each skipped where its marker fits."""

    def __init__(
        self,
        layout: DomainLayout,
        spec: DomainSpec,
        plan: Plan,
        engine: Engine,
        progress: Progress,
        max_rejects: RejectLimit | None = None,
    ) -> None:
        self._max_rejects = max_rejects
        self.seconds: dict[str, float] = {}
        self._layout, self._spec, self._plan = layout, spec, plan
        self._engine, self._progress = engine, progress
        self._root = layout.root
        self._folder = layout.stages / plan.build
        self._resolution: Resolution | None = None

    def execute(self) -> Commit:
        loaded = self._stage("load", self._load)
        self._progress.found(self._root, [*self._taken_over(), *loaded])
        check_rejects(self._root, [*self._taken_over(), *loaded], self._max_rejects)
        sentences = self._stage("sentences", lambda: self._sentences(loaded))
        recognised = self._stage("mentions", lambda: self._mentions(loaded, sentences))
        per_document = [*self._taken_over(), *loaded, *sentences, *recognised]
        check_rejects(self._root, per_document, self._max_rejects)
        mentions = self._stage("entities", lambda: self._link(per_document))
        graph = self._stage("graph", lambda: self._graph(per_document, mentions))
        parts = [*per_document, *mentions, *graph]
        self._progress.found(self._root, parts)
        search = self._layout.search / self._plan.build
        self._stage("index", lambda: self._index(search, parts))
        with self._timed("publish"):
            return publish_generation(self._layout, self._plan, parts, search)

    def _taken_over(self) -> list[Part]:
        parent = self._plan.parent
        if parent is None:
            return []
        return [p for p in parent.parts if p.table in PER_DOCUMENT and p.bucket in self._plan.reused]

    def _load(self) -> list[Part]:
        files = [len(item.files) for item in self._plan.items]
        done = iter(files)
        self._progress.begin("load", sum(files))

        def advance(items: int) -> None:
            self._progress.advance(sum(islice(done, items)))

        return self._engine.map(LoadTask(self._root, self._spec), self._plan.items, advance)

    def _sentences(self, loaded: Sequence[Part]) -> list[Part]:
        items = page_items(_of(loaded, "pages"), _of(loaded, "documents"))
        return self._map("sentences", SentencesTask(self._root), items)

    def _mentions(self, loaded: Sequence[Part], sentences: Sequence[Part]) -> list[Part]:
        items = page_items(_of(sentences, "sentences"), _of(loaded, "documents"))
        return self._map("mentions", MentionsTask(self._root, self._spec), items)

    def _resolve(self, parts: Sequence[Part]) -> Resolution:
        if self._resolution is None:
            self._resolution = resolve(self._engine, self._root, _of(parts, "recognised"))
        return self._resolution

    def _link(self, parts: Sequence[Part]) -> list[Part]:
        names = self._folder / "names.parquet"
        write_names(names, self._resolve(parts).names)
        return self._map("entities", LinkTask(self._root, names), _of(parts, "recognised"))

    def _graph(self, parts: Sequence[Part], mentions: Sequence[Part]) -> list[Part]:
        pairs = self._map("graph", PairsTask(self._root), mentions)
        edges = write_edges(self._engine, self._root, pairs)
        counts = count_entities(self._engine, self._root, mentions)
        entities = write_entities(self._root, self._resolve(parts).entities, counts, edges)
        return [*edges, *entities]

    def _index(self, search: Path, parts: Sequence[Part]) -> list[Part]:
        self._progress.begin("index", 1)
        build_search_index(search, self._root, parts)
        self._progress.advance(1)
        return []

    def _map(self, stage: str, task: Task, items: Sequence[Any]) -> list[Part]:
        self._progress.begin(stage, len(items))
        return self._engine.map(task, items, self._progress.advance)

    def _stage(self, name: str, work: Callable[[], list[Part]]) -> list[Part]:
        folder = self._folder / name
        done = read_marker(folder, self._plan.run_id, self._plan.fingerprint, self._root)
        if done:
            return list(done.parts)
        folder.mkdir(parents=True, exist_ok=True)
        with self._timed(name):
            parts = work()
        write_marker(
            folder,
            StageManifest(
                stage=name,
                inputs=self._plan.run_id,
                fingerprint=self._plan.fingerprint,
                parts=tuple(parts),
                rows=count_rows(parts),
            ),
        )
        return parts

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        self.seconds[stage] = round(time.monotonic() - start, 3)


def _of(parts: Sequence[Part], table: str) -> list[Part]:
    return [part for part in parts if part.table == table]
