"""A small knowledge store in memory, made of texts."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from toolkit.documents import UniqueTextDocument
from toolkit.knowledge import DocumentInfo, Entity, Knowledge, Neighbour

_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\bdr\.)(?<!\bid\.)(?<!\bifj\.)(?<!\bmr\.)(?<!\bmrs\.)\s+", re.IGNORECASE
)
"""Not after the titles of people, which stand in so many test sentences; the true pipeline knows more of them."""
_WORD = re.compile(r"\w+")
_STEM = 5
"""Letters by which words are compared, which stands in for lemmas."""
_EVIDENCE = 3


@dataclass(frozen=True, slots=True)
class MemoryDocument:
    """A document: its text, or its pages.

    They are cut into sentences at `.`, `!`, `?` before a space, but not after titles like `Dr.`
    """

    name: str
    text: str | Sequence[str]
    """One page, or one text a page."""
    system: str = ""
    url: str | None = None
    language: str = "hu"
    headings: Sequence[str] = ()
    """Of its first pages."""

    @property
    def pages(self) -> Sequence[str]:
        """A text a page."""
        return [self.text] if isinstance(self.text, str) else self.text


@dataclass(frozen=True, slots=True)
class MemoryEntity:
    """A name to be found in the texts, under any of its aliases, as whole words."""

    name: str
    label: str = "PER"
    aliases: tuple[str, ...] = ()
    """Further forms, for instance inflected ones."""


class MemoryKnowledge:
    """A `Knowledge` over a few documents, for tests; it has all sentences and the entities that it is given.

    Its search is plain: sentences by the rarity of the words that they share with the query, words compared
    by their first five letters without accents.
    """

    def __init__(
        self,
        documents: Iterable[MemoryDocument],
        entities: Iterable[MemoryEntity] = (),
        domain: str = "test",
        generation: int = 1,
    ) -> None:
        self._domain = domain
        self._generation = generation
        documents = list(documents)
        self._languages = tuple(
            each for each, _ in Counter(each.language for each in documents).most_common()
        )
        self._documents = {_id(domain, each.system, each.name): each for each in documents}
        self._sentences = sorted(each for document in documents for each in _sentences(domain, document))
        self._stems = {each.key: _stems(each.text or "") for each in self._sentences}
        self._counts = Counter(stem for stems in self._stems.values() for stem in stems)
        self._mentions = {entity: self._mentioning(entity) for entity in map(self._entity, entities)}

    @property
    def domain(self) -> str:
        """The domain."""
        return self._domain

    @property
    def generation(self) -> int:
        """The number of the generation."""
        return self._generation

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages, the most frequent first."""
        return self._languages

    def documents(self, systems: Sequence[str] = (), limit: int = 100) -> list[DocumentInfo]:
        """The documents by name."""
        infos = [_info(document_id, document) for document_id, document in self._documents.items()]
        found = [each for each in infos if not systems or each.system in systems]
        return sorted(found, key=lambda each: (each.name, each.document_id))[:limit]

    def document(self, document_id: int) -> DocumentInfo | None:
        """One of them; None when there is no such document."""
        document = self._documents.get(document_id)
        return None if document is None else _info(document_id, document)

    def headings(self, document_id: int) -> list[str]:
        """The heading of each page of a document; empty where it has none."""
        document = self._documents.get(document_id)
        if document is None:
            return []
        return [*document.headings, *[""] * len(document.pages)][: len(document.pages)]

    def search(self, query: str, systems: Sequence[str] = (), limit: int = 10) -> list[UniqueTextDocument]:
        """The best sentences for a query, best first."""
        wanted = _stems(query)
        scored = [
            replace(each, sentence_score=sum(self._rarity(stem) for stem in wanted & self._stems[each.key]))
            for each in self._within(self._sentences, systems)
        ]
        found = [each for each in scored if each.sentence_score > 0]
        return sorted(found, key=lambda each: (-each.sentence_score, each.key))[:limit]

    def with_neighbours(
        self, documents: Sequence[UniqueTextDocument], before: int = 1, after: int = 1
    ) -> list[UniqueTextDocument]:
        """The same sentences with those around them on their pages, in reading order."""
        given = {each.key: each for each in documents}
        wanted = {
            (each.document_id, each.page, number)
            for each in documents
            for number in range(each.sentence_number - before, each.sentence_number + after + 1)
        }
        around = {each.key: each for each in self._sentences if each.key in wanted}
        return sorted((around | given).values())

    def page(self, document_id: int, page: int) -> list[UniqueTextDocument]:
        """All sentences of a page in their order; empty when there is no such page."""
        return [each for each in self._sentences if (each.document_id, each.page) == (document_id, page)]

    def entities(self, systems: Sequence[str] = (), limit: int = 100) -> list[Entity]:
        """The entities, the most often mentioned first."""
        found = [entity for entity, sentences in self._mentions.items() if self._within(sentences, systems)]
        return sorted(found, key=lambda each: (-each.mention_count, each.name))[:limit]

    def find_entities(self, text: str, systems: Sequence[str] = (), limit: int = 5) -> list[Entity]:
        """Entities that a text names, longest name first."""
        named = [
            (longest, entity)
            for entity, sentences in self._mentions.items()
            if (longest := _longest_alias(entity, text)) and self._within(sentences, systems)
        ]
        return [entity for _, entity in sorted(named, key=lambda each: (-each[0], each[1].name))][:limit]

    def entity_sentences(
        self, entity: Entity, systems: Sequence[str] = (), limit: int = 10
    ) -> list[UniqueTextDocument]:
        """Sentences that name the entity, in reading order."""
        return self._within(self._mentions.get(entity, []), systems)[:limit]

    def neighbours(self, entity: Entity, systems: Sequence[str] = (), limit: int = 10) -> list[Neighbour]:
        """Entities that share sentences with it, the closest first."""
        own = set(self._within(self._mentions.get(entity, []), systems))
        shared = {
            other: [each for each in sentences if each in own]
            for other, sentences in self._mentions.items()
            if other != entity
        }
        found = [
            Neighbour(other, float(len(sentences)), tuple(sentences[:_EVIDENCE]))
            for other, sentences in shared.items()
            if sentences
        ]
        return sorted(found, key=lambda each: (-each.weight, each.entity.name))[:limit]

    def _within(
        self, sentences: Sequence[UniqueTextDocument], systems: Sequence[str]
    ) -> list[UniqueTextDocument]:
        return [
            each for each in sentences if not systems or self._documents[each.document_id].system in systems
        ]

    def _rarity(self, stem: str) -> float:
        return math.log(1 + len(self._sentences) / self._counts[stem])

    def _entity(self, given: MemoryEntity) -> Entity:
        texts = [each.text or "" for each in self._sentences]
        forms = dict.fromkeys((given.name, *given.aliases))
        counts = {form: sum(len(_form(form).findall(text)) for text in texts) for form in forms}
        aliases = tuple(sorted(forms, key=lambda form: (-counts[form], form)))
        found = Entity(_id(given.label, given.name), given.name, given.label, aliases, 0, 0)
        sentences = self._mentioning(found)
        mentions = sum(len(_any_form(aliases).findall(each.text or "")) for each in sentences)
        return replace(
            found, mention_count=mentions, document_count=len({each.document_id for each in sentences})
        )

    def _mentioning(self, entity: Entity) -> list[UniqueTextDocument]:
        forms = _any_form(entity.aliases)
        return [each for each in self._sentences if forms.search(each.text or "")]


class MemoryKnowledgeBase:
    """A `KnowledgeBase` over some of them."""

    def __init__(self, *knowledge: Knowledge) -> None:
        self._knowledge: Mapping[str, Knowledge] = {each.domain: each for each in knowledge}

    def domains(self) -> list[str]:
        """Names of the domains."""
        return sorted(self._knowledge)

    def open(self, domain: str) -> Knowledge:
        """The knowledge of a domain. Raises LookupError that names the domains there are."""
        try:
            return self._knowledge[domain]
        except KeyError:
            raise LookupError(
                f"no domain {domain!r}; there are: {', '.join(self.domains()) or 'none'}"
            ) from None


def _sentences(domain: str, document: MemoryDocument) -> list[UniqueTextDocument]:
    document_id = _id(domain, document.system, document.name)
    return [
        UniqueTextDocument(document_id, document.name, document.url, page, number, sentence, 0.0)
        for page, text in enumerate(document.pages)
        for number, sentence in enumerate(filter(None, _SENTENCE_END.split(text.strip())))
    ]


def _info(document_id: int, document: MemoryDocument) -> DocumentInfo:
    return DocumentInfo(
        document_id, document.name, document.url, document.system, document.language, len(document.pages)
    )


def _id(*parts: str) -> int:
    digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def _stems(text: str) -> frozenset[str]:
    folded = "".join(
        each for each in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(each)
    )
    return frozenset(word[:_STEM] for word in _WORD.findall(folded) if len(word) > 1)


def _form(alias: str) -> re.Pattern[str]:
    return _any_form((alias,))


def _any_form(aliases: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(aliases, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)


def _longest_alias(entity: Entity, text: str) -> int:
    return max((len(found) for found in _any_form(entity.aliases).findall(text)), default=0)
