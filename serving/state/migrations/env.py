"""Run by Alembic: migrates over the connection that it is given."""

from __future__ import annotations

from alembic import context

from serving.state.tables import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=False
)
context.run_migrations()
