"""Fitting the final context into the model's window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from serving.contexts import Contribution
from serving.state.history import Exchange
from toolkit.documents import UniqueTextDocument, public_documents

CHARACTERS_PER_TOKEN = 3
"""A cautious estimate: Hungarian text takes more tokens than English, which has about four."""
TOKENS_PER_SENTENCE = 6
"""For the number and the line around a sentence."""


@dataclass(frozen=True, slots=True)
class FinalContext:
    """What the answer is made from."""

    documents: tuple[UniqueTextDocument, ...]
    vouched: frozenset[UniqueTextDocument]
    """Those for which a tool vouches."""
    dropped: tuple[UniqueTextDocument, ...]
    """Left out for want of room, the first one first."""


def fit_context(contributions: Sequence[Contribution], tokens: int) -> FinalContext:
    """Merge the contributions and keep what fits into the budget.

    The lowest score is dropped first, guaranteed context last. Scores are comparable only within one tool's
    result, so each counts as its share of the result's best score.
    """
    ranks: dict[UniqueTextDocument, tuple[bool, float]] = {}
    for contribution in contributions:
        documents = [document for document in public_documents(contribution.documents) if document.text]
        best = max((document.sentence_score for document in documents), default=0.0)
        for document in documents:
            share = document.sentence_score / best if best > 0 else 0.0
            rank = (contribution.guaranteed, share)
            ranks[document] = max(rank, ranks.get(document, rank))
    by_rank = sorted(ranks, key=lambda document: (*ranks[document], *(-part for part in document.key)))
    total = sum(estimated_tokens(document) for document in ranks)
    dropped: list[UniqueTextDocument] = []
    for document in by_rank[:-1]:
        if total <= tokens:
            break
        total -= estimated_tokens(document)
        dropped.append(document)
    left_out = set(dropped)
    kept = tuple(document for document in ranks if document not in left_out)
    vouched = frozenset(document for document in kept if ranks[document][0])
    return FinalContext(kept, vouched, tuple(dropped))


def fit_history(history: Sequence[Exchange], tokens: int) -> list[Exchange]:
    """The newest messages of a conversation that fit into the budget, oldest first."""
    kept: list[Exchange] = []
    for message in reversed(history):
        tokens -= len(message.content) // CHARACTERS_PER_TOKEN + TOKENS_PER_SENTENCE
        if tokens < 0:
            break
        kept.append(message)
    return kept[::-1]


def estimated_tokens(document: UniqueTextDocument) -> int:
    """Tokens of a sentence in the prompt."""
    return len(document.text or "") // CHARACTERS_PER_TOKEN + TOKENS_PER_SENTENCE
