"""The chat pipeline: from a request to the events of its answer, or to a question to the user."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from serving.answering import AnswerTask
from serving.budget import fit_context, fit_history
from serving.contexts import WHOLE_REQUEST, Contribution, OpenQuestion, contributing_tools
from serving.events import EventChannel
from serving.explicit import given_parameters
from serving.orchestrator import AbstractOrchestratorTool, DefaultOrchestrator
from serving.phrases import LANGUAGES
from serving.progress import TurnProgress
from serving.prompt import Supplement, number_sources
from serving.recording import FinalText, Transcript, TurnRecorder
from serving.running import ToolRunner
from serving.scope import OrchestratorScope
from serving.scoping import scoped
from serving.state.records import Answer
from serving.trace import Trace, tracing
from serving.turns import ChatServices, Turn
from toolkit.emitter import LLM_GENERATION
from toolkit.errors import PluginLoadError, UnknownToolError
from toolkit.execution import run_tool_method
from toolkit.kinds import ClarifiableTool, OrchestratorTool
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.tool import ChatbotTool, ToolCall

logger = logging.getLogger(__name__)

Outcome = tuple[ChatbotTool[Any], ToolExecutionResult]


class ChatRun:
    """One turn on its way; made for it and thrown away with it."""

    def __init__(
        self, services: ChatServices, turn: Turn, channel: EventChannel, recorder: TurnRecorder
    ) -> None:
        self._services = services
        self._turn = turn
        self._channel = channel
        self._recorder = recorder
        domain, systems = turn.request.domain, turn.request.systems
        self._routed = services.registry.routed(domain, systems)
        self._orchestrated = services.registry.orchestrated(domain, systems)
        self._trace = turn.progress.trace if turn.progress else Trace()
        self._trace.generation = turn.knowledge.generation
        step_tools = (*self._routed, *self._orchestrated)
        self._runner = ToolRunner(
            services.limits, services.executor, self._trace, step_tools, services.metrics.tool_ended
        )
        self._final_text = FinalText(self._trace)
        self._transcript = Transcript(channel)

    @property
    def so_far(self) -> Answer:
        """What has been said, with the trace: for a turn that breaks off."""
        generation = self._turn.knowledge.generation
        return Answer(self._transcript.text, generation=generation, trace=self._trace.to_wire())

    async def run(self, *, with_trace: bool) -> None:
        """Send the events between CHAT and DONE."""
        with tracing(self._trace), scoped(self._turn.knowledge, self._turn.request.systems):
            await self._run()
        if with_trace:
            await self._channel.send("TRACE", {"trace": self._trace.to_wire()})

    async def _run(self) -> None:
        self._progress = self._turn.progress or await self._analyse()
        self._runner.step_contributors.update(dict.fromkeys(self._progress.step_contributors))
        settled = self._progress.settled
        call = ToolCall(
            user_prompt=self._progress.question,
            domain=self._turn.request.domain,
            systems=self._turn.request.systems,
            user_lang=LANGUAGES[settled.language],
            important_words=settled.important_words,
            user_data=self._turn.user.data,
            emitter=self._transcript,
            final_callback=self._final_text,
        )
        decisive = await self._gather(call)
        if decisive is None:
            await self._answer()
        elif decisive.mode is ResultMode.NEEDS_CLARIFICATION:
            await self._ask()
        else:
            await self._deliver(decisive)

    async def _analyse(self) -> TurnProgress:
        """What is known of the question before any tool runs."""
        request, judge = self._turn.request, self._services.judge
        await self._channel.send("QUESTION_ANALYSIS")
        question = await judge.in_context(request.message, self._turn.history, request.language)
        settled = await judge.settle(question, request.language)
        self._trace.question = question
        self._trace.language = settled.language
        self._trace.important_words = settled.important_words
        return TurnProgress(question, settled, self._trace)

    async def _gather(self, call: ToolCall) -> ToolExecutionResult | None:
        """Run the tools, or go on with the one that asked; the result that ends the work, if there is one."""
        tool = self._turn.tool
        if self._progress.named_question is not None or (tool is not None and self._turn.progress is None):
            outcome = await self._run_named(call)
            if outcome is not None:
                return self._take_in([outcome])
        elif self._turn.progress is None:
            decisive = await self._run_routed(call)
            if decisive is not None:
                return decisive
        return await self._orchestrate(call)

    async def _run_named(self, call: ToolCall) -> Outcome | None:
        """The tool that the request names, or that tool with the user's answer."""
        asked, self._progress.named_question = self._progress.named_question, None
        tool = self._turn.tool
        if asked is not None:
            with contextlib.suppress(UnknownToolError):
                tool = self._services.registry.get(asked.tool_name)
        if tool is None:
            self._trace.note("the tool that asked is no longer there")
            return None
        parameters = self._turn.tool_parameters
        given = contextlib.nullcontext() if parameters is None else given_parameters(tool.name, parameters)
        with given:
            if asked is None:
                result = await self._runner.run(tool, call)
            else:
                result = await self._runner.resume(tool, asked.answered(self._turn.reply or ""), call)
        if result is None:
            self._trace.note(f"{tool.name} was named in the request but had nothing to say")
            return None
        return tool, result

    async def _run_routed(self, call: ToolCall) -> ToolExecutionResult | None:
        """The routed tools that the question needs, in parallel."""
        tools = [tool for tool in self._routed if await self._runner.is_eligible(tool, call.user_data)]
        if not tools:
            return None
        await self._channel.send("TOOL_ROUTING")
        settled = self._progress.settled
        names = await self._services.judge.needed_tools(call.user_prompt, tools, settled)
        needed = sorted((tool for tool in tools if tool.name in set(names)), key=lambda tool: tool.name)
        for tool in tools:
            if tool not in needed:
                self._trace.skipped(tool.name, "not needed for the question", task=None)
        results = await asyncio.gather(*(self._runner.run(tool, call) for tool in needed))
        pairs = zip(needed, results, strict=True)
        return self._take_in([(tool, result) for tool, result in pairs if result is not None])

    def _take_in(self, results: Sequence[Outcome]) -> ToolExecutionResult | None:
        """Keep the contexts; ANSWERED goes before ANSWER before a question, ties by the order given."""
        for mode in (ResultMode.ANSWERED, ResultMode.ANSWER):
            for tool, result in results:
                if result.mode is mode:
                    self._trace.answered_by = tool.name
                    for other, _ in results:
                        if other is not tool:
                            self._trace.note(f"{other.name}: dropped, since {tool.name} answered")
                    return result
        for tool, result in results:
            if result.mode is ResultMode.CONTEXT:
                prompt = self._progress.question
                self._progress.contributions.append(
                    Contribution(tool.name, prompt, result.documents, None, result.counts_as_guaranteed)
                )
            elif isinstance(tool, ClarifiableTool) and result.question is not None:
                self._progress.named_question = OpenQuestion(
                    WHOLE_REQUEST, tool.name, result.question, result.partial_json or "{}"
                )
                return result
            else:
                self._trace.note(f"{tool.name} asked a question, which it may not; it counts as None")
        return None

    async def _orchestrate(self, call: ToolCall) -> ToolExecutionResult | None:
        """Run the one orchestrator of the request."""
        services, buffer = self._services, self._progress.buffer
        orchestrator = self._new_orchestrator()
        self._trace.orchestrator = orchestrator.name
        if isinstance(orchestrator, AbstractOrchestratorTool):
            buffer.guaranteed_queries |= {
                each.prompt for each in self._progress.contributions if each.guaranteed
            }
            orchestrator.begin(self._scope(), buffer)
        try:
            result = await run_tool_method(orchestrator.execute_with_result, call, executor=services.executor)
        except Exception as error:
            logger.exception("orchestrator %s failed", orchestrator.name)
            self._trace.note(f"{orchestrator.name} failed: {type(error).__name__}: {error}")
            return None
        if result is None or result.mode is ResultMode.CONTEXT:
            if result is not None and not isinstance(orchestrator, AbstractOrchestratorTool):
                self._take_in([(orchestrator, result)])
            return None
        if result.mode is ResultMode.NEEDS_CLARIFICATION:
            return result if self._progress.open_question else self._take_in([(orchestrator, result)])
        self._trace.answered_by = result.tool_name
        return result

    def _scope(self) -> OrchestratorScope:
        services = self._services
        return OrchestratorScope(
            self._orchestrated,
            services.judge,
            self._progress.settled,
            self._runner,
            self._trace,
            services.limits.hops,
            self._turn.reply,
            self._keep_progress,
        )

    async def _keep_progress(self) -> None:
        """Only where the user has answered a question: other turns begin anew when they break off."""
        if self._turn.progress is not None:
            await self._recorder.checkpoint(self._progress)

    def _new_orchestrator(self) -> OrchestratorTool[Any]:
        request = self._turn.request
        try:
            chosen = self._services.registry.orchestrator(request.domain, request.systems)
        except PluginLoadError as error:
            logger.error("the default orchestrator runs instead: %s", error)
            self._trace.note(f"the default orchestrator ran instead: {error}")
            chosen = None
        return chosen or DefaultOrchestrator()

    async def _ask(self) -> None:
        """Keep the work and put the question."""
        self._progress.step_contributors = list(self._runner.step_contributors)
        asked = self._progress.open_question
        assert asked is not None
        await self._recorder.ask(self._progress)
        await self._channel.send("INTERACTIVE_QUESTION", {"question": asked.question.to_wire()})

    async def _deliver(self, result: ToolExecutionResult) -> None:
        """Send a tool's own answer; what it sent by itself is kept."""
        if result.mode is ResultMode.ANSWER:
            fields = {"content": result.answer_text, "contentType": result.content_type}
            await self._channel.send("ANSWER", fields)
            introduction = self._transcript.text or None
            answer = Answer(result.answer_text, content_type=result.content_type, introduction=introduction)
        else:
            answer = Answer(self._final_text.text or self._transcript.text)
        await self._finish(answer)

    async def _answer(self) -> None:
        """Make the answer from what was gathered."""
        services, progress = self._services, self._progress
        contributions = [*progress.contributions, *progress.buffer.contributions]
        context = fit_context(contributions, services.limits.context_tokens)
        self._trace.kept(len(context.documents))
        self._trace.dropped(context.dropped, "no room in the context")
        sources = number_sources(context.documents)
        task = AnswerTask(
            progress.question,
            progress.settled,
            sources,
            self._supplements(contributions),
            frozenset(source.number for source in sources if source.document in context.vouched),
            domain_prompt=await self._domain_prompt(),
            history=fit_history(self._turn.history, services.limits.history_tokens),
        )

        async def say(piece: str) -> None:
            self._transcript.add(piece)
            await self._channel.send(LLM_GENERATION, {"content": piece})

        await self._channel.send("ANSWER_GENERATION")
        cited = await services.answerer.answer(task, say, self._trace)
        wire = [source.to_wire() for source in cited]
        await self._channel.send("SOURCES", {"sources": wire})
        await self._finish(Answer(self._transcript.text, sources=wire))

    async def _finish(self, answer: Answer) -> None:
        trace = self._trace.to_wire()
        generation = self._turn.knowledge.generation
        await self._recorder.finish(replace(answer, generation=generation, trace=trace))

    async def _domain_prompt(self) -> str:
        services = self._services
        domain, language = self._turn.request.domain, self._progress.settled.language
        of_domain = services.domain_prompts.of
        return await run_tool_method(of_domain, domain, language, executor=services.executor)

    def _supplements(self, contributions: Sequence[Contribution]) -> list[Supplement]:
        named = [self._turn.tool] if self._turn.tool else []
        known = {
            tool.name: tool.system_prompt_supplement for tool in (*self._routed, *self._orchestrated, *named)
        }
        names = dict.fromkeys([*contributing_tools(contributions), *self._runner.step_contributors])
        return [Supplement(name, text) for name in names if (text := known.get(name))]
