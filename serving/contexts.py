"""What the tools of one request found and asked, in an order that does not depend on who was faster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from toolkit.clarification import ClarificationSession, ClarifyingQuestion
from toolkit.contexts import PromptAndContext, ToolContexts, completion_key, freeze_contexts
from toolkit.documents import UniqueTextDocument, merge_documents, public_documents

WHOLE_REQUEST = 0
"""Task number of a tool that runs for the request itself: one that was named in it."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """The context that one tool gave for one prompt; internal documents are among it."""

    tool_name: str
    prompt: str
    documents: tuple[UniqueTextDocument, ...]
    task: int | None = None
    """The sub-query's number; None for a routed tool."""
    guaranteed: bool = False
    """Whether the tool vouches for it, and the answer may see some of it."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question of a tool that the user has not answered yet."""

    task: int
    tool_name: str
    question: ClarifyingQuestion
    partial_json: str

    def answered(self, reply: str) -> ClarificationSession:
        """What the tool gets with the user's answer."""
        return ClarificationSession(self.partial_json, self.question.question_id, reply.strip())


@dataclass(slots=True)
class ContextBuffer:
    """The work that an orchestrator has done for one request.

    It is all that a run has to remember: a run that goes on later starts from it and repeats nothing.
    """

    contributions: list[Contribution] = field(default_factory=list)
    finished: set[tuple[int, str]] = field(default_factory=set)
    """(task, tool) pairs that are not started again."""
    guaranteed_queries: set[str] = field(default_factory=set)
    """Sub-queries for which a tool vouched: retrieval is not run for them, in a later round neither."""
    questions: list[OpenQuestion] = field(default_factory=list)
    """The first one is the user's to answer, the others wait in line."""
    queries: list[str] = field(default_factory=list)
    """The sub-queries; task 1 is the first."""
    hop: int = 0
    round_start: int = 0
    """How many of the sub-queries belong to earlier hops."""
    picks: dict[int, list[str]] = field(default_factory=dict)
    """Names of the tools picked for each task."""
    judged: set[tuple[int, int]] = field(default_factory=set)
    """(task, priority) pairs that the quality gate has judged."""
    sufficient: set[str] = field(default_factory=set)
    """Sub-queries whose context the gate found good enough."""

    def add(self, contribution: Contribution) -> None:
        """Take in what a tool of a finished group found."""
        self.contributions.append(contribution)
        if contribution.guaranteed:
            self.guaranteed_queries.add(contribution.prompt)

    def of_task(self, task: int) -> list[UniqueTextDocument]:
        """What was found for a sub-query and the answer may see."""
        found = (entry.documents for entry in self.contributions if entry.task == task)
        return public_documents(merge_documents(*found))

    def prior(self) -> ToolContexts:
        """The read-only snapshot for context consumers, by `"<taskNo>:<toolName>"`."""
        contexts: dict[str, list[PromptAndContext]] = defaultdict(list)
        for entry in self.contributions:
            if entry.task is not None:
                key = completion_key(entry.task, entry.tool_name)
                contexts[key].append(PromptAndContext(entry.prompt, entry.documents))
        return freeze_contexts(contexts)

    def required(self, task: int, tool_names: Iterable[str]) -> ToolContexts:
        """The contexts of certain tools for one sub-query, by plain tool name."""
        wanted = set(tool_names)
        contexts: dict[str, list[PromptAndContext]] = defaultdict(list)
        for entry in self.contributions:
            if entry.task == task and entry.tool_name in wanted:
                contexts[entry.tool_name].append(PromptAndContext(entry.prompt, entry.documents))
        return freeze_contexts(contexts)


def contributing_tools(contributions: Sequence[Contribution]) -> list[str]:
    """Names of the tools that gave a context which the answer may see, each once, in order."""
    return list(
        dict.fromkeys(entry.tool_name for entry in contributions if public_documents(entry.documents))
    )
