"""Schemas of the knowledge store's tables, declared once."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its schema, and the columns by which its rows are known and sorted."""

    name: str
    key: tuple[str, ...]
    schema: pa.Schema


def columns(**fields: pa.DataType) -> pa.Schema:
    """A schema of the named columns, in this order."""
    return pa.schema([pa.field(name, kind) for name, kind in fields.items()])


SENTENCE_KEY = pa.struct(
    [
        pa.field("document_id", pa.int64()),
        pa.field("page", pa.int32()),
        pa.field("sentence_number", pa.int32()),
    ]
)

TERMS = pa.struct([pa.field(name, pa.string()) for name in ("exact", "lemma", "stem", "prefix")])
"""Search terms of a text, field by field, joined by single spaces."""

DOCUMENTS = Table(
    "documents",
    ("document_id",),
    columns(
        document_id=pa.int64(),
        domain=pa.string(),
        system=pa.string(),
        source=pa.string(),
        source_id=pa.string(),
        record_id=pa.string(),
        name=pa.string(),
        url=pa.string(),
        media_type=pa.string(),
        language=pa.string(),
        content_hash=pa.string(),
        page_count=pa.int32(),
        metadata=pa.string(),
    ),
)
"""`system` is empty for none, `record_id` null for a whole file; `metadata` is a JSON object."""

PAGES = Table(
    "pages",
    ("document_id", "page"),
    columns(
        document_id=pa.int64(),
        page=pa.int32(),
        heading=pa.string(),
        text=pa.string(),
        summary=pa.string(),
    ),
)
"""`text` is the decoded text as it was; `heading` is the chapter's title where one was found."""

SENTENCES = Table(
    "sentences",
    ("document_id", "page", "sentence_number"),
    columns(
        document_id=pa.int64(),
        page=pa.int32(),
        sentence_number=pa.int32(),
        start=pa.int32(),
        end=pa.int32(),
        text=pa.string(),
        terms=TERMS,
    ),
)
"""`start` and `end` are code points in the page's text; `text` is the cleaned form."""

MENTIONS = Table(
    "mentions",
    ("document_id", "page", "sentence_number", "start", "end"),
    columns(
        document_id=pa.int64(),
        page=pa.int32(),
        sentence_number=pa.int32(),
        start=pa.int32(),
        end=pa.int32(),
        surface=pa.string(),
        lemma=pa.string(),
        label=pa.string(),
        entity_id=pa.int64(),
    ),
)
"""`start` and `end` are code points in the sentence's text; `entity_id` is null until names are resolved."""

ENTITIES = Table(
    "entities",
    ("entity_id",),
    columns(
        entity_id=pa.int64(),
        name=pa.string(),
        label=pa.string(),
        aliases=pa.list_(pa.string()),
        mention_count=pa.int64(),
        document_count=pa.int64(),
        community=pa.int32(),
        rank=pa.float64(),
    ),
)
"""`aliases` are surface forms, the most frequent first, ties alphabetical."""

EDGES = Table(
    "edges",
    ("source", "target", "kind"),
    columns(
        source=pa.int64(),
        target=pa.int64(),
        kind=pa.string(),
        weight=pa.float64(),
        sentences=pa.list_(SENTENCE_KEY),
    ),
)
"""Undirected edges have `source` < `target`; `sentences` is the evidence, capped, in key order."""

REJECTS = Table(
    "rejects",
    ("source", "source_id", "stage", "code"),
    columns(
        source=pa.string(),
        source_id=pa.string(),
        stage=pa.string(),
        code=pa.string(),
        message=pa.string(),
    ),
)

TABLES: dict[str, Table] = {
    table.name: table for table in (DOCUMENTS, PAGES, SENTENCES, MENTIONS, ENTITIES, EDGES, REJECTS)
}
