"""Which entities a question names, by the store's own aliases; no model is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ner.text.clean import clean
from ner.text.lemmas import name_candidates
from ner.text.stopwords import stop_words
from ner.text.tokens import fold
from store.reader import Generation
from toolkit.knowledge import Entity

LONGEST_NAME = 5
"""Words of a name that are looked for together."""
LONGEST_TEXT = 64
"""Words of a text that are looked at; the first ones."""
LONGEST_QUESTION = 20_000
"""Characters of a text that are looked at."""
LONGEST_WORD = 64
SHORTEST_PLAIN = 4
"""Letters of a word that may be a name without a capital letter."""
SHORTEST_MISSPELT = 6
"""Letters of a name that is also found with one letter off."""
_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")

EXACT = """
SELECT DISTINCT lower(strip_accents(asked)) AS folded, asked, a.alias, e.*
FROM (SELECT unnest($names) AS asked)
JOIN aliases a ON a.folded = lower(strip_accents(asked)) JOIN entities e USING (entity_id)
"""
MISSPELT = """
SELECT DISTINCT lower(strip_accents(asked)) AS folded, asked, a.alias, e.*
FROM (SELECT unnest($names) AS asked)
JOIN aliases a ON abs(length(a.folded) - length(asked)) <= 1
AND damerau_levenshtein(a.folded, lower(strip_accents(asked))) <= 1 JOIN entities e USING (entity_id)
"""


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Some consecutive words of a text, with every form that may stand in the alias table."""

    start: int
    end: int
    forms: tuple[str, ...]


class EntityNames:
    """Finds names in short texts; safe for threads."""

    def __init__(self, generation: Generation, languages: Sequence[str]) -> None:
        self._generation = generation
        self._languages = languages

    def find(self, text: str) -> list[Entity]:
        """The entities named: longer names first, then exact before accent-blind, then the more mentioned.

        Words with a capital letter are asked first; where none of them is a name, those in small letters; at last
        capital ones with one letter off.
        """
        phrases = list(_phrases(clean(text[:LONGEST_QUESTION]).text, self._languages))
        named = [phrase for phrase in phrases if phrase.forms[0][0].isupper()]
        misspelt = [p for p in named if p.end - p.start == 1 and len(p.forms[0]) >= SHORTEST_MISSPELT]
        found = self._choose(named, EXACT) or self._choose(phrases, EXACT) or self._choose(misspelt, MISSPELT)
        return list({entity.entity_id: entity for entity in found}.values())

    def _choose(self, phrases: Sequence[_Phrase], sql: str) -> list[Entity]:
        names = sorted({form for phrase in phrases for form in phrase.forms})
        by_form: dict[str, list[dict[str, Any]]] = {}
        for row in self._generation.query(sql, {"names": names}).to_pylist() if names else ():
            by_form.setdefault(row["asked"], []).append(row)
        taken: set[int] = set()
        chosen: list[Entity] = []
        for phrase in sorted(phrases, key=lambda p: (p.start - p.end, p.start)):
            rows = [row for form in phrase.forms for row in by_form.get(form, ())]
            if rows and taken.isdisjoint(range(phrase.start, phrase.end)):
                taken.update(range(phrase.start, phrase.end))
                chosen.extend(_entity(row) for row in sorted(rows, key=_rank))
        return chosen


def _phrases(text: str, languages: Sequence[str]) -> Iterator[_Phrase]:
    words = [word for word in _WORD.findall(text) if len(word) <= LONGEST_WORD][:LONGEST_TEXT]
    stops = frozenset().union(*(stop_words(language) for language in languages))
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST_NAME, len(words)) + 1):
            phrase = " ".join(words[start:end])
            if all(fold(word) in stops for word in words[start:end]):
                continue
            if end - start == 1 and not phrase[0].isupper() and len(phrase) < SHORTEST_PLAIN:
                continue
            forms = [form for language in languages or ("",) for form in name_candidates(phrase, language)]
            yield _Phrase(start, end, tuple(dict.fromkeys(forms)))


def _rank(row: dict[str, Any]) -> tuple[bool, int, str, int]:
    return (row["alias"] != row["asked"], -row["mention_count"], row["name"], row["entity_id"])


def _entity(row: dict[str, Any]) -> Entity:
    return Entity(
        row["entity_id"],
        row["name"],
        row["label"],
        tuple(row["aliases"]),
        row["mention_count"],
        row["document_count"],
    )
