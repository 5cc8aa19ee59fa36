"""Entity analysis: who or what somebody or something in the documents is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import BaseModel

from toolkit.documents import TextAnswer, UniqueTextDocument, merge_documents
from toolkit.kinds import OrchestratorActivatedTool
from toolkit.knowledge import Entity, Knowledge, KnowledgeBase, Neighbour
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ALL, ToolCall

NAMED = 20
"""Entities named in a question that are looked at."""


class EntityRequest(BaseModel):
    """The entity is found in the question itself."""


class AbstractEntityAnalysisTool(OrchestratorActivatedTool[EntityRequest]):
    """For each entity that the question names: its names, its company, and the sentences that say most of it.

    A subclass names its domain, and may change the class variables or override `is_about`.
    """

    request_class = EntityRequest
    priority = 0
    labels: ClassVar[frozenset[str]] = frozenset()
    """Labels of the entities that are described; empty: all."""
    entities: ClassVar[int] = 3
    """How many of the named entities are described."""
    sentences: ClassVar[int] = 8
    """How many sentences are given for each."""
    neighbours: ClassVar[int] = 8
    """How many of those named beside it are listed."""
    knowledge: KnowledgeBase

    def init(self, services: Services) -> None:
        self.knowledge = services.knowledge

    def is_about(self, call: ToolCall, found: Sequence[Entity]) -> bool:
        """Whether the question asks for these entities as such."""
        return bool(found)

    def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        knowledge = self.knowledge.open(call.domain)
        named = knowledge.find_entities(call.user_prompt, call.systems, NAMED)
        found = [each for each in named if not self.labels or each.label in self.labels][: self.entities]
        if not self.is_about(call, found):
            return None
        described = [self._describe(knowledge, entity, call) for entity in found]
        return ToolExecutionResult.as_context(self.name, merge_documents(*described))

    def _describe(self, knowledge: Knowledge, entity: Entity, call: ToolCall) -> list[UniqueTextDocument]:
        sentences = knowledge.entity_sentences(entity, call.systems, self.sentences)
        company = knowledge.neighbours(entity, call.systems, self.neighbours)
        described = entity if not call.systems else replace(entity, aliases=(), mention_count=0)
        return [TextAnswer.of(card(described, company, call.user_lang), entity.name), *sentences]


class EntityAnalysisTool(AbstractEntityAnalysisTool):
    """Entity analysis in every domain."""

    name = "entity_analysis"
    eligible_system = ALL
    instruction = "Describes the persons, places and organisations that the question names."
    executable_instruction = (
        "entity_analysis: true if the question asks who or what a named person, place or organisation is; "
        "false otherwise"
    )


WORDING = {
    "magyar": ("Nevek a szövegben", "Együtt említik vele", "említés"),
    "angol": ("Names in the text", "Named together with", "mentions"),
}


def card(entity: Entity, company: Sequence[Neighbour], user_lang: str) -> str:
    """An entity's names, number of mentions and company in a few lines, in the user's language.

    Names and number are left out when there are none: they are known of the whole domain alone.
    """
    names, together, mentions = WORDING.get(user_lang, WORDING["angol"])
    counted = f", {entity.mention_count} {mentions}" if entity.mention_count else ""
    lines = [f"{entity.name} ({entity.label}{counted})"]
    if entity.aliases:
        lines.append(f"{names}: {', '.join(entity.aliases[:8])}")
    if company:
        others = ", ".join(f"{each.entity.name} ({each.weight:g})" for each in company)
        lines.append(f"{together}: {others}")
    return "\n".join(lines)
