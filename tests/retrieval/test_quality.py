"""Ranking on judged queries: one configuration for all sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.retrieval_quality import measure


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "least"),
    [
        ("hu_ret_nerkor_entity", {"ndcg@10": 0.9, "recall@100": 0.99}),
        ("hu_ret_hurte", {"ndcg@10": 0.85, "recall@100": 0.98}),
        ("en_multihop_hotpot100", {"recall@5": 0.78}),
        ("en_multihop_musique100", {"recall@5": 0.5}),
    ],
)
def test_judged_queries_are_ranked_well(shared_data: Path, folder: str, least: dict[str, float]) -> None:
    figures = measure(shared_data / folder, titled=True, runs=None)
    assert {name: figures[name] for name, value in least.items() if figures[name] < value} == {}
