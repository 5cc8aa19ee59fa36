"""The sentences of a page that say most of what the page says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from retrieval.telling import is_speech
from retrieval.words import content_stems

SHORTEST = 4
"""Words with content that a sentence of a summary has at least, where there are such sentences."""


def central_sentences(texts: Sequence[str], language: str, limit: int) -> list[int]:
    """Places of the best sentences for a summary, best first; ties stay in the given order.

    After SumBasic (Nenkova and Vanderwende 2005): the sentence whose words are the most probable on the page,
    then those words count less, and so on. Other than there the sum is divided by the root of the number of words,
    or the shortest sentences would win; what somebody says is taken only where there is nothing else. Words are
    compared by the stem of their lemma, function words left out.
    """
    bags = [content_stems(text, language) for text in texts]
    counts = Counter(stem for bag in bags for stem in bag)
    total = sum(counts.values())
    probability = {stem: count / total for stem, count in counts.items()}
    full = [at for at, bag in enumerate(bags) if len(bag) >= SHORTEST]
    told = [at for at in full if not is_speech(texts[at])]
    left = told or full or [at for at, bag in enumerate(bags) if bag]
    chosen: list[int] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda at: (_weight(probability, bags[at]), -at))
        left.remove(best)
        chosen.append(best)
        for stem in set(bags[best]):
            probability[stem] **= 2
    return chosen


def _weight(probability: dict[str, float], bag: Sequence[str]) -> float:
    return math.fsum(probability[stem] for stem in bag) / math.sqrt(len(bag))
