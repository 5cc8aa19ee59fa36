"""Telling the language of a text, from a question of three words to a novel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ner.text.tokens import fold

_SAMPLES = 8
_SAMPLE_CHARACTERS = 500
_WORD = re.compile(r"(?<!['’])[^\W\d_]+")

_FUNCTION_WORD = 3.0
_ACCENT = 2.0
_MOST_GROUPS = 3
_CAPITALISED = 0.4
"""Weight of a word with a capital: it may be a name, and names come from anywhere."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What speaks for a language. All words and letters are folded: without accents, in small letters."""

    function_words: frozenset[str]
    groups: frozenset[str]
    """Pairs of letters that are at least ten times as frequent as in the other language."""
    endings: frozenset[str]
    """Endings of one to three letters of which the same is true."""
    accents: frozenset[str]
    """Letters with accents."""

    def score(self, word: str) -> float:
        """How much a word speaks for the language."""
        lower = word.lower()
        folded = fold(word)
        if folded in self.function_words and (self.accents or lower.isascii()):
            return _FUNCTION_WORD
        found = sum(folded[at : at + 2] in self.groups for at in range(len(folded) - 1))
        found += any(folded[-length:] in self.endings for length in (1, 2, 3))
        score = float(min(found, _MOST_GROUPS)) + (_ACCENT if self.accents.intersection(lower) else 0.0)
        return score if lower == word else score * _CAPITALISED


def detect_language(text: str, candidates: Sequence[str] = ("hu", "en"), default: str = "hu") -> str:
    """The code among `candidates` that the text's words speak for most; `default` when nothing decides.

    Deterministic. Works without accents too. Of a long text, samples from beginning to end are read.
    A candidate without a profile (there are ones for `hu` and `en`) is found only when it is the only one.
    """
    if len(candidates) == 1:
        return candidates[0]
    profiles = {code: profile for code in candidates if (profile := _profiles().get(code))}
    scores = dict.fromkeys(profiles, 0.0)
    for word in _WORD.findall(_sample(text)):
        for code, profile in profiles.items():
            scores[code] += profile.score(word)
    best = max(scores.values(), default=0.0)
    winners = [code for code, score in scores.items() if score == best and best > 0]
    return winners[0] if len(winners) == 1 else default


def _sample(text: str) -> str:
    if len(text) <= _SAMPLES * _SAMPLE_CHARACTERS:
        return text
    step = (len(text) - _SAMPLE_CHARACTERS) // (_SAMPLES - 1)
    return " ".join(text[at : at + _SAMPLE_CHARACTERS] for at in range(0, step * _SAMPLES, step))


@lru_cache(maxsize=1)
def _profiles() -> dict[str, Profile]:
    return {"hu": _hungarian(), "en": _english()}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _hungarian() -> Profile:
    return Profile(
        function_words=_words(
            """a az egy es s is nem de hogy ha van volt lesz meg mar csak ki mi mit hol hova honnan mikor miert
            hogyan milyen melyik mennyi hany kik kinek kit ez ezt azt ezek azok ott itt igy ugy akkor majd mint
            vagy ne se sem el fel le be ra rola neki nekem neked velem vele en te o ti ok maga minden mind
            valaki valami aki ami amely mert pedig azonban illetve utan elott alatt felett kozott mellett
            szerint altal miatt ellen nelkul fele ota ig lehet kell volna lenne vannak voltak lett nincs nincsen
            kerem tud nagyon most ma tegnap holnap egyik masik sok keves uj kerek szeretnek mondd mutasd"""
        ),
        groups=_words(
            """sz eg ek ze ko ok ny za oz ez gy ka zo ja ye zt ik cs je az zi ya lm aj uk bb ku ln kk zn ej zu kr
            tj yu lj lg zd kt jt kb zs tk zz lh oj dt tv uj rz tb dj uz rj zk sb nz gj zl gb gv yz gk jl"""
        ),
        endings=_words(
            "k i a z u b tt ni ra ol ta os as to sa lo zo do eg ag ban ben ott ett rol bol val vel"
        ),
        accents=frozenset("áéíóöőúüű"),
    )


def _english() -> Profile:
    return Profile(
        function_words=_words(
            """the a of and to in is was are were be been an that this these those it he she they we you i his her
            their our my your its him them us me who whom whose what which when where why how do does did done
            has have had not no yes but or if so as at by for from with on into about after before under over
            between than then there here can could will would shall should may might must all any some every
            each one two more most other such only very also just up out off tell show give list while during
            against"""
        ),
        groups=_words(
            """ea ou ch ct ow ee oo ty ex sc wa ck ry qu cr we cl cu ht wi ff ue ui wo wh ay ew ft hr aw wn dy ws
            ey sw ca co ic sh dl th"""
        ),
        endings=_words("d y h w c f ng ts ce rs ns ss ls le er ion ous ble ful ive ure ate ght"),
        accents=frozenset(),
    )
