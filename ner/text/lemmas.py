"""Dictionary forms of words, and of names, which no dictionary holds in full."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from simplemma import Lemmatizer
from simplemma.strategies import DefaultStrategy, DictionaryLookupStrategy

from ner.text.dictionaries import LANGUAGES, dictionaries

_CACHE = 65_536
_LONGEST_WORD = 64

_LONG = "nak|nek|ban|ben|ból|ből|ról|ről|tól|től|nál|nél|hoz|hez|höz|ért|ként|val|vel"
"""Case endings long enough to be taken off a name that nobody knows."""
_SHORT = (
    "(?<=[áéóődghknrstyz])b[ae]|(?<=[áéőcklmnpsxzy])r[ae]|(?<=[nrtáó])ig|(?<=[áéóőjy])t|(?<=[sl]{2})t|"
    "(?<=[ai]l)t|(?<=[áéíóöőúüű]n)t|(?<=osz)t|(?<=[vgdkfzmnsh])ot|(?<=ő)n|(?<=vár)ott"
)
"""Short ones, behind letters after which they are rarely part of the name itself.

Chosen by counting the names in the training half of NerKor that simplemma's dictionary lacks.
"""
_SURE = re.compile(f"(?:{_LONG}|{_SHORT})$")
_POSSIBLE = re.compile(f"(?:{_LONG}|ba|be|ra|re|ig|on|en|ön|ot|et|öt|at|ott|ett|ött|(?<![ae])[nt])$")
"""All case endings; most of the short ones also end names as they are."""
_FAMILY = re.compile(r"(?<!sz)(?<!vid)(?<!jegyz)(?<!ért)(?<!mell)(?<!árty)ék$")
"""The people around somebody, `Szabóék`; not `Törvényszék`, `Dunavidék`."""
_HYPHENATED = re.compile(r"(?P<name>.+)-(?P<ending>\w{1,5})")
_HYPHENATED_ENDING = re.compile(
    r"[^aáeéiíoóöőuúüű\W]{1,2}[ae]l|j?[ae]|é|i|s|j?ért|j[áé][nt]|[aáeéou]?k(?:\w{2,3}|[aeo]t)?"
)
"""What else may follow a hyphen behind a name: MTK-s, BBC-é, OTP-vel as `-pel`."""
_ASSIMILATED = re.compile(r"(?P<stem>.*(?P<letter>[^aáeéiíoóöőuúüűAEIOU\W\d]))(?P=letter)[ae]l$")
"""-val and -vel behind a consonant: Péter + vel → Péterrel."""
_DIGRAPHS = {"sz": "ssz", "gy": "ggy", "ny": "nny", "cs": "ccs", "zs": "zzs", "ty": "tty", "ly": "lly"}
_SHORTENED = {"á": "a", "é": "e", "ó": "o", "ő": "ö"}
_SHORTEST_BASE = 3
"""Letters of a base behind an ending that is long enough to be told."""
_SHORTEST_ENDING = 3
_SHORTEST_SHORT_ENDED = 4
"""Letters of a base behind a shorter ending."""
_SHORTEST_FAMILY = 4
_SHORTEST_GUESS = 5
_BACK, _FRONT = frozenset("aáoóuú"), frozenset("eéiíöőüű")


@lru_cache(_CACHE)
def lemma(word: str, language: str) -> str:
    """The dictionary form of a word; the word itself where none is known."""
    if language not in LANGUAGES or not _is_word(word):
        return word
    found = _lemmatizer().lemmatize(word, lang=language)
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
    if language != "hu" or not _is_word(last):
        return tuple(dict.fromkeys((surface, head + _base(last, language))))
    forms = (last, _base(last, language), *_stripped(last, _POSSIBLE), *_family(last))
    return tuple(dict.fromkeys(head + form for form in forms))


def _is_word(text: str) -> bool:
    """Whether a dictionary may be asked: not for what is too long, or holds signs that no word has."""
    return 0 < len(text) <= _LONGEST_WORD and text.isprintable()


def _split(surface: str) -> tuple[str, str]:
    head, space, last = surface.rpartition(" ")
    return head + space, last


def _base(word: str, language: str) -> str:
    if not _is_word(word):
        return word
    if language == "en":
        return re.sub(r"(?<=\w)['’]s?$", "", word)
    return _hungarian(word) if language == "hu" else word


def _hungarian(word: str) -> str:
    hyphenated = _HYPHENATED.fullmatch(word)
    if hyphenated and _is_ending(hyphenated["ending"]):
        return hyphenated["name"]
    compound, hyphen, last = word.rpartition("-")
    if hyphen and last.islower():
        return compound + hyphen + _hungarian(last)
    known = None if word.endswith("várott") else _known_base(word)
    if known:
        return known
    sure = (form for form in _stripped(word, _SURE) if _is_long_enough(form, word))
    base = _guessed_base(word) or next(sure, word)
    return next(_family(base), base)


def _known_base(word: str) -> str | None:
    """The dictionary form by the dictionary itself: the name as such, or common words of which it is made."""
    forms = list(dict.fromkeys(_stripped(word, _POSSIBLE)))
    name = _dictionary().exact_lemma(word, "hu")
    if name == word or name in forms:
        return name
    common = _dictionary().exact_lemma(word.lower(), "hu")
    if common is None:
        return None
    if common == word.lower():
        return word
    bases = [form for form in forms if _is_base(form, word, common)]
    return min(bases, key=lambda form: (form.lower() != common, len(form)), default=None)


def _guessed_base(word: str) -> str | None:
    """The dictionary form by simplemma's rules, where it leaves a consonant behind a whole ending."""
    guess = lemma(word, "hu")
    cut = len(word) - len(guess)
    whole = cut > 1 and len(guess) >= _SHORTEST_GUESS and guess[-1].casefold() not in _BACK | _FRONT
    return guess if whole and guess in _stripped(word, _POSSIBLE) else None


def _is_base(form: str, word: str, common: str) -> bool:
    """Whether a form is a known one of the same word."""
    known = _dictionary().exact_lemma(form.lower(), "hu")
    if form[-1] in "áé" and known != form.lower():
        return False
    return known in (form.lower(), common) and _is_long_enough(form, word)


def _is_long_enough(form: str, word: str) -> bool:
    """Whether what is left is no word by chance: no `Fia` of `Fiat`, no `Or` of `Orban`.

    A word in small letters, as at the end of `Kossuth-díjat`, is no name and may be as short as it is.
    """
    if word.islower():
        return True
    ending = len(word) - len(form)
    return len(form) >= (_SHORTEST_BASE if ending >= _SHORTEST_ENDING else _SHORTEST_SHORT_ENDED)


@lru_cache(maxsize=1)
def _dictionary() -> DictionaryLookupStrategy:
    return DictionaryLookupStrategy(dictionaries())


@lru_cache(maxsize=1)
def _lemmatizer() -> Lemmatizer:
    return Lemmatizer(lemmatization_strategy=DefaultStrategy(dictionary_factory=dictionaries()))


def _is_ending(text: str) -> bool:
    return any(pattern.fullmatch(text) for pattern in (_POSSIBLE, _HYPHENATED_ENDING))


def _stripped(word: str, endings: re.Pattern[str]) -> Iterator[str]:
    """The word without its case ending, for each way to take one off; the likelier first."""
    found = endings.search(word)
    while found:
        stem, ending = word[: found.start()], found.group()
        if len(stem) > 1 and _harmonic(stem, ending):
            yield from _with_final_vowel(stem)
        found = endings.search(word, found.start() + 1)
    yield from _assimilated(word)


def _family(word: str) -> Iterator[str]:
    """The one after whom a family is called: `Szabóék` → `Szabó`, `Annáék` → `Anna`."""
    found = _FAMILY.search(word)
    if found and found.start() >= _SHORTEST_FAMILY and word[0].isupper():
        yield from _with_final_vowel(word[: found.start()])


def _with_final_vowel(stem: str) -> Iterator[str]:
    """`Anná` → `Anna`: short vowels grow long before an ending; names in a long o are the commoner."""
    if stem[-1] not in _SHORTENED:
        yield stem
        return
    shortened = stem[:-1] + _SHORTENED[stem[-1]]
    first_short = stem[-1] in "áé" and not stem.endswith("né")
    yield from _known_first((shortened, stem) if first_short else (stem, shortened))


def _known_first(forms: Iterable[str]) -> Iterator[str]:
    yield from sorted(forms, key=lambda form: _dictionary().exact_lemma(form, "hu") != form)


def _assimilated(word: str) -> Iterator[str]:
    found = _ASSIMILATED.match(word)
    if found and len(found["stem"]) > 1 and _harmonic(found["stem"], word[-2:]):
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
