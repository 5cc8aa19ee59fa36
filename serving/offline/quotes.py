"""The answer without a model: the best sentences, word for word, each with its place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ner.text.tokens import fold, words
from serving.answering import AnswerTask, Say
from serving.offline.words import content_words, covered_words, text_keys, word_keys
from serving.phrases import phrase
from serving.prompt import Source
from serving.trace import Trace
from toolkit.documents import SUMMARY_SENTENCE, TextAnswer

MOST_QUOTES = 6
FEWEST_QUOTES = 3
"""So many are given where there are as many that hold a word of the question."""
COVERED_SHARE = 1 / 3
"""Part of the question's content words that the quotes must hold together, or nothing counts as found."""
GOOD_SHARE = 0.6
"""Beyond the first quotes, a sentence must come this near to the best one."""
NAME_SHARE = 0.5
"""Weight of a word that stands in the document's name alone, beside 1 in the sentence."""
EXACT_BONUS = 0.1
"""For a word that stands in the sentence as it does in the question, accents included."""
RELEVANCE_SHARE = 0.5
"""Weight of the tool's own score, which is at most 1 here."""
FULL_LENGTH = 6
"""Words from which on a sentence keeps its whole score."""
QUESTION_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class _Candidate:
    source: Source
    words: frozenset[str]
    """Content words of the question that it holds."""
    score: float


class QuoteAnswerer:
    """Quotes sentences of the context; deterministic, and says that it quotes."""

    async def answer(self, task: AnswerTask, say: Say, trace: Trace) -> list[Source]:
        """Say the quotes best first, renumbered in that order, or that nothing was found or could be looked up."""
        language = task.settled.language
        quotes = best_sources(task)
        trace.answered_by = "quotes"
        if not quotes:
            await say(phrase(language, "could_not_look" if trace.has_failures else "nothing_found"))
            return []
        if not task.keep_numbers:
            quotes = [Source(number, quote.document) for number, quote in enumerate(quotes, start=1)]
        await say(phrase(language, "quote_intro"))
        for quote in quotes:
            await say("\n\n" + _quoted(quote, language))
        return quotes


def best_sources(task: AnswerTask) -> list[Source]:
    """Three to six sources that hold most of the question's rare words, best first; empty when none does.

    What a tool vouches for goes before all other sources, summaries of pages first.
    """
    wanted = content_words(task.question, task.settled.language)
    candidates = _candidates(task, wanted)
    matching = [candidate for candidate in candidates if candidate.words]
    covered = frozenset[str]().union(*(candidate.words for candidate in matching))
    vouched = [candidate for candidate in candidates if candidate.source.number in task.vouched]
    summaries = [each.source for each in vouched if each.source.document.sentence_number == SUMMARY_SENTENCE]
    best = _greedy([each for each in vouched if each.words], len(wanted))
    found = bool(matching) and len(covered) >= COVERED_SHARE * len(wanted)
    others = _greedy(matching, len(wanted)) if found else []
    by_rank = [*summaries, *best, *(candidate.source for candidate in vouched), *others]
    return list(dict.fromkeys(by_rank))[:MOST_QUOTES]


def _candidates(task: AnswerTask, wanted: Sequence[str]) -> list[_Candidate]:
    """The sources with their scores, best first; of equal texts the first one."""
    language = task.settled.language
    keys = [text_keys(source.document.text or "", language) for source in task.sources]
    weights = {word: _rarity(word_keys(word, language), keys) for word in wanted}
    top = max((source.document.sentence_score for source in task.sources), default=0.0)
    candidates: dict[str, _Candidate] = {}
    for source, held in zip(task.sources, keys, strict=True):
        text = (source.document.text or "").strip()
        found = covered_words(wanted, held, language)
        by_name = covered_words(wanted, text_keys(source.document.document_name, language), language)
        score = sum(weights[word] + EXACT_BONUS * (word.lower() in text.lower()) for word in found)
        score += NAME_SHARE * sum(weights[word] for word in by_name if word not in found)
        score += RELEVANCE_SHARE * (source.document.sentence_score / top if top > 0 else 0.0)
        candidates.setdefault(fold(text), _Candidate(source, frozenset(found), score * _substance(text)))
    return sorted(candidates.values(), key=lambda candidate: (-candidate.score, candidate.source.number))


def _rarity(word: frozenset[str], keys: Sequence[frozenset[str]]) -> float:
    """A word that few of the texts hold tells more."""
    holding = sum(1 for held in keys if not word.isdisjoint(held))
    return math.log(1 + (len(keys) + 1) / (holding + 1))


def _substance(text: str) -> float:
    """Headings and questions say little: their part of the score."""
    length = min(len(words(text)) / FULL_LENGTH, 1.0)
    return length * (QUESTION_SHARE if text.endswith("?") else 1.0)


def _greedy(matching: Sequence[_Candidate], wanted: int) -> list[Source]:
    """The best first; those that add a word not yet held go before those that do not."""
    best = matching[0].score if matching else 0.0
    chosen: list[_Candidate] = []
    held: set[str] = set()
    rest = list(matching)
    while rest and len(chosen) < MOST_QUOTES:
        following = max(rest, key=lambda c: len(c.words - held) / max(wanted, 1) * best + c.score)
        if (
            len(chosen) >= FEWEST_QUOTES
            and not following.words - held
            and following.score < GOOD_SHARE * best
        ):
            break
        chosen.append(following)
        held |= following.words
        rest.remove(following)
    return [candidate.source for candidate in chosen]


def _quoted(quote: Source, language: str) -> str:
    document = quote.document
    values = {
        "text": (document.text or "").strip(),
        "number": quote.number,
        "name": document.document_name,
        "page": document.page + 1,
        "sentence": document.sentence_number + 1,
    }
    if isinstance(document, TextAnswer):
        return phrase(language, "quote_tool" if document.document_name else "quote_tool_unnamed", **values)
    if document.sentence_number == SUMMARY_SENTENCE:
        return phrase(language, "quote_summary", **values)
    return phrase(language, "quote", **values)
