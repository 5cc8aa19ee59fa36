"""Which pages a question is about: named by number or heading, or those where most of it is found."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from retrieval.words import content_stems
from toolkit.documents import UniqueTextDocument
from toolkit.knowledge import DocumentInfo, Knowledge

SEARCHED = 40
"""Sentences by which pages are ranked."""
WHOLE_STORE = 20
"""Documents up to which the headings of all of them are looked at; of more, those that the search finds."""
_PAGE_NUMBER = re.compile(
    r"(\d{1,5})(?:\s*[-–]\s*(\d{1,5}))?\.?\s*oldal|\bpages?\s+(\d{1,5})(?:\s*[-–]\s*(\d{1,5}))?", re.I
)
LONGEST_RANGE = 20
"""Pages that a range of page numbers can name."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page with all its sentences in their order."""

    document: DocumentInfo
    number: int
    """Counted from 0."""
    heading: str
    """Empty where it has none."""
    sentences: tuple[UniqueTextDocument, ...]


class PageFinder:
    """Finds the pages of one question."""

    def __init__(self, knowledge: Knowledge, systems: Sequence[str], question: str, query: str) -> None:
        self._knowledge = knowledge
        self._question = question
        self.hits = knowledge.search(query, systems, SEARCHED)
        """The best sentences for the question, best first."""
        self._documents = self._candidates(systems)

    def named(self, limit: int) -> list[Page]:
        """Pages that the question names by their number or heading, in reading order; at most `limit`."""
        by_number = self._by_number()
        return self._pages((by_number or self._by_heading())[:limit])

    def found(self, limit: int) -> list[Page]:
        """Pages where most of the question is found, best first; at most `limit`."""
        scores: dict[tuple[int, int], float] = defaultdict(float)
        for hit in self.hits:
            scores[hit.document_id, hit.page] += hit.sentence_score
        return self._pages(sorted(scores, key=lambda place: (-scores[place], place))[:limit])

    def _candidates(self, systems: Sequence[str]) -> list[DocumentInfo]:
        """The documents that the question may mean: named ones alone, if there are some."""
        documents = self._knowledge.documents(systems, WHOLE_STORE + 1)
        if len(documents) > WHOLE_STORE:
            found = (
                self._knowledge.document(each) for each in dict.fromkeys(h.document_id for h in self.hits)
            )
            documents = [document for document in found if document is not None]
        asked = self._keys(self._question, documents)
        named = [each for each in documents if (name := self._keys(each.name, [each])) and name <= asked]
        return named or documents

    def _by_number(self) -> list[tuple[int, int]]:
        """Of several documents the one that has most of the pages, then the one that the search found first."""
        numbers = list(_page_numbers(self._question))
        rank = {each: at for at, each in enumerate(dict.fromkeys(hit.document_id for hit in self.hits))}
        places = [
            [(each.document_id, at) for at in numbers if at < each.page_count]
            for each in sorted(self._documents, key=lambda each: rank.get(each.document_id, len(rank)))
        ]
        return max(places, key=len, default=[])

    def _by_heading(self) -> list[tuple[int, int]]:
        """Pages whose heading shares two words with the question, or has all its words there."""
        asked = self._keys(self._question, self._documents)
        headings = [
            (document.document_id, page, self._keys(heading, [document]))
            for document in self._documents
            for page, heading in enumerate(self._knowledge.headings(document.document_id))
        ]
        frequency = Counter(key for *_, keys in headings for key in keys)
        shared = {(document_id, page): keys & asked for document_id, page, keys in headings}
        named = {
            (document_id, page): sum(1 / frequency[key] for key in shared[document_id, page])
            for document_id, page, keys in headings
            if keys and (keys <= asked or len(shared[document_id, page]) >= 2)
        }
        best = max(named.values(), default=0.0)
        return sorted(place for place, score in named.items() if score == best)

    def _keys(self, text: str, documents: Iterable[DocumentInfo]) -> set[str]:
        """The content words of a text as stems, in the languages of the documents."""
        languages = dict.fromkeys(each.language for each in documents)
        return {key for language in languages for key in content_stems(text, language)}

    def _pages(self, places: Iterable[tuple[int, int]]) -> list[Page]:
        infos: dict[int, DocumentInfo | None] = {each.document_id: each for each in self._documents}
        pages = []
        for document_id, number in places:
            info = infos.get(document_id) or self._knowledge.document(document_id)
            sentences = self._knowledge.page(document_id, number)
            if info is not None and sentences:
                heading = self._knowledge.headings(document_id)[number]
                pages.append(Page(info, number, heading, tuple(sentences)))
        return pages


def _page_numbers(text: str) -> Iterable[int]:
    for first, last, english_first, english_last in _PAGE_NUMBER.findall(text):
        start = int(first or english_first)
        stop = int(last or english_last or start)
        yield from (number - 1 for number in range(start, min(stop, start + LONGEST_RANGE - 1) + 1) if number)
