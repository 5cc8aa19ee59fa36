"""The knowledge of one request: one generation of its domain, and of its systems alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from toolkit.documents import UniqueTextDocument
from toolkit.knowledge import DocumentInfo, Entity, Knowledge, KnowledgeBase, Neighbour

_scope: ContextVar[Knowledge] = ContextVar("tudastar_request_knowledge")


@contextmanager
def scoped(knowledge: Knowledge, systems: Sequence[str]) -> Iterator[None]:
    """Within it, and in what is started there, tools see this generation and these systems alone."""
    token = _scope.set(SystemsKnowledge(knowledge, systems) if systems else knowledge)
    try:
        yield
    finally:
        _scope.reset(token)


class ScopedKnowledgeBase:
    """The `KnowledgeBase` that tools get: outside a request all domains, within one that of the request."""

    def __init__(self, inner: KnowledgeBase) -> None:
        self._inner = inner

    def domains(self) -> list[str]:
        """The domains that can be opened."""
        scope = _scope.get(None)
        return self._inner.domains() if scope is None else [scope.domain]

    def open(self, domain: str) -> Knowledge:
        """The generation with which the request began. Raises LookupError for any other domain."""
        scope = _scope.get(None)
        if scope is None:
            return self._inner.open(domain)
        if domain != scope.domain:
            raise LookupError(
                f"the request is about domain {scope.domain!r}; a tool cannot open {domain!r} for it"
            )
        return scope


class SystemsKnowledge:
    """A `Knowledge` narrowed to some systems: a call that names others finds nothing."""

    def __init__(self, inner: Knowledge, systems: Sequence[str]) -> None:
        self._inner = inner
        self._systems = tuple(systems)

    @property
    def domain(self) -> str:
        return self._inner.domain

    @property
    def generation(self) -> int:
        return self._inner.generation

    @property
    def languages(self) -> tuple[str, ...]:
        return self._inner.languages

    def documents(self, systems: Sequence[str] = (), limit: int = 100) -> list[DocumentInfo]:
        narrowed = self._narrowed(systems)
        return self._inner.documents(narrowed, limit) if narrowed else []

    def document(self, document_id: int) -> DocumentInfo | None:
        found = self._inner.document(document_id)
        return found if found is not None and found.system in self._systems else None

    def headings(self, document_id: int) -> list[str]:
        return self._inner.headings(document_id) if self.document(document_id) else []

    def search(self, query: str, systems: Sequence[str] = (), limit: int = 10) -> list[UniqueTextDocument]:
        narrowed = self._narrowed(systems)
        return self._inner.search(query, narrowed, limit) if narrowed else []

    def with_neighbours(
        self, documents: Sequence[UniqueTextDocument], before: int = 1, after: int = 1
    ) -> list[UniqueTextDocument]:
        return self._inner.with_neighbours(documents, before, after)

    def page(self, document_id: int, page: int) -> list[UniqueTextDocument]:
        """Empty also for a page of another system."""
        return self._inner.page(document_id, page) if self.document(document_id) else []

    def entities(self, systems: Sequence[str] = (), limit: int = 100) -> list[Entity]:
        narrowed = self._narrowed(systems)
        return self._inner.entities(narrowed, limit) if narrowed else []

    def find_entities(self, text: str, systems: Sequence[str] = (), limit: int = 5) -> list[Entity]:
        narrowed = self._narrowed(systems)
        return self._inner.find_entities(text, narrowed, limit) if narrowed else []

    def entity_sentences(
        self, entity: Entity, systems: Sequence[str] = (), limit: int = 10
    ) -> list[UniqueTextDocument]:
        narrowed = self._narrowed(systems)
        return self._inner.entity_sentences(entity, narrowed, limit) if narrowed else []

    def neighbours(self, entity: Entity, systems: Sequence[str] = (), limit: int = 10) -> list[Neighbour]:
        narrowed = self._narrowed(systems)
        return self._inner.neighbours(entity, narrowed, limit) if narrowed else []

    def _narrowed(self, systems: Sequence[str]) -> tuple[str, ...]:
        if not systems:
            return self._systems
        return tuple(each for each in self._systems if each in set(systems))
