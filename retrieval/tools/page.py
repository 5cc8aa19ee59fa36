"""Page analysis: what stands on the pages that a question is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from pydantic import BaseModel

from retrieval.pages import Page, PageFinder
from retrieval.summary import central_sentences
from toolkit.documents import SUMMARY_SENTENCE, UniqueTextDocument, merge_documents
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.knowledge import KnowledgeBase
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ToolCall


class PageAnalysisRequest(BaseModel):
    """The pages are found by the question itself."""


class AbstractPageAnalysisTool(OrchestratorActivatedTool[PageAnalysisRequest]):
    """For each page that the question is about: its summary, and the sentences that say most.

    Pages are those that the question names ("12. oldal", "page 12", a chapter's title), else those where most of it
    is found. A subclass names its domain, and may change the class variables or override `is_about` and `summarise`.
    """

    request_class = PageAnalysisRequest
    priority = 0
    pages: ClassVar[int] = 3
    """How many pages are given."""
    sentences: ClassVar[int] = 12
    """How many sentences of each, beside its summary."""
    summary_sentences: ClassVar[int] = 3
    """How many sentences make a summary."""
    vouches: ClassVar[bool] = False
    """Whether pages that the question names suffice as its context, so that no retrieval is needed."""
    knowledge: KnowledgeBase

    def init(self, services: Services) -> None:
        self.knowledge = services.knowledge

    def is_about(self, call: ToolCall) -> bool:
        """Whether the question asks for what stands on pages."""
        return True

    def summarise(self, page: Page, call: ToolCall) -> str:
        """The page's summary: its most central sentences in their order. Empty for none."""
        texts = [sentence.text or "" for sentence in page.sentences]
        best = central_sentences(texts, page.document.language, self.summary_sentences)
        return " ".join(texts[at] for at in sorted(best))

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        if not self.is_about(call):
            return None
        query = " ".join((call.user_prompt, *call.important_words))
        finder = PageFinder(self.knowledge.open(call.domain), call.systems, call.user_prompt, query)
        named = finder.named(self.pages)
        pages = named or finder.found(self.pages)
        if not pages:
            return None
        scores = {hit.key: hit.sentence_score for hit in finder.hits}
        documents = merge_documents(*(self._documents(page, scores, call) for page in pages))
        if named and self.vouches:
            return ToolExecutionResult.as_guaranteed_context(self.name, documents)
        return ToolExecutionResult.as_context(self.name, documents)

    def _documents(
        self, page: Page, scores: Mapping[tuple[int, int, int], float], call: ToolCall
    ) -> list[UniqueTextDocument]:
        """The summary under sentence number −1, then the best sentences in reading order."""
        first = page.sentences[0]
        best_score = max(scores.values(), default=1.0)
        summary = self.summarise(page, call).strip()
        given = (
            [replace(first, sentence_number=SUMMARY_SENTENCE, text=summary, sentence_score=best_score)]
            if summary
            else []
        )
        found = sorted(page.sentences, key=lambda each: (-scores.get(each.key, 0.0), each.key))
        kept = sorted(found[: self.sentences])
        return given + [replace(each, sentence_score=scores.get(each.key, 0.0)) for each in kept]
