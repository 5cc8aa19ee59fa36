"""Tables that only the ingestion itself reads."""

from __future__ import annotations

import pyarrow as pa

from store.tables import EDGES, MENTIONS, Table, columns

FILES = Table(
    "files",
    ("source", "source_id"),
    columns(source=pa.string(), source_id=pa.string(), sha256=pa.string(), bytes=pa.int64()),
)
"""The files that a bucket was made from."""

RECOGNISED = Table(
    "recognised",
    MENTIONS.key,
    columns(
        document_id=pa.int64(),
        page=pa.int32(),
        sentence_number=pa.int32(),
        start=pa.int32(),
        end=pa.int32(),
        surface=pa.string(),
        lemma=pa.string(),
        label=pa.string(),
        language=pa.string(),
    ),
)
"""Mentions before names are resolved: a function of each page alone, so it is taken over from run to run."""

PAIRS = Table("pairs", EDGES.key, EDGES.schema)
"""Edges as counted within one piece of work."""
