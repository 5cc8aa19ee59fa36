"""What a tool gives back: context for the answer, an answer, word that it has answered, or a question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from toolkit.clarification import ClarifyingQuestion
from toolkit.documents import UniqueTextDocument, merge_documents, public_documents
from toolkit.errors import shown


class ResultMode(StrEnum):
    """How the pipeline goes on after the tool."""

    CONTEXT = "CONTEXT"
    """The documents join the context from which the answer is made."""
    ANSWER = "ANSWER"
    """The documents are the answer; they go to the client with no further call of a model."""
    ANSWERED = "ANSWERED"
    """The tool has delivered by itself; the pipeline ends."""
    NEEDS_CLARIFICATION = "NEEDS_CLARIFICATION"
    """The user is asked; the tool goes on with his answer."""


@dataclass(frozen=True, slots=True)
class ToolExecutionResult:
    """The result of one tool. Make it with the factories; `None` instead means "not for me"."""

    mode: ResultMode
    tool_name: str
    documents: tuple[UniqueTextDocument, ...] = ()
    """Each place once, in a fixed order: a set is sorted, any other collection keeps its own order."""
    content_type: str | None = None
    """Of an ANSWER: None is plain text; else for instance `BASE64_PDF`."""
    guaranteed: bool = False
    """Of a CONTEXT: the tool vouches that it suffices, so the quality gate and retrieval are skipped."""
    question: ClarifyingQuestion | None = None
    partial_json: str | None = None
    """Of a question: the request so far, handed back to the tool with the user's answer."""

    def __post_init__(self) -> None:
        """Raises TypeError or ValueError for what no platform could use, so that the tool that made it fails."""
        object.__setattr__(self, "mode", ResultMode(self.mode))
        for document in self.documents:
            if not isinstance(document, UniqueTextDocument):
                raise TypeError(f"a result's documents are UniqueTextDocument, and {shown(document)} is none")
        if not isinstance(self.content_type, str | None):
            raise TypeError(f"a result's content type is a text or None, and not {shown(self.content_type)}")
        if self.mode is ResultMode.NEEDS_CLARIFICATION and not isinstance(self.question, ClarifyingQuestion):
            raise TypeError(f"a result that asks has a ClarifyingQuestion, and not {shown(self.question)}")

    @property
    def public_documents(self) -> list[UniqueTextDocument]:
        """The documents that an answer may see."""
        return public_documents(self.documents)

    @property
    def counts_as_guaranteed(self) -> bool:
        """Whether the tool vouches for the context, and some of it may stand in an answer."""
        return self.guaranteed and bool(self.public_documents)

    @property
    def answer_text(self) -> str:
        """Of an ANSWER: the texts in their order; plain ones on lines of their own, others end to end."""
        texts = (document.text for document in self.public_documents)
        return ("\n" if self.content_type is None else "").join(text for text in texts if text)

    @classmethod
    def as_context(cls, tool_name: str, documents: Iterable[UniqueTextDocument]) -> ToolExecutionResult:
        """Documents for the context; whether they suffice is judged by the quality gate."""
        return cls(ResultMode.CONTEXT, tool_name, _ordered(documents))

    @classmethod
    def as_guaranteed_context(
        cls, tool_name: str, documents: Iterable[UniqueTextDocument]
    ) -> ToolExecutionResult:
        """Documents for the context for whose sufficiency the tool itself vouches."""
        return cls(ResultMode.CONTEXT, tool_name, _ordered(documents), guaranteed=True)

    @classmethod
    def as_answer(
        cls, tool_name: str, documents: Iterable[UniqueTextDocument], content_type: str | None = None
    ) -> ToolExecutionResult:
        """A finished answer; several documents are joined in their order."""
        return cls(ResultMode.ANSWER, tool_name, _ordered(documents), content_type=content_type)

    @classmethod
    def as_answered(cls, tool_name: str) -> ToolExecutionResult:
        """The tool has delivered by itself."""
        return cls(ResultMode.ANSWERED, tool_name)

    @classmethod
    def needs_clarification(
        cls, question: ClarifyingQuestion, partial_json: str, tool_name: str
    ) -> ToolExecutionResult:
        """Ask the user; `partial_json` comes back to the tool with his answer."""
        return cls(ResultMode.NEEDS_CLARIFICATION, tool_name, question=question, partial_json=partial_json)


def _ordered(documents: Iterable[UniqueTextDocument]) -> tuple[UniqueTextDocument, ...]:
    if isinstance(documents, (set, frozenset)):
        return tuple(sorted(documents))
    return tuple(merge_documents(documents))
