"""What the state says of turns and messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class TurnStatus(StrEnum):
    """Where a turn stands."""

    RUNNING = "RUNNING"
    ASKING = "ASKING"
    """A question to the user is pending."""
    DONE = "DONE"
    FAILED = "FAILED"
    INTERRUPTED = "INTERRUPTED"
    """The client left or the server ended before the answer did."""
    DROPPED = "DROPPED"
    """Its question was not answered: a new message came, or too much time went by."""


class MessageKind(StrEnum):
    """What a message is."""

    MESSAGE = "MESSAGE"
    ANSWER = "ANSWER"
    QUESTION = "QUESTION"
    """A tool's question to the user."""
    REPLY = "REPLY"
    """The user's answer to it."""


@dataclass(frozen=True, slots=True)
class BegunTurn:
    """A turn that has its places in the chat."""

    chat_id: str
    turn_id: str
    sequence: int
    """Place of its message in the chat."""
    dropped_question: Mapping[str, Any] | None = None
    """The question that was pending and is no longer, since a new message came."""
    is_new: bool = True
    """Or begun before, by the same request with the same key."""


@dataclass(frozen=True, slots=True)
class ResumedTurn:
    """A turn whose pending question has been answered."""

    chat_id: str
    turn_id: str
    request: Mapping[str, Any]
    progress: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a turn ended with."""

    content: str
    status: TurnStatus = TurnStatus.DONE
    content_type: str | None = None
    generation: int | None = None
    sources: list[dict[str, Any]] | None = None
    trace: dict[str, Any] | None = None
    introduction: str | None = None
    """What was streamed ahead of a content that came whole."""
    error: dict[str, str] | None = None
    """`code` and `message` of a turn that failed."""


def storable(text: str) -> str:
    """The text without what no database takes: the null character and halves of characters."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
