from __future__ import annotations

import random

from ner.entities import Name, ResolvedEntity, entity_id, resolve_names
from ner.text.lemmas import name_lemma


def name(surface: str, label: str, mentions: int, language: str = "hu") -> Name:
    return Name(language, surface, name_lemma(surface, language), label, mentions)


def entity(canonical: str, label: str, *aliases: str) -> ResolvedEntity:
    return ResolvedEntity(entity_id(label, canonical), canonical, label, aliases)


def resolved(*names: Name) -> set[ResolvedEntity]:
    return set(resolve_names(names).entities)


def test_inflected_forms_are_one_entity() -> None:
    names = [name("Gergő", "PER", 3), name("Gergőnek", "PER", 2), name("Gergőt", "PER", 1)]
    assert resolved(*names) == {entity("Gergő", "PER", "Gergő", "Gergőnek", "Gergőt")}


def test_the_corpus_tells_where_a_name_ends() -> None:
    names = [
        name("Cecey", "PER", 9),
        name("Ceceyt", "PER", 4),
        name("Albert", "PER", 5),
        name("Móré", "PER", 7),
    ]
    assert resolved(*names) == {
        entity("Cecey", "PER", "Cecey", "Ceceyt"),
        entity("Albert", "PER", "Albert"),
        entity("Móré", "PER", "Móré"),
    }


def test_one_label_by_the_majority_of_the_mentions() -> None:
    names = [name("Dobó", "LOC", 143), name("Dobó", "PER", 250), name("Dobónak", "PER", 27)]
    assert resolved(*names) == {entity("Dobó", "PER", "Dobó", "Dobónak")}


def test_a_part_takes_the_label_of_the_full_name() -> None:
    names = [name("Varjas", "LOC", 9), name("Varjas Bertalan", "PER", 7)]
    assert resolved(*names) == {
        entity("Varjas", "PER", "Varjas"),
        entity("Varjas Bertalan", "PER", "Varjas Bertalan"),
    }


def test_case_alone_makes_no_second_entity() -> None:
    names = [name("Thalie", "PER", 5), name("THALIE", "ORG", 2)]
    assert resolved(*names) == {entity("Thalie", "PER", "Thalie", "THALIE")}


def test_two_numbers_are_two_entities() -> None:
    found = resolved(name("SR-2023-052", "MISC", 2, "en"), name("SR-2023-053", "MISC", 2, "en"))
    assert {each.name for each in found} == {"SR-2023-052", "SR-2023-053"}


def test_what_begins_small_or_holds_no_letter_is_no_name() -> None:
    resolution = resolve_names([name("hold", "LOC", 7), name("1552", "MISC", 2), name("–", "PER", 1)])
    assert (resolution.entities, resolution.names) == ((), ())


def test_r10_3_the_order_of_the_names_does_not_matter() -> None:
    names = [name(s, label, n) for s, label, n in [("Éva", "PER", 2), ("Évát", "PER", 2), ("Eger", "LOC", 1)]]
    names += [name("Egerben", "LOC", 4), name("Egert", "PER", 4)]
    expected = resolve_names(names)
    for seed in range(5):
        random.Random(seed).shuffle(names)
        assert resolve_names(names) == expected
