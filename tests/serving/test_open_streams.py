"""A thousand clients that read slowly, leave or reset: nothing of them stays, and the server ends in its time."""

from __future__ import annotations

import pytest

from bench.open_streams import measure
from serving.server import SECONDS_AFTER_STREAMS
from serving.settings import Limits

STREAMS = 1000
ROUNDS = 2
"""What grows with the clients grows from the first to the second."""
SECONDS_TO_LEAVE = 5.0
"""For the interpreter to end."""


@pytest.mark.slow
async def test_nothing_stays_of_a_thousand_slow_clients() -> None:
    told = await measure(STREAMS, 5, ROUNDS)
    idle, opened, (warm, after) = told["idle"], told["open"][-1], told["after"]
    assert opened["connections"] > STREAMS * 0.6, "those that did not reset"
    assert told["ended"] == STREAMS // 10, "those that read to the end"
    assert (after["connections"], after["tasks"]) == (idle["connections"], idle["tasks"])
    assert after["descriptors"] <= warm["descriptors"] + 5
    assert after["thousand blocks"] - warm["thousand blocks"] < STREAMS / 1000, "an object for each client"
    assert after["MiB"] <= told["open"][0]["MiB"] * 1.1
    limit = Limits().shutdown_seconds + SECONDS_AFTER_STREAMS + SECONDS_TO_LEAVE
    assert told["stop"]["seconds"] < limit
