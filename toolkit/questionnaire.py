"""Tools that ask for what is missing: the author gives the questions, and the work with the whole request."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, cast

from toolkit.clarification import ClarificationSession
from toolkit.contexts import ToolContexts
from toolkit.errors import ToolContractError, ToolParametersError, shown
from toolkit.execution import unblocked
from toolkit.kinds import ClarifiableContextConsumerTool, ClarifiableTool
from toolkit.llm.assistant import LlmAssistant
from toolkit.llm.drawing import draw_request
from toolkit.parameters import validated_parameters
from toolkit.questions import Question
from toolkit.results import ToolExecutionResult
from toolkit.services import Services
from toolkit.tool import ChatbotTool, Request, ToolCall, ToolOutcome


class _AskingTool(ChatbotTool[Request]):
    """What both bases share. The state between two rounds is the partial request alone."""

    questions: Sequence[Question]
    """In the order in which they are asked; set it in the class, or in `init` where options are computed."""
    llm: LlmAssistant

    def init(self, services: Services) -> None:
        """Take the model; call it from an `init` of your own, once `questions` are set.

        Raises ToolContractError for a question whose field the request has not, or cannot do without.
        """
        self.llm = services.llm
        fields = self.request_class.model_fields
        for each in getattr(self, "questions", ()):
            if each.field not in fields or fields[each.field].is_required():
                raise ToolContractError(
                    f"tool {self.name!r} asks for {each.field!r}: make it a field of {self.request_class.__name__} "
                    "that has a default (None, say), so that there is a request without it"
                )

    async def draw(self, call: ToolCall) -> Request | None:
        """The request as the user's question tells it; None: not for this tool. Raises LlmError.

        By default the model draws it; override it where something else does, or nothing is drawn.
        """
        return await draw_request(self.llm, self, call)

    @abstractmethod
    def execute_with_request(self, request: Request, *args: Any, **kwargs: Any) -> ToolOutcome:
        """Do the work."""

    async def _begun(self, call: ToolCall, *contexts: ToolContexts) -> ToolExecutionResult | None:
        request = await self.draw(call)
        return None if request is None else await self._gone_on(request, call, *contexts)

    async def _resumed(
        self, session: ClarificationSession, call: ToolCall, *contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        request = self._read(session.partial_request_json)
        question = self._question(session.pending_question_id)
        answered = await question.answered(request, session.pending_answer, call.user_lang, call, *contexts)
        return await self._gone_on(answered, call, *contexts)

    async def _gone_on(
        self, request: Request, call: ToolCall, *contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        """The next question, or the work."""
        for each in self.questions:
            if not each.is_open(request):
                continue
            request, question = await each.put(request, call.user_lang, call, *contexts)
            if question is not None:
                partial = request.model_dump_json(by_alias=False)
                return ToolExecutionResult.needs_clarification(question, partial, self.name)
        result: ToolExecutionResult | None = await unblocked(
            self.execute_with_request, request, call, *contexts
        )
        return result

    def _read(self, partial_json: str) -> Request:
        try:
            raw = json.loads(partial_json)
            if not isinstance(raw, dict):
                raise ValueError("it is no object")
            return cast(Request, validated_parameters(self.request_class, raw))
        except ValueError as error:
            raise ToolParametersError(
                f"tool {self.name!r} cannot go on: its partial request {shown(partial_json)!r} does not make a "
                f"{self.request_class.__name__} ({error}); hand it back as it was, or ask the question anew"
            ) from error

    def _question(self, question_id: str) -> Question:
        for each in self.questions:
            if each.field == question_id:
                return each
        raise ToolParametersError(
            f"tool {self.name!r} has no question {question_id!r}; "
            f"it has {', '.join(each.field for each in self.questions) or 'none'}"
        )


class AbstractClarifiableTool(_AskingTool[Request], ClarifiableTool[Request]):
    """Draws the request, asks for what is missing in it, and then does its work.

    An answer that fits neither an option nor the field leaves it missing, so it is asked for again. Started or
    resumed, it raises LlmError, ToolParametersError for a partial request or a question id that is not its own,
    and what `execute_with_request` raises.
    """

    @abstractmethod
    def execute_with_request(self, request: Request, call: ToolCall) -> ToolOutcome:
        """Do the work, `async` or plain; what no question was asked about may still be missing."""

    async def execute_with_result(self, call: ToolCall) -> ToolExecutionResult | None:
        return await self._begun(call)

    async def execute_with_clarification(
        self, session: ClarificationSession, call: ToolCall
    ) -> ToolExecutionResult | None:
        return await self._resumed(session, call)


class AbstractClarifiableContextConsumerTool(_AskingTool[Request], ClarifiableContextConsumerTool[Request]):
    """The same with what the tools before it found, which computed options get as well, after the call."""

    @abstractmethod
    def execute_with_request(
        self, request: Request, call: ToolCall, prior_tool_contexts: ToolContexts
    ) -> ToolOutcome:
        """Do the work, `async` or plain; what no question was asked about may still be missing."""

    async def execute_with_prior_context(
        self, call: ToolCall, prior_tool_contexts: ToolContexts
    ) -> ToolExecutionResult | None:
        return await self._begun(call, prior_tool_contexts)

    async def execute_with_clarification_and_prior_context(
        self, session: ClarificationSession, prior_tool_contexts: ToolContexts, call: ToolCall
    ) -> ToolExecutionResult | None:
        return await self._resumed(session, call, prior_tool_contexts)
