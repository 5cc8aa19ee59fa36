"""From the user's answer to the turn that goes on with it."""

from __future__ import annotations

import asyncio
import time

from serving.conversation import HISTORY_MESSAGES
from serving.errors import ApiError, shortened
from serving.identity import User
from serving.platform import Platform
from serving.progress import TurnProgress
from serving.state.errors import still_working
from serving.state.questions import PendingQuestion
from serving.state.records import ResumedTurn
from serving.state.state import State
from serving.turns import Turn, open_domain
from serving.wire import ChatRequest, ClarifyRequest
from toolkit.clarification import ClarifyingQuestion

LOOK_SECONDS = 0.1
"""How often it is looked whether the work in a chat has ended."""


async def resume_turn(platform: Platform, request: ClarifyRequest, user: User) -> tuple[ResumedTurn, Turn]:
    """Check an answer and take its question; while work goes on in the chat the answer waits.

    Raises ApiError; the question is then pending as before.
    """
    state = await platform.state.opened()
    deadline = time.monotonic() + platform.settings.limits.answer_wait_seconds
    while True:
        pending = await _waiting_question(state, request.chat_id, user, deadline)
        _check_answer(pending.question, request.answer)
        asked = ChatRequest.model_validate(pending.request, by_name=True)
        knowledge = await open_domain(platform.chat.knowledge, asked.domain, platform.chat.executor)
        resumed = await state.questions.claim(user.name, request.chat_id, request.answer)
        if resumed is not None:
            break
    began = await state.history.first_place(resumed.turn_id)
    history = await state.history.before(resumed.chat_id, began, HISTORY_MESSAGES)
    if request.trace:
        asked = asked.model_copy(update={"trace": True})
    return resumed, Turn(
        asked,
        user,
        knowledge,
        tool=None,
        tool_parameters=None,
        history=tuple(history),
        progress=TurnProgress.of_json(resumed.progress),
        reply=request.answer,
    )


async def _waiting_question(state: State, chat_id: str, user: User, deadline: float) -> PendingQuestion:
    while (pending := await state.questions.pending(user.name, chat_id)) is None:
        if time.monotonic() >= deadline:
            raise still_working(chat_id)
        await asyncio.sleep(LOOK_SECONDS)
    return pending


def _check_answer(asked: ClarifyingQuestion, answer: str) -> None:
    if not answer.strip():
        raise ApiError(422, "EMPTY_ANSWER", "The answer is empty; write one into `answer`.")
    if not asked.accepts(answer):
        options = ", ".join(repr(option) for option in asked.options)
        detail = f"{shortened(answer)!r} is none of the options; valid are: {options}."
        raise ApiError(422, "INVALID_OPTION", detail)
