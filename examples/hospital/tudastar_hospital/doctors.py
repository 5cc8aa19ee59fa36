"""The doctors whom the ingested documents name: one person out of all forms of a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from toolkit.documents import UniqueTextDocument, merge_documents
from toolkit.knowledge import Entity, Knowledge
from tudastar_hospital.spelling import fold

MOST_ENTITIES = 1000
MOST_SENTENCES = 40
"""Of each form of a name."""
TITLE = re.compile(r"dr|prof|doktor\w*|doctor|foorvos\w*|orvos\w*|professz\w*|adjunktus\w*")
MARKS = {"id": "id.", "idosebb": "id.", "ifj": "ifj.", "ifjabb": "ifj."}
"""What stands before a name that father and son share; it tells them apart."""


@dataclass(frozen=True, slots=True)
class Doctor:
    """One person."""

    name: str
    """Without titles: `Kovács Ilona`; no two share it: `ifj. Szabó Gergely`."""
    sentences: Sequence[UniqueTextDocument]
    """Those that name him or her, the most telling with the title first."""


@dataclass(frozen=True, slots=True)
class _Mention:
    """A name in a text."""

    mark: str
    """`id.`, `ifj.` or empty."""
    whole: bool
    """With the given name; else the family name by which a doctor is addressed."""
    start: int
    """The number of its first word, a mark or title included."""


def doctors_meant(text: str, knowledge: Knowledge, systems: tuple[str, ...]) -> list[list[Doctor]]:
    """For each name in the text those whom it may mean: all of a family for `Kovács doktor`. Whole names go first."""
    titled = _titled(knowledge, systems)
    meant = {name: list(_mentions(text, name)) for name in titled}
    whole = {name: mentions for name, mentions in meant.items() if any(each.whole for each in mentions)}
    groups: dict[str, list[Doctor]] = {}
    for name, mentions in (whole or meant).items():
        marks = {each.mark for each in mentions}
        persons = _persons(name, titled[name], knowledge, systems) if mentions else []
        fitting = [each for mark, each in persons if not mark or marks & {mark, ""}]
        groups.setdefault(name if whole else name.split()[0], []).extend(fitting)
    return [group for group in groups.values() if group]


def begins_with(text: str | None, doctor: Doctor) -> bool:
    """Whether the text begins with the name, as the heading of the doctor's own page does."""
    name = doctor.name.split(". ")[-1]
    return any(each.whole and each.start == 0 for each in _mentions(text or "", name))


def _titled(knowledge: Knowledge, systems: tuple[str, ...]) -> dict[str, list[Entity]]:
    """By family and given name the entities of that name, where one of them has a doctor's title."""
    by_name: dict[str, list[Entity]] = {}
    for entity in knowledge.entities(systems, MOST_ENTITIES):
        by_name.setdefault(_untitled(entity.name), []).append(entity)
    return {
        name: entities
        for name, entities in sorted(by_name.items())
        if " " in name and any(each.name != name for each in entities)
    }


def _untitled(name: str) -> str:
    return " ".join(word for word in name.split() if not TITLE.fullmatch(fold(word.strip("."))))


def _persons(
    name: str, entities: Iterable[Entity], knowledge: Knowledge, systems: tuple[str, ...]
) -> list[tuple[str, Doctor]]:
    """Whoever bears the name, with the mark: several when the sentences have it with several marks."""
    titled_first = sorted(entities, key=lambda each: each.name == name)
    found = [knowledge.entity_sentences(each, systems, MOST_SENTENCES) for each in titled_first]
    sentences = merge_documents(*found)
    by_mark: dict[str, list[UniqueTextDocument]] = {}
    for each in sentences:
        for mark in {mention.mark for mention in _mentions(each.text or "", name)} - {""}:
            by_mark.setdefault(mark, []).append(each)
    if len(by_mark) < 2:
        return [("", Doctor(name, sentences))]
    return [(mark, Doctor(f"{mark} {name}", own)) for mark, own in sorted(by_mark.items())]


def _mentions(text: str, name: str) -> Iterator[_Mention]:
    """Where a text has the whole name, or the family name as that of a doctor, with or without case endings."""
    words = re.findall(r"\w+", text)
    folded = [fold(word) for word in words]
    family, *given = fold(name).split()
    for at, word in enumerate(folded):
        before = at
        while before and TITLE.fullmatch(folded[before - 1]):
            before -= 1
        mark = MARKS.get(folded[before - 1], "") if before else ""
        start = before - bool(mark)
        following = folded[at + 1 : at + 1 + len(given)]
        if (
            word == family
            and following[:-1] == given[:-1]
            and following
            and _inflected(following[-1], given[-1])
        ):
            yield _Mention(mark, True, start)
        elif _of_family(word, family, given[-1]) and _addressed(words, at, titled=before < at):
            yield _Mention(mark, False, start)


def _addressed(words: Sequence[str], at: int, titled: bool) -> bool:
    """Whether the family name stands without a given name, with a title or at least with a capital letter."""
    following = words[at + 1] if at + 1 < len(words) else ""
    if TITLE.fullmatch(fold(following)):
        return True
    return not following[:1].isupper() and (titled or (at > 0 and words[at][0].isupper()))


def _inflected(word: str, name: str) -> bool:
    """Whether the word is the name with a case ending, before which its last letter may double: `Gergellyel`."""
    return word.startswith(name[:-1]) and len(word) <= len(name) + 5


def _of_family(word: str, family: str, given: str) -> bool:
    """The same for a family name; `Kovácsné` is a wife alone."""
    ending = word[len(family) :]
    if not word.startswith(family) or len(ending) > 6:
        return False
    wife = ending.startswith("ne") and ending not in ("nek", "nel")
    return given.endswith("ne") if wife else True
