"""What a store is to hold after any runs, and a fresh build of just that to compare with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from ner.ingestion import IngestionReport, IngestionRequest, SourceRequest
from ner.spec import DomainSpec, RecogniserSpec
from pipelines.engines.contract import Engine
from pipelines.engines.local import LocalEngine
from pipelines.options import RunOptions
from pipelines.run import PipelineRunner
from store.commits import latest_commit
from store.digest import digest_tables
from store.layout import DomainLayout

DOMAIN = "d"
SYSTEMS = {"alfa": "", "béta": "s2"}
"""The sources, and the systems to which they belong."""
NAMES = [["Gergő", "PER"], ["Éva", "PER"], ["Dobó", "PER"], ["Eger", "LOC"]]


def _spec(version: str, names: list[list[str]]) -> DomainSpec:
    recogniser = RecogniserSpec("gazetteer", ("hu", "en"), {"names": names})
    return DomainSpec(domain=DOMAIN, recognisers=(recogniser,), version=version)


SPECS = {"whole": _spec("1", NAMES), "half": _spec("2", NAMES[::2])}
"""Two descriptions of one domain."""


@dataclass(frozen=True, order=True)
class Held:
    """What the store holds of a source: its files as they were when it was last named, and how they were read."""

    source: str
    spec: str
    language: str
    files: tuple[tuple[str, str], ...]
    """(path, text), sorted."""

    def without(self, path: str) -> Held:
        return Held(self.source, self.spec, self.language, tuple(f for f in self.files if f[0] != path))


def request(root: Path, source: str, language: str) -> SourceRequest:
    return SourceRequest(str(root), name=source, system=SYSTEMS[source], language=language)


def run(
    store: Path,
    spec: DomainSpec,
    *requests: SourceRequest,
    make_engine: Callable[[], Engine] = lambda: LocalEngine(1),
    include_purged: bool = False,
) -> IngestionReport:
    options = RunOptions(include_purged=include_purged)
    with PipelineRunner(store, make_engine, options=options) as runner:
        return runner.run(spec, IngestionRequest(sources=requests))


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


@dataclass
class FreshBuilds:
    """The digests of fresh builds; what was built once is remembered."""

    known: dict[frozenset[Held], dict[str, str]] = field(default_factory=dict)

    def digest(self, state: frozenset[Held]) -> dict[str, str]:
        """The digest by table of a new store that holds just this."""
        filled = frozenset(held for held in state if held.files)
        if filled not in self.known:
            with tempfile.TemporaryDirectory(prefix="fresh-") as folder:
                self.known[filled] = _built(Path(folder), filled)
        return self.known[filled]


def _built(folder: Path, state: frozenset[Held]) -> dict[str, str]:
    for spec, group in groupby(sorted(state, key=lambda held: (held.spec, held)), lambda held: held.spec):
        requests = []
        for held in group:
            write_files(folder / held.source, dict(held.files))
            requests.append(request(folder / held.source, held.source, held.language))
        run(folder / "store", SPECS[spec], *requests)
    commit = latest_commit(DomainLayout.of(folder / "store", DOMAIN)) if state else None
    return commit.digest if commit else digest_tables(folder, [])
