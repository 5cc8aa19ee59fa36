"""What can be wrong with a request about a chat, each with its code."""

from __future__ import annotations

from serving.errors import ApiError, shortened


def unknown_chat(chat_id: str) -> ApiError:
    """Also for a chat of somebody else: that it exists is not told."""
    return ApiError(404, "UNKNOWN_CHAT", f"There is no chat {shortened(chat_id)!r}.")


def no_pending_question(chat_id: str) -> ApiError:
    """Nothing waits for an answer."""
    detail = f"No question is pending in chat {shortened(chat_id)!r}; send a message instead."
    return ApiError(409, "NO_PENDING_QUESTION", detail)


def already_answered(chat_id: str) -> ApiError:
    """The question was answered a moment ago."""
    detail = f"The question in chat {shortened(chat_id)!r} has been answered already."
    return ApiError(409, "QUESTION_ALREADY_ANSWERED", detail)


def still_working(chat_id: str) -> ApiError:
    """The answer waited for the work in its chat, for too long."""
    detail = f"The work in chat {shortened(chat_id)!r} still goes on; send the answer again later."
    return ApiError(409, "STILL_WORKING", detail)


def question_expired(chat_id: str) -> ApiError:
    """The answer came too late."""
    detail = f"The question in chat {shortened(chat_id)!r} has expired; ask your question again."
    return ApiError(410, "QUESTION_EXPIRED", detail)
