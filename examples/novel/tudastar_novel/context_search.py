"""Retrieval for a novel: wider contexts, and characters sought by all their names."""

from __future__ import annotations

from retrieval.tools.rag import AbstractRAGRetrievalTool
from toolkit.tool import ALL, ToolCall

NAMES = 3
"""Further names of each character by which sentences are sought."""


class ContextSearchTool(AbstractRAGRetrievalTool):
    """Takes the place of the general retrieval in its domain, since it is made for it."""

    name = "context_search"
    domain = "novel"
    eligible_system = ALL
    before = 2
    after = 2
    instruction = "Finds the passages of the novel that fit the question."
    executable_instruction = (
        "context_search: true if the novel's text may answer the question; false otherwise"
    )

    def query(self, call: ToolCall) -> str:
        """The question with the most frequent names of the characters in it."""
        named = self.knowledge.open(call.domain).find_entities(call.user_prompt, call.systems)
        names = dict.fromkeys(name for entity in named for name in (entity.name, *entity.aliases[:NAMES]))
        return " ".join((super().query(call), *(name for name in names if name not in call.user_prompt)))
