from __future__ import annotations

from itertools import pairwise

import pytest

from toolkit.snowflake import EPOCH_MS, SnowflakeGenerator


def test_r9_3_the_layout_is_snowflakes() -> None:
    generator = SnowflakeGenerator(node=5, clock_ms=lambda: EPOCH_MS + 1_000)
    assert [generator.next_id() for _ in range(2)] == [
        (1_000 << 22) | (5 << 12),
        (1_000 << 22) | (5 << 12) | 1,
    ]


def test_r9_3_more_than_4096_in_a_millisecond_and_a_clock_that_steps_back() -> None:
    times = iter([EPOCH_MS + 10] * 10_000 + [EPOCH_MS + 2] * 10_000)
    generator = SnowflakeGenerator(clock_ms=lambda: next(times))
    ids = [generator.next_id() for _ in range(20_000)]
    assert all(before < after for before, after in pairwise(ids))


@pytest.mark.parametrize("node", [-1, 1024])
def test_a_node_out_of_range_is_refused(node: int) -> None:
    with pytest.raises(ValueError, match="0 to 1023"):
        SnowflakeGenerator(node)
