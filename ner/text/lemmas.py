"""Dictionary forms of words, and of names, which no dictionary holds in full."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from simplemma import is_known, lemmatize

_CACHE = 65_536
_LANGUAGES = ("hu", "en")

_SURE = re.compile(r"(?:nak|nek|ban|ben|ból|ből|ról|ről|tól|től|nál|nél|hoz|hez|höz|ért|ként|val|vel)$")
"""Case endings long enough to be taken off a name that nobody knows."""
_POSSIBLE = re.compile(
    r"(?:nak|nek|ban|ben|ba|be|ból|ből|ról|ről|ra|re|tól|től|nál|nél|hoz|hez|höz|ért|ként|val|vel|ig|"
    r"on|en|ön|n|ot|et|öt|at|t)$"
)
"""All case endings; most of the short ones also end names as they are."""
_HYPHENATED_ENDING = re.compile(r"[^aáeéiíoóöőuúüű\W]{1,2}[ae]l|j?[ae]|é|i|s")
"""What else may follow a hyphen behind a name: MTK-s, BBC-é, OTP-vel as `-pel`."""
_ASSIMILATED = re.compile(r"(?P<stem>.*(?P<letter>[^aáeéiíoóöőuúüűAEIOU\W\d]))(?P=letter)[ae]l$")
"""-val and -vel behind a consonant: Péter + vel → Péterrel."""
_DIGRAPHS = {"sz": "ssz", "gy": "ggy", "ny": "nny", "cs": "ccs", "zs": "zzs", "ty": "tty", "ly": "lly"}
_SHORT = {"á": "a", "é": "e", "ó": "o", "ő": "ö"}
_SHORTEST_BASE = 2
_BACK, _FRONT = frozenset("aáoóuú"), frozenset("eéiíöőüű")


@lru_cache(_CACHE)
def lemma(word: str, language: str) -> str:
    """The dictionary form of a word; the word itself where none is known."""
    if language not in _LANGUAGES:
        return word
    found = str(lemmatize(word, lang=language))
    return found if found.isalpha() or not word.isalpha() else word


@lru_cache(_CACHE)
def name_lemma(surface: str, language: str) -> str:
    """The dictionary form of a name as far as it alone tells; its last word is the one that is inflected.

    `Dobó Istvánnal` → `Dobó István`, `NATO-ban` → `NATO`, `Harrow's` → `Harrow`.
    """
    head, last = _split(surface)
    return head + _base(last, language)


@lru_cache(_CACHE)
def name_candidates(surface: str, language: str) -> tuple[str, ...]:
    """Every form of which the name may be an inflected one, itself first. The corpus knows which it is."""
    head, last = _split(surface)
    if language != "hu":
        return tuple(dict.fromkeys((surface, head + _base(last, language))))
    return tuple(
        dict.fromkeys(head + base for base in (last, _base(last, language), *_stripped(last, _POSSIBLE)))
    )


def _split(surface: str) -> tuple[str, str]:
    head, space, last = surface.rpartition(" ")
    return head + space, last


def _base(word: str, language: str) -> str:
    if language == "en":
        return re.sub(r"(?<=\w)['’]s?$", "", word)
    if language != "hu":
        return word
    hyphenated = re.fullmatch(r"(.+)-(\w{1,5})", word)
    if hyphenated and _is_ending(hyphenated.group(2)):
        return hyphenated.group(1)
    possible = list(_stripped(word, _POSSIBLE))
    known = lemma(word, language)
    known = word[0] + known[1:] if known[:1].casefold() == word[:1].casefold() else known
    if known in possible:
        return known
    if is_known(word, lang=language):
        return word
    return next(_stripped(word, _SURE), word)


def _is_ending(text: str) -> bool:
    return bool(_POSSIBLE.fullmatch(text)) or bool(
        re.fullmatch(r"([^aáeéiíoóöőuúüű\W]{1,2})[ae]l|j?[ae]|é|i|s", text)
    )


def _stripped(word: str, endings: re.Pattern[str]) -> Iterator[str]:
    """The word without its case ending, for each way to take one off; the likelier first."""
    found = endings.search(word)
    while found:
        stem, ending = word[: found.start()], found.group()
        if len(stem) >= _SHORTEST_BASE and _harmonic(stem, ending):
            yield from _with_final_vowel(stem)
        found = endings.search(word, found.start() + 1)
    yield from _assimilated(word)


def _with_final_vowel(stem: str) -> Iterator[str]:
    """`Anná` → `Anna`: short vowels grow long before an ending; names in a long o are the commoner."""
    forms = [stem, stem[:-1] + _SHORT[stem[-1]]] if stem[-1] in _SHORT else [stem]
    yield from reversed(forms) if stem[-1] in "áé" else forms


def _assimilated(word: str) -> Iterator[str]:
    found = _ASSIMILATED.match(word)
    if found and len(found["stem"]) >= _SHORTEST_BASE and _harmonic(found["stem"], word[-2:]):
        for digraph, doubled in _DIGRAPHS.items():
            if word[:-2].endswith(doubled):
                yield word[: -2 - len(doubled)] + digraph
        yield found["stem"]
    for digraph, doubled in _DIGRAPHS.items():
        if word.endswith((doubled + "al", doubled + "el")):
            yield word[: -2 - len(doubled)] + digraph


def _harmonic(stem: str, ending: str) -> bool:
    """Whether the ending's vowels agree with the stem's; both fit where the stem has neutral ones alone."""
    vowels = [char for char in stem.casefold() if char in _BACK or char in _FRONT]
    wanted = next((char for char in ending if char in _BACK or char in _FRONT), "")
    if not vowels or not wanted or ending in ("ért", "ig", "t", "n", "ként"):
        return True
    if wanted in _BACK:
        return any(char in _BACK for char in vowels) or set(vowels) <= set("eéií")
    return not all(char in _BACK for char in vowels)
