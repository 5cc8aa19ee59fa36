"""The prompt of the final answer: sources by document and page, numbered for citing, fenced as data."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from serving.phrases import LANGUAGES, phrase
from serving.state.history import Exchange
from toolkit.documents import (
    SUMMARY_SENTENCE,
    TextAnswer,
    UniqueTextDocument,
    merge_documents,
    public_documents,
)

_CITATION = re.compile(r"\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]")


@dataclass(frozen=True, slots=True)
class Source:
    """A document under the number by which the answer cites it."""

    number: int
    """Counted from 1."""
    document: UniqueTextDocument

    def to_wire(self) -> dict[str, Any]:
        """The source's JSON object; `generated`: a tool's own text, which stands on no page."""
        wire = self.document.to_wire()
        if not math.isfinite(self.document.sentence_score):
            wire["sentenceScore"] = 0.0
        return {"number": self.number, **wire, "generated": isinstance(self.document, TextAnswer)}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Supplement:
    """A tool's addition to the system prompt."""

    tool_name: str
    text: str


def number_sources(documents: Iterable[UniqueTextDocument]) -> list[Source]:
    """The documents that an answer may see, in reading order, a page's summary first, numbered from 1."""
    usable = [document for document in public_documents(merge_documents(documents)) if document.text]
    return [Source(number, document) for number, document in enumerate(sorted(usable), start=1)]


def answer_prompt(
    question: str,
    language: str,
    sources: Sequence[Source],
    supplements: Sequence[Supplement] = (),
    domain_prompt: str = "",
    history: Sequence[Exchange] = (),
) -> Prompt:
    """The prompt from which a model answers in the given language (a code)."""
    system = phrase(language, "answer", language=LANGUAGES[language])
    if domain_prompt:
        system += f"\n\n{domain_prompt}"
    for supplement in supplements:
        text = phrase(
            language, "supplement", tool_name=supplement.tool_name, supplement=supplement.text.strip()
        )
        system += f"\n\n{text}"
    listing = render_sources(sources, language)
    user = phrase(language, "question", question=question, sources=listing, fence=data_fence(listing))
    if history:
        user = f"{told_history(history, language)}\n\n{user}"
    return Prompt(system, user)


def told_history(history: Sequence[Exchange], language: str) -> str:
    """A conversation as data, the oldest message first."""
    told = "\n".join(
        phrase(language, f"history_{message.role}", content=_one_line(message.content)) for message in history
    )
    return phrase(language, "history", history=told, fence=data_fence(told))


def render_sources(sources: Sequence[Source], language: str) -> str:
    """The sources by document and page: the page's summary, then its sentences in order."""
    lines: list[str] = []
    for _, of_document in groupby(sources, key=lambda source: source.document.document_id):
        of_document_list = list(of_document)
        lines.append(
            phrase(language, "source_document", name=_one_line(of_document_list[0].document.document_name))
        )
        for page, of_page in groupby(of_document_list, key=lambda source: source.document.page):
            lines.append(phrase(language, "source_page", page=page + 1))
            lines.extend(_source_line(source, language) for source in of_page)
    return "\n".join(lines)


def data_fence(text: str) -> str:
    """A line that marks where data begins and ends; the text cannot contain it, since it depends on it."""
    return f"===== {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]} ====="


def named_sources(answer: str, sources: Sequence[Source]) -> list[Source]:
    """The sources whose numbers the answer names in square brackets."""
    numbers = {int(number) for group in _CITATION.findall(answer) for number in re.split(r"[,;]", group)}
    return [source for source in sources if source.number in numbers]


def _source_line(source: Source, language: str) -> str:
    is_summary = source.document.sentence_number == SUMMARY_SENTENCE
    name = "source_summary" if is_summary else "source_sentence"
    return phrase(language, name, number=source.number, text=_one_line(source.document.text or ""))


def _one_line(text: str) -> str:
    return " ".join(text.split())
