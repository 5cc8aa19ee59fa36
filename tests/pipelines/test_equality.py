"""After any sequence of changes, runs, kills, purges and rollbacks the store equals a fresh build."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from ingestion_machine import IngestionMachine

SEQUENCES = 500
STEPS = 8


def limits(sequences: int) -> settings:
    return settings(
        max_examples=sequences,
        stateful_step_count=STEPS,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )


@pytest.mark.slow
def test_r10_3_any_sequence_ends_as_a_fresh_build() -> None:
    run_state_machine_as_test(IngestionMachine, settings=limits(SEQUENCES))
    assert IngestionMachine.compared > SEQUENCES
