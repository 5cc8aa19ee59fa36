"""Whether a question leans on the one before it."""

from __future__ import annotations

from ner.text.tokens import fold, words
from serving.offline.words import content_words

_BEGINNINGS = {"hu": {"es", "meg", "de", "akkor"}, "en": {"and", "but", "then", "also"}}
_POINTING_BACK = {
    "hu": frozenset(
        "o ok ot oket neki nekik nala naluk tole toluk hozza hozzajuk vele veluk rola roluk ott oda onnan ez az ezt azt"
        " ezek azok ezeket azokat ennek annak ilyen olyan ugyanez ugyanaz".split()
    ),
    "en": frozenset(
        "he she it they him her them his hers its their theirs there this that these those one ones".split()
    ),
}


def leans_on_before(question: str, language: str) -> bool:
    """It begins like the rest of a sentence, points back, or asks without a word that could be searched for."""
    folded = [fold(word) for word in words(question)]
    if not folded:
        return False
    points_back = not _POINTING_BACK[language].isdisjoint(folded) and not _names_something(question)
    return folded[0] in _BEGINNINGS[language] or points_back or _asks_nothing(question, language)


def _names_something(question: str) -> bool:
    """A capital letter inside the question: a name, so that an article or pronoun need not point back."""
    return any(word[0].isupper() for word in words(question)[1:])


def _asks_nothing(question: str, language: str) -> bool:
    """A question without content: "Miért?" """
    return question.rstrip().endswith("?") and not content_words(question, language)
