"""Retrieval: the best sentences of the domain, with the ones around them."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from toolkit.kinds import MAX_PRIORITY, OrchestratorActivatedTool
from toolkit.knowledge import KnowledgeBase
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ToolCall


class RetrievalRequest(BaseModel):
    """Retrieval needs no parameters beside the question."""


class AbstractRAGRetrievalTool(OrchestratorActivatedTool[RetrievalRequest]):
    """Searches the request's domain and systems; runs last, when nothing better was found.

    A subclass names its domain, and may change the class variables or override `query`.
    """

    request_class = RetrievalRequest
    priority = MAX_PRIORITY
    sentences: ClassVar[int] = 12
    """How many sentences are looked for."""
    before: ClassVar[int] = 1
    after: ClassVar[int] = 1
    """How many sentences around each are taken along."""
    knowledge: KnowledgeBase

    def init(self, services: Services) -> None:
        self.knowledge = services.knowledge

    def query(self, call: ToolCall) -> str:
        """The text that is searched for: the question, in which the important words count twice."""
        return " ".join((call.user_prompt, *call.important_words))

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        knowledge = self.knowledge.open(call.domain)
        found = knowledge.search(self.query(call), call.systems, self.sentences)
        if not found:
            return None
        around = knowledge.with_neighbours(found, self.before, self.after)
        return ToolExecutionResult.as_context(self.name, around)


class RAGRetrievalTool(AbstractRAGRetrievalTool):
    """Retrieval in every domain."""

    name = "rag_retrieval"
    eligible_system = ALL
    instruction = "Finds the sentences of the documents that fit the question."
    executable_instruction = "rag_retrieval: true if the documents may answer the question; false otherwise"
