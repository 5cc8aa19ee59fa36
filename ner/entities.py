"""From names as they stand in the texts to entities: one for each thing that is named.

A name is grouped by its dictionary form. That form is first taken from the word alone, then corrected by
what the corpus itself shows: where stripping a case ending leads to a form that the corpus uses often,
that form is the name. Each entity has one label, by the majority of its mentions over the corpus.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ner.text.lemmas import name_candidates

FULL_NAME_WEIGHT = 2
"""What a mention of a name of several words counts for the label of its parts, beside 1 for their own."""


@dataclass(frozen=True, slots=True, order=True)
class Name:
    """A name as counted over the corpus."""

    language: str
    surface: str
    lemma: str
    label: str
    mentions: int


@dataclass(frozen=True, slots=True, order=True)
class ResolvedName:
    """Which entity a name belongs to."""

    language: str
    surface: str
    entity_id: int


@dataclass(frozen=True, slots=True)
class ResolvedEntity:
    """An entity with its forms."""

    entity_id: int
    name: str
    label: str
    aliases: tuple[str, ...]
    """Surface forms, the most frequent first, ties alphabetical."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The outcome for a whole corpus; a function of the counted names alone, whatever their order."""

    entities: tuple[ResolvedEntity, ...]
    names: tuple[ResolvedName, ...]


def resolve_names(names: Iterable[Name]) -> Resolution:
    """Group names into entities."""
    rows = sorted(name for name in names if _is_name(name.surface))
    canonical = _Canonical(rows)
    groups: dict[str, list[Name]] = defaultdict(list)
    for row in rows:
        groups[canonical.name(row)].append(row)
    labels = _labels(groups)
    resolved = [_entity(name, labels[name], group) for name, group in sorted(groups.items())]
    entities = tuple(sorted((entity for entity, _ in resolved), key=lambda entity: entity.entity_id))
    return Resolution(entities, tuple(sorted(name for _, names in resolved for name in names)))


def _labels(groups: Mapping[str, Sequence[Name]]) -> dict[str, str]:
    """One label for each name, by the majority of its mentions and of the longer names that it is a part of.

    A longer name is the surer: "Varjas" is a person if "Varjas Bertalan" is one.
    """
    votes = {name: _votes(group) for name, group in groups.items()}
    of_parts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, counted in votes.items():
        for part in name.split() if " " in name else ():
            for label, mentions in counted.items():
                of_parts[part][label] += FULL_NAME_WEIGHT * mentions
    return {name: _winner(counted + of_parts.get(name, Counter())) for name, counted in votes.items()}


def _votes(group: Iterable[Name]) -> Counter[str]:
    votes: Counter[str] = Counter()
    for row in group:
        votes[row.label] += row.mentions
    return votes


def _winner(votes: Counter[str]) -> str:
    return min(votes, key=lambda label: (-votes[label], label))


def entity_id(label: str, name: str) -> int:
    """63-bit id of an entity: a function of label and canonical name."""
    digest = hashlib.blake2b(f"{label}\0{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


class _Canonical:
    """The dictionary form of each name, as far as the corpus supports it."""

    def __init__(self, rows: list[Name]) -> None:
        self._surfaces: Counter[str] = Counter()
        for row in rows:
            self._surfaces[row.surface] += row.mentions
        weights: Counter[str] = Counter()
        for row in rows:
            weights[self._base(row)] += row.mentions
        self._spelling: dict[str, str] = {}
        for name, _ in sorted(weights.items(), key=lambda item: (-item[1], item[0])):
            self._spelling.setdefault(name.casefold(), name)

    def name(self, row: Name) -> str:
        """The canonical name to which the row belongs; of spellings in other case the most frequent."""
        return self._spelling[self._base(row).casefold()]

    def _base(self, row: Name) -> str:
        candidates = name_candidates(row.surface, row.language)
        if row.lemma != row.surface:
            candidates = (row.lemma, *(each for each in candidates if each != row.surface))
        return max(candidates, key=lambda each: self._surfaces[each])


def _entity(name: str, label: str, group: Sequence[Name]) -> tuple[ResolvedEntity, Iterator[ResolvedName]]:
    surfaces: Counter[str] = Counter()
    for row in group:
        surfaces[row.surface] += row.mentions
    aliases = tuple(sorted(surfaces, key=lambda each: (-surfaces[each], each)))
    identity = entity_id(label, name)
    pairs = dict.fromkeys((row.language, row.surface) for row in group)
    return (
        ResolvedEntity(identity, name, label, aliases),
        (ResolvedName(language, surface, identity) for language, surface in pairs),
    )


def _is_name(surface: str) -> bool:
    """A name holds a letter and begins with a capital letter or a digit."""
    first = next((char for char in surface if char.isalnum()), "")
    return any(char.isalpha() for char in surface) and (
        first.isupper() or first.isdigit() or not first.islower()
    )
