"""The history: chats with their messages, down to the sentences that an answer rested on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any
from unicodedata import category

from fastapi import APIRouter, Path, Query, Request, Response

from serving.errors import ApiError
from serving.identity import user_of
from serving.paging import CursorQuery, cursor_of, place_of
from serving.platform import platform_of
from serving.routes.declared import BODY_PROBLEMS, problems
from serving.state.history import History
from serving.wire import Chat, ChatId, ChatInfo, ChatList, ChatTitle, MessageInfo, PendingQuestion

router = APIRouter(prefix="/api/chatbot/chats", tags=["history"])

Id = Annotated[ChatId, Path(description="As the event CHAT gave it.")]
Limit = Annotated[int, Query(ge=1, le=100, description="Longest page.")]
_LAST = 2**31 - 1
"""Behind every place in a chat."""
_WRONG_TITLE = "EMPTY_TITLE: nobody could see it. INVALID_REQUEST: it is missing or too long."
_UNKNOWN = {404: "UNKNOWN_CHAT: the user has no such chat."}


@router.get("", responses=problems({}))
async def list_chats(
    request: Request,
    limit: Limit = 20,
    cursor: CursorQuery = None,
) -> ChatList:
    """The user's chats, the one last written to first."""
    before = place_of(cursor)
    history = await _history(request)
    rows = await history.chats(user_of(request).name, limit + 1, before)
    last = rows[limit - 1] if len(rows) > limit else None
    return ChatList(
        chats=tuple(ChatInfo(**_chat(row)) for row in rows[:limit]),
        next=cursor_of(last["updated_at"], last["chat_id"]) if last else None,
    )


@router.get("/{chat_id}", responses=problems(_UNKNOWN))
async def get_chat(
    request: Request,
    chat_id: Id,
    limit: Limit = 50,
    after: Annotated[int, Query(ge=-1, le=_LAST, description="Place behind which to begin.")] = -1,
    before: Annotated[
        int | None,
        Query(ge=0, le=_LAST, description=f"Place ahead of which to end; the newest messages: {_LAST}."),
    ] = None,
    trace: Annotated[bool, Query(description="With the traces.")] = False,
) -> Chat:
    """A chat with its messages, questions of tools and their answers among them."""
    history = await _history(request)
    found = await history.opened(user_of(request).name, chat_id, limit, after, before)
    places = [row["sequence"] for row in found.messages]
    pending = found.pending and {
        "question": found.pending.question,
        "expires_at": found.pending.expires_at and _iso(found.pending.expires_at),
    }
    return Chat(
        **_chat(found.chat),
        messages=tuple(_message(row, with_trace=trace) for row in found.messages),
        next=places[-1] if places and places[-1] < found.chat["next_sequence"] - 1 else None,
        previous=places[0] if places and places[0] > 0 else None,
        pending_question=pending and PendingQuestion(**pending),
    )


@router.patch("/{chat_id}", responses=problems({**BODY_PROBLEMS, **_UNKNOWN, 422: _WRONG_TITLE}))
async def rename_chat(request: Request, chat_id: Id, body: ChatTitle) -> ChatInfo:
    """Give a chat another title: one line, control characters left out."""
    history = await _history(request)
    return ChatInfo(**_chat(await history.rename(user_of(request).name, chat_id, _title(body.title))))


@router.delete("/{chat_id}", status_code=204, responses=problems(_UNKNOWN))
async def delete_chat(request: Request, chat_id: Id) -> Response:
    """Delete a chat with all that belongs to it, for good; a question that is pending in it is gone too."""
    history = await _history(request)
    await history.delete(user_of(request).name, chat_id)
    return Response(status_code=204)


@router.delete("", status_code=204, responses=problems({}))
async def delete_chats(request: Request) -> Response:
    """Delete all chats of the user, for good."""
    history = await _history(request)
    await history.delete_all(user_of(request).name)
    return Response(status_code=204)


async def _history(request: Request) -> History:
    return (await platform_of(request).state.opened()).history


def _title(text: str) -> str:
    """Raises ApiError (422) when nobody could see it."""
    title = " ".join("".join(" " if category(letter) == "Cc" else letter for letter in text).split())
    if not any(letter.isprintable() for letter in title):
        raise ApiError(422, "EMPTY_TITLE", "A title needs at least one visible character.")
    return title


def _chat(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "chat_id": row["chat_id"],
        "title": row["title"],
        "domain": row["domain"],
        "created_at": _iso(row["created_at"]),
        "updated_at": _iso(row["updated_at"]),
    }


def _message(row: Mapping[str, Any], *, with_trace: bool) -> MessageInfo:
    same = (
        "sequence",
        "role",
        "kind",
        "status",
        "content",
        "content_type",
        "domain",
        "generation",
        "question",
        "introduction",
        "error",
    )
    return MessageInfo(
        **{name: row[name] for name in same},
        created_at=_iso(row["created_at"]),
        sources=tuple(row["sources"] or ()),
        trace=row["trace"] if with_trace else None,
    )


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
