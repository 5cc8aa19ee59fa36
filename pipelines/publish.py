"""The end of a run: search index, DuckDB file, commit."""

from __future__ import annotations

import datetime
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from pipelines.plan import Plan
from retrieval.index.build import build_index
from store.commits import Commit, publish
from store.digest import digest_tables
from store.knowledge_file import build_knowledge_file
from store.layout import DomainLayout
from store.parts import Part
from store.sorted_rows import sorted_rows
from store.stored_files import stored_files
from store.tables import DOCUMENTS, PAGES, SENTENCES, TABLES


def build_search_index(folder: Path, root: Path, parts: Sequence[Part]) -> None:
    """Build the index of a generation afresh."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    build_index(
        folder,
        documents=sorted_rows(root, DOCUMENTS, parts),
        pages=sorted_rows(root, PAGES, parts, ["document_id", "page", "heading"]),
        sentences=sorted_rows(root, SENTENCES, parts),
    )


def publish_generation(layout: DomainLayout, plan: Plan, parts: Sequence[Part], search: Path) -> Commit:
    """Make the generation visible. Raises CommitConflictError when another run was first."""
    knowledge = layout.knowledge_file(plan.build)
    build_knowledge_file(layout.root, parts, knowledge)
    places = {
        "search": str(search.relative_to(layout.root)),
        "knowledge": str(knowledge.relative_to(layout.root)),
    }
    commit = Commit(
        number=plan.number,
        parent=plan.parent.number if plan.parent else None,
        domain=layout.root.name,
        created_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        fingerprint=plan.fingerprint,
        sources=plan.sources,
        buckets=plan.buckets,
        parts=tuple(sorted(parts, key=lambda part: part.path)),
        **places,
        files=stored_files(layout.root, **places),
        digest=digest_tables(layout.root, parts),
        counts={name: rows for name, rows in count_rows(parts).items() if name in TABLES},
    )
    publish(layout, commit)
    return commit


def count_rows(parts: Iterable[Part]) -> dict[str, int]:
    """Rows by table, of every table of the store and of those that the parts name."""
    rows = Counter(dict.fromkeys(TABLES, 0))
    for part in parts:
        rows[part.table] += part.rows
    return dict(rows)
