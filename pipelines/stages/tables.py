"""Tables that only the ingestion itself reads."""

from __future__ import annotations

import pyarrow as pa

from store.tables import EDGES, MENTIONS, Table

FILES = Table(
    "files",
    ("source", "source_id"),
    pa.schema(
        [
            pa.field("source", pa.string()),
            pa.field("source_id", pa.string()),
            pa.field("sha256", pa.string()),
            pa.field("bytes", pa.int64()),
        ]
    ),
)
"""The files that a bucket was made from."""

RECOGNISED = Table(
    "recognised",
    MENTIONS.key,
    pa.schema([field for field in MENTIONS.schema if field.name != "entity_id"]),
)
"""Mentions before names are resolved: a function of each page alone, so it is taken over from run to run."""

PAIRS = Table("pairs", EDGES.key, EDGES.schema)
"""Edges as counted within one piece of work."""
