"""Tables of what lasts: chats, turns, messages, jobs. Times are seconds since 1970, UTC."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Double, ForeignKey, Index, Integer, MetaData, String, Table, Text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

servers = Table(
    "servers",
    metadata,
    Column("server_id", String(32), primary_key=True),
    Column("host", String(255), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("pid_started", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
)
"""The API processes that work on this state; `seen_at` is renewed while one lives."""

chats = Table(
    "chats",
    metadata,
    Column("chat_id", String(64), primary_key=True),
    Column("owner", String(200), nullable=False),
    Column("title", String(200), nullable=False),
    Column("domain", String(200), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("next_sequence", Integer, nullable=False),
    Index(None, "owner", "updated_at", "chat_id"),
)
"""`domain` is that of the newest message."""

turns = Table(
    "turns",
    metadata,
    Column("turn_id", String(32), primary_key=True),
    Column("chat_id", ForeignKey(chats.c.chat_id, ondelete="CASCADE"), nullable=False),
    Column("status", String(16), nullable=False),
    Column("server_id", String(32), nullable=False),
    Column("request", JSON, nullable=False),
    Column("progress", JSON),
    Column("expires_at", Double),
    Column("answer_sequence", Integer, nullable=False),
    Index(None, "chat_id", "status"),
    Index(None, "status", "server_id"),
)
"""A question and the work on its answer. `progress` has all the work done so far, once a tool has asked."""

messages = Table(
    "messages",
    metadata,
    Column("chat_id", ForeignKey(chats.c.chat_id, ondelete="CASCADE"), primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("turn_id", ForeignKey(turns.c.turn_id, ondelete="CASCADE"), nullable=False),
    Column("role", String(16), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("created_at", Double, nullable=False),
    Column("content", Text, nullable=False),
    Column("content_type", String(100)),
    Column("domain", String(200), nullable=False),
    Column("generation", Integer),
    Column("sources", JSON),
    Column("question", JSON),
    Column("trace", JSON),
    Column("introduction", Text),
    Column("error", JSON),
    Index(None, "turn_id"),
)
"""In the order of `sequence`. An answer's place is taken together with that of its question."""

jobs = Table(
    "jobs",
    metadata,
    Column("job_id", String(32), primary_key=True),
    Column("owner", String(200), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("name", String(200), nullable=False),
    Column("status", String(16), nullable=False),
    Column("server_id", String(32), nullable=False),
    Column("parameters", JSON, nullable=False),
    Column("progress", JSON),
    Column("result", JSON),
    Column("error", JSON),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("finished_at", Double),
    Column("pid", Integer),
    Column("pid_started", Double),
    Column("cancel_requested", Integer, nullable=False, default=0),
    Index(None, "owner", "kind", "created_at", "job_id"),
    Index(None, "status", "server_id"),
)
"""Tasks and ingestion runs (`kind`); a run is a process of its own."""

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("endpoint", String(100), primary_key=True),
    Column("key", String(255), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("reference", String(64), nullable=False),
    Column("created_at", Double, nullable=False),
    Index(None, "created_at"),
)
"""What a request with that key started: `reference` is the id of the job or turn."""
