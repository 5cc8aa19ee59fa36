"""The work on a request that waits for the user, as JSON: nothing of it is done again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from serving.contexts import ContextBuffer, Contribution, OpenQuestion
from serving.judging import Settled
from serving.trace import Trace
from toolkit.clarification import ClarifyingQuestion
from toolkit.documents import InternalContextDocument, TextAnswer, UniqueTextDocument

_CLASSES: Mapping[str, type[UniqueTextDocument]] = {
    each.__name__: each for each in (UniqueTextDocument, TextAnswer, InternalContextDocument)
}


@dataclass(slots=True)
class TurnProgress:
    """What a request has come to."""

    question: str
    """The user's, understandable by itself."""
    settled: Settled
    trace: Trace
    contributions: list[Contribution] = field(default_factory=list)
    """Of the routed tools and the one that the request names."""
    step_contributors: list[str] = field(default_factory=list)
    named_question: OpenQuestion | None = None
    """Of the tool that the request names."""
    buffer: ContextBuffer = field(default_factory=ContextBuffer)

    @property
    def open_question(self) -> OpenQuestion | None:
        """The one that the user is to answer."""
        return self.named_question or next(iter(self.buffer.questions), None)

    def to_json(self) -> dict[str, Any]:
        """JSON, with the question in front that waits for the user."""
        open_question = self.open_question
        buffer = self.buffer
        return {
            "questions": [_question_json(open_question)] if open_question else [],
            "question": self.question,
            "settled": asdict(self.settled),
            "trace": self.trace.to_wire(),
            "contributions": [_contribution_json(each) for each in self.contributions],
            "stepContributors": self.step_contributors,
            "namedQuestion": _question_json(self.named_question) if self.named_question else None,
            "buffer": {
                "contributions": [_contribution_json(each) for each in buffer.contributions],
                "finished": sorted(buffer.finished),
                "guaranteedQueries": sorted(buffer.guaranteed_queries),
                "questions": [_question_json(each) for each in buffer.questions],
                "queries": buffer.queries,
                "hop": buffer.hop,
                "roundStart": buffer.round_start,
                "picks": {str(task): names for task, names in buffer.picks.items()},
                "judged": sorted(buffer.judged),
                "sufficient": sorted(buffer.sufficient),
            },
        }

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> TurnProgress:
        """What `to_json` wrote."""
        buffer, named = data["buffer"], data["namedQuestion"]
        return cls(
            question=data["question"],
            settled=Settled(data["settled"]["language"], tuple(data["settled"]["important_words"])),
            trace=Trace.of_wire(data["trace"]),
            contributions=[_contribution(each) for each in data["contributions"]],
            step_contributors=list(data["stepContributors"]),
            named_question=_question(named) if named else None,
            buffer=ContextBuffer(
                contributions=[_contribution(each) for each in buffer["contributions"]],
                finished={(task, name) for task, name in buffer["finished"]},
                guaranteed_queries=set(buffer["guaranteedQueries"]),
                questions=[_question(each) for each in buffer["questions"]],
                queries=list(buffer["queries"]),
                hop=buffer["hop"],
                round_start=buffer["roundStart"],
                picks={int(task): list(names) for task, names in buffer["picks"].items()},
                judged={(task, priority) for task, priority in buffer["judged"]},
                sufficient=set(buffer["sufficient"]),
            ),
        )


def _contribution_json(contribution: Contribution) -> dict[str, Any]:
    return {
        "toolName": contribution.tool_name,
        "prompt": contribution.prompt,
        "documents": [_document_json(each) for each in contribution.documents],
        "task": contribution.task,
        "guaranteed": contribution.guaranteed,
    }


def _contribution(data: Mapping[str, Any]) -> Contribution:
    documents = tuple(_document(each) for each in data["documents"])
    return Contribution(data["toolName"], data["prompt"], documents, data["task"], data["guaranteed"])


def _document_json(document: UniqueTextDocument) -> dict[str, Any]:
    """A class that a plugin made is kept as the nearest of the toolkit's."""
    kind = next(each.__name__ for each in type(document).__mro__ if each.__name__ in _CLASSES)
    return {"class": kind, **document.to_wire()}


def _document(data: Mapping[str, Any]) -> UniqueTextDocument:
    return _CLASSES[data["class"]](
        document_id=int(data["documentId"]),
        document_name=data["documentName"],
        document_url=data["documentUrl"],
        page=data["page"],
        sentence_number=data["sentenceNumber"],
        text=data["text"],
        sentence_score=data["sentenceScore"],
    )


def _question_json(asked: OpenQuestion) -> dict[str, Any]:
    return {
        "task": asked.task,
        "toolName": asked.tool_name,
        "question": asked.question.to_wire(),
        "partialJson": asked.partial_json,
    }


def _question(data: Mapping[str, Any]) -> OpenQuestion:
    question = ClarifyingQuestion.of_wire(data["question"])
    return OpenQuestion(data["task"], data["toolName"], question, data["partialJson"])
