"""What requests and answers look like as JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""ISO 8601, UTC."""
ChatId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
_NOT_BLANK: JsonDict = {"minLength": 1, "pattern": r"\S"}
"""Told in the description; the check itself has a code of its own."""
_TOOL_IS_NAMED: JsonDict = {
    "anyOf": [
        {"required": ["toolName"], "properties": {"toolName": {"type": "string"}}},
        {"properties": {"toolParameters": {"type": "null"}}},
    ]
}
"""Parameters are those of a tool."""


class Wire(BaseModel):
    """camelCase on the wire, snake_case here; unknown fields are an error."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid", frozen=True)


class ChatRequest(Wire):
    """A question to a domain."""

    model_config = ConfigDict(
        validate_by_name=False, validate_by_alias=True, json_schema_extra=_TOOL_IS_NAMED
    )

    chat_id: ChatId | None = None
    """Of the chat to go on with; without it a new one begins."""
    message: Annotated[str, Field(json_schema_extra=_NOT_BLANK)]
    domain: Name
    systems: tuple[Name, ...] = Field(default=(), max_length=50)
    language: Annotated[str | None, Field(json_schema_extra={"enum": ["hu", "en", None]})] = None
    """`hu` or `en`; without it the question's own."""
    tool_name: Name | None = None
    """Start this tool, past the routing."""
    tool_parameters: dict[str, Any] | None = None
    trace: bool = False
    """Send the trace before DONE."""


class ClarifyRequest(Wire):
    """The user's answer to the question that is pending in a chat."""

    model_config = ConfigDict(validate_by_name=False, validate_by_alias=True)

    chat_id: ChatId
    answer: Annotated[str, StringConstraints(max_length=8000), Field(json_schema_extra=_NOT_BLANK)]
    trace: bool = False
    """Send the trace before DONE."""


class Event(Wire):
    """One event of a stream, as its data."""

    progress_status: str
    """First CHAT, last DONE or ERROR; tools send statuses of their own."""
    chat_id: str
    content: str | None = None
    """Of LLM_GENERATION: the next piece of the answer; of ANSWER: the whole."""
    content_type: str | None = None
    question: dict[str, Any] | None = None
    """Of INTERACTIVE_QUESTION and QUESTION_DROPPED."""
    sources: tuple[dict[str, Any], ...] = ()
    """Of SOURCES: documents, pages and sentences."""
    trace: dict[str, Any] | None = None
    """Of TRACE."""
    error: dict[str, str] | None = None
    """Of ERROR: its `code` and `message`."""


class ChatInfo(Wire):
    """A chat, without its messages."""

    chat_id: str
    title: str
    domain: str
    """Of its newest message."""
    created_at: Time
    updated_at: Time


class ChatList(Wire):
    """Chats, the one last written to first."""

    chats: tuple[ChatInfo, ...]
    next: str | None
    """Cursor of the next page; null on the last one."""


class MessageInfo(Wire):
    """One message of a chat."""

    sequence: int
    """Its place in the chat; places count from 0."""
    role: Literal["user", "assistant"]
    kind: Literal["MESSAGE", "ANSWER", "QUESTION", "REPLY"]
    status: Literal["RUNNING", "ASKING", "DONE", "FAILED", "INTERRUPTED", "DROPPED"]
    created_at: Time
    content: str
    content_type: str | None
    domain: str
    generation: int | None
    """Of the store that the sources are from."""
    sources: tuple[dict[str, Any], ...]
    """Quoted as they were, since generations go."""
    question: dict[str, Any] | None
    trace: dict[str, Any] | None
    """Only where it was asked for."""
    introduction: str | None
    """Text that was streamed ahead of the content."""
    error: dict[str, str] | None
    """Of FAILED: its `code` and `message`."""


class PendingQuestion(Wire):
    """A question that waits for its answer."""

    question: dict[str, Any]
    expires_at: Time | None
    """Until then it can be answered."""


class Chat(ChatInfo):
    """A chat with messages in their order."""

    messages: tuple[MessageInfo, ...]
    next: int | None
    """As `after`: the messages behind these; null when there are none."""
    previous: int | None
    """As `before`: the messages ahead of these; null when there are none."""
    pending_question: PendingQuestion | None


class ChatTitle(Wire):
    """What a chat is to be called."""

    title: Annotated[
        str,
        StringConstraints(max_length=200),
        Field(json_schema_extra=_NOT_BLANK),
    ]


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    """For programs."""
    instance: str
    errors: tuple[dict[str, str], ...] = ()
    """With INVALID_REQUEST: each wrong `field` with its `message`."""


class DomainInfo(Wire):
    """A domain and its newest generation."""

    name: str
    generation: int
    languages: tuple[str, ...]


class Domains(Wire):
    """The domains that have a published generation."""

    domains: tuple[DomainInfo, ...]


class PageSentence(Wire):
    """A sentence of a page."""

    sentence_number: int
    text: str


class Page(Wire):
    """A page with all its sentences in their order."""

    domain: str
    generation: int
    document_id: str
    document_name: str
    document_url: str | None
    page: int
    summary: str | None
    sentences: tuple[PageSentence, ...]


class EntityInfo(Wire):
    """A name with all its forms."""

    entity_id: str
    name: str
    label: str
    aliases: tuple[str, ...]
    mention_count: int
    document_count: int


class Entities(Wire):
    """The entities that a text names."""

    entities: tuple[EntityInfo, ...]
