"""error and introduction of messages"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("messages", sa.Column("introduction", sa.Text(), nullable=True))
    op.add_column("messages", sa.Column("error", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("messages", "error")
    op.drop_column("messages", "introduction")
