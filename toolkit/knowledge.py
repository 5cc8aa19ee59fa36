"""A tool's view of the knowledge store: sentences, pages and entities of one published generation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolkit.documents import UniqueTextDocument


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document, without its text."""

    document_id: int
    name: str
    url: str | None
    system: str
    """Empty for none."""
    language: str
    """Code."""
    page_count: int
    """Its pages are 0 … page_count - 1."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, place, organisation or other name, with all the forms under which it occurs."""

    entity_id: int
    name: str
    label: str
    aliases: tuple[str, ...]
    """Surface forms, the most frequent first."""
    mention_count: int
    document_count: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity that shares sentences with another one."""

    entity: Entity
    weight: float
    """Number of shared sentences."""
    evidence: tuple[UniqueTextDocument, ...]
    """Some of those sentences."""


class Knowledge(Protocol):
    """One generation of one domain; it does not change while it is held. Calls block, from any thread.

    `systems` narrows to documents of those systems; empty means all.
    """

    @property
    def domain(self) -> str:
        """The domain."""

    @property
    def generation(self) -> int:
        """The number of the generation."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages of its documents, the most frequent first."""

    def documents(self, systems: Sequence[str] = (), limit: int = 100) -> list[DocumentInfo]:
        """The documents by name."""

    def document(self, document_id: int) -> DocumentInfo | None:
        """One of them; None when there is no such document."""

    def headings(self, document_id: int) -> list[str]:
        """The heading of each page of a document, a chapter's title for instance; empty where it has none."""

    def search(self, query: str, systems: Sequence[str] = (), limit: int = 10) -> list[UniqueTextDocument]:
        """The best sentences for a query, best first."""

    def with_neighbours(
        self, documents: Sequence[UniqueTextDocument], before: int = 1, after: int = 1
    ) -> list[UniqueTextDocument]:
        """The same sentences with those around them on their pages, in reading order."""

    def page(self, document_id: int, page: int) -> list[UniqueTextDocument]:
        """All sentences of a page in their order; empty when there is no such page."""

    def entities(self, systems: Sequence[str] = (), limit: int = 100) -> list[Entity]:
        """The entities, the most often mentioned first."""

    def find_entities(self, text: str, systems: Sequence[str] = (), limit: int = 5) -> list[Entity]:
        """Entities that a text names, longest name first."""

    def entity_sentences(
        self, entity: Entity, systems: Sequence[str] = (), limit: int = 10
    ) -> list[UniqueTextDocument]:
        """Sentences that name the entity, the most telling first."""

    def neighbours(self, entity: Entity, systems: Sequence[str] = (), limit: int = 10) -> list[Neighbour]:
        """Entities that share sentences with it, the closest first."""


class KnowledgeBase(Protocol):
    """The store of all domains."""

    def domains(self) -> list[str]:
        """Names of the domains that have a published generation."""

    def open(self, domain: str) -> Knowledge:
        """The newest generation of a domain. Raises LookupError that names the domains there are."""
