"""Word lists that tell whether a full stop ends a sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Abbreviations:
    """What a language's rules know of words beside a full stop; all in lower case, without the last stop."""

    bound: frozenset[str]
    """Never end a sentence: what they announce follows."""
    free: frozenset[str]
    """End one when a capital follows."""
    loose: frozenset[str]
    """End one only before a word of `openers`, as dotted and unpronounceable ones do by themselves."""
    numbered: frozenset[str]
    """End one unless a number follows; words of their own at times (`no`)."""
    openers: frozenset[str]
    """Words that open a sentence even after an ordinal, an initial or an unknown abbreviation."""
    months: frozenset[str]
    ordinal_stop: bool
    """Whether a number with a full stop is an ordinal (`2. osztály`, `IV. Béla`)."""


def abbreviations(language: str) -> Abbreviations:
    """The lists of a language; a language without lists of its own gets the English ones."""
    return _hungarian() if language == "hu" else _english()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _hungarian() -> Abbreviations:
    return Abbreviations(
        bound=_words(
            """dr drs prof ifj id özv gr br szt st pl ún úgyn vö ld lásd ford szerk sz szül old ill kb cca ca
            kiv v uo uő i m bek pont évf köt megh kir főhg összeáll bev graf jan febr már márc ápr jún júl
            aug szept okt nov dec alez ezr szds őrgy őrm hdgy fhdgy tábn vez alt mgr msgr lat gör tel mob fax
            ált közp orsz evang ref kat u.n ua mr mrs ms vh op cf ed eds rom ur rev
            ném ang lengy szlov ukr"""
        ),
        free=_words(
            """stb kft bt rt zrt nyrt kht kkt ltd inc co corp u krt rkp km cm mm kg dkg db ft eft mft mrd sk
            sr jr u.i ui hrsz"""
        ),
        loose=frozenset(),
        numbered=_words("no nr vol p pp art tc"),
        openers=_words(
            """a az ez ezt ezek ezen ennek ezzel erre ebben és de ha hogy nem mert azonban így úgy ekkor akkor
            majd most itt ott ő ők én mi ti csak még már miután mivel bár ám aki ami mely egy mint mikor
            amikor miért hol hova ki mit milyen hiszen tehát ezért azért emellett továbbá viszont ugyanakkor
            később végül először persze talán minden sok ilyen olyan"""
        ),
        months=_words(
            """január február március április május június július augusztus szeptember október november
            december jan febr márc ápr máj jún júl aug szept okt nov dec"""
        ),
        ordinal_stop=True,
    )


def _english() -> Abbreviations:
    return Abbreviations(
        bound=_words(
            """mr mrs ms messrs mme mlle dr drs prof rev hon pres gov sen rep gen col maj capt lt sgt cpl st
            sts mt e.g i.e eg ie cf viz vs v approx ca c incl excl esp al ed eds trans fr bros supt adm cmdr b"""
        ),
        free=_words("inc ltd corp llc plc etc a.m p.m hrs min lb lbs oz"),
        loose=_words(
            """sr jr esq co ave blvd rd jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
            fed bankr crim civ proc cir dist ext"""
        ),
        numbered=_words("no nos nr p pp fig figs ch chap sec art para op vol vols ref refs"),
        openers=_words(
            """a an the he she it they we i you this that these those there here his her its their our my your
            in on at by for from with as but and or if when while what who why how where after before since
            although though however then now no yes not so such some many most all both each one"""
        ),
        months=frozenset(),
        ordinal_stop=False,
    )
