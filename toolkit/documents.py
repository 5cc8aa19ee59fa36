"""The unit of context: one sentence or text block, known by document, page and sentence number."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from types import UnionType
from typing import Self

from toolkit.errors import shown
from toolkit.snowflake import SnowflakeGenerator

SUMMARY_SENTENCE = -1
"""Sentence number of a page's summary; the prompt generator sets it above the page's sentences."""


@dataclass(frozen=True, slots=True, eq=False)
class UniqueTextDocument:
    """One sentence or text block that may stand in an answer's context.

    Two are equal, and hash alike, when document id, page and sentence number are equal; text, score
    and class play no part. So a set holds each place once, and the first one added stays.
    They sort by the same three fields.
    """

    document_id: int
    """63-bit id; a string on the wire, since JavaScript numbers are too short for it."""
    document_name: str
    document_url: str | None
    page: int
    """Counted from 0."""
    sentence_number: int
    """Counted from 0 within the page; `SUMMARY_SENTENCE` marks the page's summary."""
    text: str | None
    sentence_score: float
    """Relevance; comparable only within one result. NaN and infinity become 0."""

    def __post_init__(self) -> None:
        """Raises TypeError for a field of another type, so that the tool that made it fails and nothing else."""
        for name, kind in _FIELD_TYPES.items():
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise TypeError(f"a document's {name} is {shown(value)} of type {type(value).__name__}")
        if not math.isfinite(self.sentence_score):
            object.__setattr__(self, "sentence_score", 0.0)

    @property
    def key(self) -> tuple[int, int, int]:
        """(document id, page, sentence number): the identity."""
        return (self.document_id, self.page, self.sentence_number)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UniqueTextDocument):
            return NotImplemented
        return self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __lt__(self, other: object) -> bool:
        return self.key < other.key if isinstance(other, UniqueTextDocument) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self.key <= other.key if isinstance(other, UniqueTextDocument) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self.key > other.key if isinstance(other, UniqueTextDocument) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self.key >= other.key if isinstance(other, UniqueTextDocument) else NotImplemented

    def to_wire(self) -> dict[str, object]:
        """The JSON object of the API: camelCase names, the document id as a string."""
        return {
            "documentId": str(self.document_id),
            "documentName": self.document_name,
            "documentUrl": self.document_url,
            "page": self.page,
            "sentenceNumber": self.sentence_number,
            "text": self.text,
            "sentenceScore": self.sentence_score,
        }


_FIELD_TYPES: dict[str, type | UnionType] = {
    "document_id": int,
    "document_name": str,
    "document_url": str | None,
    "page": int,
    "sentence_number": int,
    "text": str | None,
    "sentence_score": float | int,
}

_ids = SnowflakeGenerator(node=0)


class TextAnswer(UniqueTextDocument):
    """A text that a tool made itself; only the text is given, the ids are made here."""

    __slots__ = ()

    @classmethod
    def as_set(cls, text: str | None, name: str = "", url: str | None = None) -> set[UniqueTextDocument]:
        """A set of one document with a fresh id, page 0, sentence 0 and score 1.0."""
        return {cls.of(text, name, url)}

    @classmethod
    def of(cls, text: str | None, name: str = "", url: str | None = None) -> Self:
        """One such document by itself."""
        return cls(_ids.next_id(), name, url, 0, 0, text, 1.0)


class InternalContextDocument(TextAnswer):
    """A text meant for another tool alone.

    It reaches prior and required contexts, and is taken out before retrieval, the quality gate, the
    final prompt, the sources, the history and the API.
    """

    __slots__ = ()


def merge_documents(*groups: Iterable[UniqueTextDocument]) -> list[UniqueTextDocument]:
    """All documents in their order, each place once; of two for one place the first one stays."""
    return list(dict.fromkeys(document for group in groups for document in group))


def public_documents(documents: Iterable[UniqueTextDocument]) -> list[UniqueTextDocument]:
    """The documents that an answer may see: all but the internal ones."""
    return [document for document in documents if not isinstance(document, InternalContextDocument)]
