"""Keys by which a client may send a request again without starting its work twice."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, delete, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from serving.state.tables import idempotency_keys
from serving.work.errors import key_reused

KEPT_SECONDS = 24 * 3600.0
"""After so long a key may be used anew."""


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A key with the request that it stands for."""

    owner: str
    endpoint: str
    key: str
    fingerprint: str
    """Hex SHA-256 of the request."""

    @classmethod
    def of(cls, owner: str, endpoint: str, key: str | None, request: Any) -> IdempotencyKey | None:
        """None without a key; `request` is plain JSON."""
        if key is None:
            return None
        text = json.dumps(request, sort_keys=True)
        return cls(owner, endpoint, key, hashlib.sha256(text.encode()).hexdigest())


async def first_reference(connection: AsyncConnection, key: IdempotencyKey, reference: str) -> str:
    """What the first request with the key started: `reference` when this is the first one.

    Raises ApiError (422) when that was another request.
    """
    now = time.time()
    await connection.execute(
        delete(idempotency_keys).where(idempotency_keys.c.created_at < now - KEPT_SECONDS)
    )
    place = {"owner": key.owner, "endpoint": key.endpoint, "key": key.key}
    row = {**place, "fingerprint": key.fingerprint, "reference": reference, "created_at": now}
    try:
        async with connection.begin_nested():
            await connection.execute(insert(idempotency_keys).values(row))
    except IntegrityError:
        known = and_(*(idempotency_keys.c[name] == value for name, value in place.items()))
        first = (await connection.execute(select(idempotency_keys).where(known))).one()
        if first.fingerprint != key.fingerprint:
            raise key_reused(key.key) from None
        return str(first.reference)
    return reference
