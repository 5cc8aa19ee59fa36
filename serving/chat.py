"""The chat pipeline: from a request to the events of its answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import Any

from serving.answering import AnswerTask
from serving.budget import fit_context
from serving.contexts import ContextBuffer, Contribution, contributing_tools
from serving.events import EventChannel
from serving.explicit import given_parameters
from serving.orchestrator import AbstractOrchestratorTool, DefaultOrchestrator, OrchestratorScope
from serving.phrases import LANGUAGES
from serving.prompt import Supplement, number_sources
from serving.running import ToolRunner
from serving.scoping import scoped
from serving.trace import Trace, tracing
from serving.turns import ChatServices, Turn
from toolkit.emitter import LLM_GENERATION
from toolkit.errors import PluginLoadError
from toolkit.execution import run_tool_method
from toolkit.kinds import OrchestratorTool
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.tool import ChatbotTool, ToolCall

logger = logging.getLogger(__name__)


class FinalText:
    """The callback of tools that deliver by themselves: keeps the whole text."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self.texts: list[str] = []

    def on_success(self, tool_name: str, response: str) -> None:
        """Keep what the tool delivered."""
        self.texts.append(response)

    def on_error(self, error: BaseException) -> None:
        """Trace that the delivery failed."""
        self._trace.note(f"a tool's delivery failed: {type(error).__name__}: {error}")


class ChatRun:
    """One turn on its way; made for it and thrown away with it."""

    def __init__(self, services: ChatServices, turn: Turn, channel: EventChannel) -> None:
        self._services = services
        self._turn = turn
        self._channel = channel
        self._trace = Trace(generation=turn.knowledge.generation)
        domain, systems = turn.request.domain, turn.request.systems
        self._routed = services.registry.routed(domain, systems)
        self._orchestrated = services.registry.orchestrated(domain, systems)
        step_tools = (*self._routed, *self._orchestrated)
        self._runner = ToolRunner(services.limits, services.executor, self._trace, step_tools)
        self._final_text = FinalText(self._trace)
        self._contributions: list[Contribution] = []

    async def run(self, *, with_trace: bool) -> None:
        """Send the events between CHAT and DONE."""
        with tracing(self._trace), scoped(self._turn.knowledge, self._turn.request.systems):
            await self._run()
        if with_trace:
            await self._channel.send("TRACE", {"trace": self._trace.to_wire()})

    async def _run(self) -> None:
        request = self._turn.request
        await self._channel.send("QUESTION_ANALYSIS")
        self._settled = await self._services.judge.settle(request.message, request.language)
        self._trace.language = self._settled.language
        self._trace.important_words = self._settled.important_words
        call = ToolCall(
            user_prompt=request.message,
            domain=request.domain,
            systems=request.systems,
            user_lang=LANGUAGES[self._settled.language],
            important_words=self._settled.important_words,
            emitter=self._channel,
            final_callback=self._final_text,
        )
        decisive = await self._gather(call)
        if decisive is None:
            await self._answer()
        else:
            await self._deliver(decisive)

    async def _gather(self, call: ToolCall) -> ToolExecutionResult | None:
        """Run the tools; the result that answers by itself, if there is one."""
        tool = self._turn.tool
        if tool is not None:
            result = await self._run_named(tool, call)
            if result is not None:
                return self._take_in([(tool, result)])
            self._trace.note(f"{tool.name} was named in the request but had nothing to say")
        else:
            decisive = await self._run_routed(call)
            if decisive is not None:
                return decisive
        return await self._orchestrate(call)

    async def _run_named(self, tool: ChatbotTool[Any], call: ToolCall) -> ToolExecutionResult | None:
        parameters = self._turn.tool_parameters
        given = contextlib.nullcontext() if parameters is None else given_parameters(tool.name, parameters)
        with given:
            return await self._runner.run(tool, call)

    async def _run_routed(self, call: ToolCall) -> ToolExecutionResult | None:
        """The routed tools that the question needs, in parallel."""
        request = self._turn.request
        tools = [tool for tool in self._routed if await self._runner.is_eligible(tool, call.user_data)]
        if not tools:
            return None
        await self._channel.send("TOOL_ROUTING")
        names = await self._services.judge.needed_tools(request.message, tools, self._settled)
        needed = sorted((tool for tool in tools if tool.name in set(names)), key=lambda tool: tool.name)
        for tool in tools:
            if tool not in needed:
                self._trace.skipped(tool.name, "not needed for the question", task=None)
        results = await asyncio.gather(*(self._runner.run(tool, call) for tool in needed))
        pairs = zip(needed, results, strict=True)
        return self._take_in([(tool, result) for tool, result in pairs if result is not None])

    def _take_in(
        self, results: Sequence[tuple[ChatbotTool[Any], ToolExecutionResult]]
    ) -> ToolExecutionResult | None:
        """Keep the contexts; ANSWERED goes before ANSWER, ties by the order given."""
        for mode in (ResultMode.ANSWERED, ResultMode.ANSWER):
            for tool, result in results:
                if result.mode is mode:
                    self._trace.answered_by = tool.name
                    return result
        for tool, result in results:
            if result.mode is ResultMode.CONTEXT:
                self._contributions.append(
                    Contribution(
                        tool.name, self._turn.request.message, result.documents, None, result.guaranteed
                    )
                )
            else:
                self._trace.note(
                    f"{tool.name} asked a question, which a routed tool may not; it counts as None"
                )
        return None

    async def _orchestrate(self, call: ToolCall) -> ToolExecutionResult | None:
        """Run the one orchestrator of the request."""
        services = self._services
        orchestrator = self._new_orchestrator()
        self._trace.orchestrator = orchestrator.name
        if isinstance(orchestrator, AbstractOrchestratorTool):
            scope = OrchestratorScope(
                self._orchestrated,
                services.judge,
                self._settled,
                self._runner,
                self._trace,
                services.limits.hops,
            )
            orchestrator.begin(scope, ContextBuffer(guaranteed_queries=self._guaranteed_queries()))
        try:
            result = await run_tool_method(orchestrator.execute_with_result, call, executor=services.executor)
        except Exception as error:
            logger.exception("orchestrator %s failed", orchestrator.name)
            self._trace.note(f"{orchestrator.name} failed: {type(error).__name__}: {error}")
            result = None
        if result is not None and result.mode in (ResultMode.ANSWER, ResultMode.ANSWERED):
            self._trace.answered_by = result.tool_name
            return result
        if isinstance(orchestrator, AbstractOrchestratorTool):
            self._contributions.extend(orchestrator.buffer.contributions)
        elif result is not None:
            self._take_in([(orchestrator, result)])
        return None

    def _guaranteed_queries(self) -> set[str]:
        """The question itself, where a routed tool vouches for its context."""
        return {entry.prompt for entry in self._contributions if entry.is_guaranteed}

    def _new_orchestrator(self) -> OrchestratorTool[Any]:
        request = self._turn.request
        try:
            chosen = self._services.registry.orchestrator(request.domain, request.systems)
        except PluginLoadError as error:
            logger.error("the default orchestrator runs instead: %s", error)
            self._trace.note(f"the default orchestrator ran instead: {error}")
            chosen = None
        return chosen or DefaultOrchestrator()

    async def _deliver(self, result: ToolExecutionResult) -> None:
        """Send a tool's own answer."""
        if result.mode is ResultMode.ANSWER:
            fields = {"content": result.answer_text, "contentType": result.content_type}
            await self._channel.send("ANSWER", fields)

    async def _answer(self) -> None:
        """Make the answer from what was gathered."""
        services = self._services
        context = fit_context(self._contributions, services.limits.context_tokens)
        self._trace.kept(len(context.documents))
        self._trace.dropped(context.dropped, "no room in the context")
        sources = number_sources(context.documents)
        task = AnswerTask(
            self._turn.request.message,
            self._settled,
            sources,
            self._supplements(),
            frozenset(source.number for source in sources if source.document in context.vouched),
            domain_prompt=await self._domain_prompt(),
        )

        async def say(piece: str) -> None:
            await self._channel.send(LLM_GENERATION, {"content": piece})

        await self._channel.send("ANSWER_GENERATION")
        cited = await services.answerer.answer(task, say, self._trace)
        await self._channel.send("SOURCES", {"sources": [source.to_wire() for source in cited]})

    async def _domain_prompt(self) -> str:
        services = self._services
        of_domain = services.domain_prompts.of
        domain, language = self._turn.request.domain, self._settled.language
        return await run_tool_method(of_domain, domain, language, executor=services.executor)

    def _supplements(self) -> list[Supplement]:
        named = [self._turn.tool] if self._turn.tool else []
        known = {
            tool.name: tool.system_prompt_supplement for tool in (*self._routed, *self._orchestrated, *named)
        }
        names = dict.fromkeys([*contributing_tools(self._contributions), *self._runner.step_contributors])
        return [Supplement(name, text) for name in names if (text := known.get(name))]
