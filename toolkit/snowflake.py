"""Snowflake-compatible ids: 41 bits of milliseconds, 10 of node, 12 of sequence.

Layout as Twitter published it in 2010 (github.com/twitter-archive/snowflake), with its epoch.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

EPOCH_MS = 1_288_834_974_657
_NODE_BITS = 10
_SEQUENCE_BITS = 12
_SEQUENCE_MASK = (1 << _SEQUENCE_BITS) - 1


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class SnowflakeGenerator:
    """Makes positive 63-bit ids, rising and unique over all threads that share the generator.

    When the clock steps back, or more than 4,096 ids are asked for in one millisecond, the generator
    runs ahead of the clock rather than wait or repeat itself.
    """

    def __init__(self, node: int = 0, clock_ms: Callable[[], int] = _now_ms) -> None:
        if not 0 <= node < 1 << _NODE_BITS:
            raise ValueError(f"snowflake node {node} is out of range: valid are 0 to {(1 << _NODE_BITS) - 1}")
        self._node = node
        self._clock_ms = clock_ms
        self._lock = threading.Lock()
        self._last_ms = -1
        self._sequence = 0

    def next_id(self) -> int:
        """The next id."""
        with self._lock:
            now = self._clock_ms() - EPOCH_MS
            if now > self._last_ms:
                self._last_ms, self._sequence = now, 0
            else:
                self._sequence = (self._sequence + 1) & _SEQUENCE_MASK
                if self._sequence == 0:
                    self._last_ms += 1
            return (
                (self._last_ms << (_NODE_BITS + _SEQUENCE_BITS))
                | (self._node << _SEQUENCE_BITS)
                | self._sequence
            )
