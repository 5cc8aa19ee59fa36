"""A task: a report over the names of a whole domain, longer work than a user waits for in a chat."""

from __future__ import annotations

from pydantic import BaseModel, Field

from toolkit.kinds import AsyncTaskTool, TaskProgress
from toolkit.knowledge import Entity, Knowledge
from toolkit.services import Services

SENTENCES = 3
NEIGHBOURS = 5


class ReportRequest(BaseModel):
    """What the report covers."""

    domain: str
    limit: int = Field(default=20, ge=1, le=500)
    """How many names, the most often mentioned first."""


class Report(BaseModel):
    """What the task gives back."""

    domain: str
    generation: int
    """Of the documents on which the report rests."""
    entities: int
    markdown: str


class EntityReportTool(AsyncTaskTool[ReportRequest]):
    """Who and what the documents name: forms, telling sentences and neighbours of each name, as Markdown."""

    name = "entity_report"
    task_type = "entity-report"
    request_class = ReportRequest
    safe_to_repeat = True
    """It reads alone, so a second run does no harm."""

    def init(self, services: Services) -> None:
        self.knowledge = services.knowledge

    def run(self, request: ReportRequest, progress: TaskProgress) -> dict[str, object]:
        """Raises LookupError, which names the domains there are, for a domain that is not there."""
        knowledge = self.knowledge.open(request.domain)
        entities = knowledge.entities(limit=request.limit)
        sections = [f"# {request.domain}\n"]
        for done, entity in enumerate(entities):
            progress.report(done, len(entities), entity.name)
            sections.append(section(knowledge, entity))
        progress.report(len(entities), len(entities))
        report = Report(
            domain=request.domain,
            generation=knowledge.generation,
            entities=len(entities),
            markdown="\n".join(sections),
        )
        return report.model_dump()


def section(knowledge: Knowledge, entity: Entity) -> str:
    """One name's part of the report."""
    lines = [
        f"## {escaped(entity.name)} ({entity.label})\n",
        f"- mentions: {entity.mention_count}, documents: {entity.document_count}",
        f"- forms: {escaped(', '.join(entity.aliases))}",
    ]
    neighbours = [each.entity.name for each in knowledge.neighbours(entity, limit=NEIGHBOURS)]
    if neighbours:
        lines.append(f"- beside it: {escaped(', '.join(neighbours))}")
    lines.append("")
    for sentence in knowledge.entity_sentences(entity, limit=SENTENCES):
        place = f"{sentence.document_name}, page {sentence.page + 1}"
        lines.append(f"> {escaped(sentence.text or '')} — *{escaped(place)}*\n")
    return "\n".join(lines)


def escaped(text: str) -> str:
    """On one line, without signs that Markdown would take for its own."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|" else sign for sign in " ".join(text.split()))
