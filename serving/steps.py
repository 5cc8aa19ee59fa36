"""Running the steps of an agent coordinator: children before their parent, siblings at once."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from toolkit.activation import ToolKind, kind_of
from toolkit.contexts import PromptAndContext, ToolContexts, completion_key, freeze_contexts
from toolkit.coordination import AgentCoordinator, AgentStep, checked_steps
from toolkit.documents import UniqueTextDocument, merge_documents
from toolkit.emitter import LLM_GENERATION, SEGMENT_BREAK, ProgressEmitter, ProgressEvent
from toolkit.errors import StepTreeError, shown
from toolkit.results import ResultMode, ToolExecutionResult
from toolkit.tool import ToolCall

if TYPE_CHECKING:
    from serving.running import ToolRunner

_DELIVERED = (ResultMode.ANSWER, ResultMode.ANSWERED)


async def run_steps(
    runner: ToolRunner,
    coordinator: AgentCoordinator[Any],
    call: ToolCall,
    contexts: ToolContexts,
    task: int | None,
) -> ToolExecutionResult | None:
    """Decompose and run the tree. The result has the documents of all steps, the root's first.

    What the root answers by itself is the answer. A step that fails counts as one that found nothing.
    Raises StepTreeError before anything runs when the tree cannot be run, and what `decompose` raises.
    """
    root = await runner.call(coordinator.decompose, call, contexts)
    if root is None:
        return None
    if not isinstance(root, AgentStep):
        raise StepTreeError(f"decompose returned {shown(root)} instead of an AgentStep or None")
    checked_steps(root, runner.step_tools.keys())
    run = _TreeRun(runner, coordinator.name, call, contexts, task)
    done = await run.step(root, call)
    result, documents = done.result, merge_documents(*done.groups())
    if result is not None and result.mode in _DELIVERED:
        return replace(result, tool_name=coordinator.name)
    if not documents:
        return None
    guaranteed = result is not None and result.guaranteed
    make = ToolExecutionResult.as_guaranteed_context if guaranteed else ToolExecutionResult.as_context
    return make(coordinator.name, documents)


@dataclass(frozen=True, slots=True)
class _Done:
    """A step that has run, with those below it."""

    step: AgentStep
    result: ToolExecutionResult | None
    below: Sequence[_Done]

    def groups(self) -> list[Sequence[UniqueTextDocument]]:
        """Documents of the step and of those below it, in this order."""
        own: Sequence[UniqueTextDocument] = self.result.documents if self.result else ()
        return [own, *(group for child in self.below for group in child.groups())]


@dataclass(frozen=True, slots=True)
class _TreeRun:
    runner: ToolRunner
    coordinator: str
    call: ToolCall
    contexts: ToolContexts
    """What the coordinator itself was handed."""
    task: int | None

    async def step(self, step: AgentStep, call: ToolCall) -> _Done:
        quiet = replace(self.call, emitter=_progress_of(self.call.emitter), final_callback=None)
        below = await asyncio.gather(*(self.step(child, quiet) for child in step.children))
        tool = self.runner.step_tools[step.tool_name]
        if kind_of(tool) is ToolKind.ROUTED and not await self.runner.is_eligible(
            tool, call.user_data, self.task
        ):
            return _Done(step, None, below)
        required = _contexts(below)
        result = await self.runner.run(
            tool,
            replace(call, user_prompt=step.prompt),
            prior=self._prior(required),
            required=freeze_contexts(required),
            task=self.task,
            started_by=self.coordinator,
        )
        return _Done(step, self._usable(result, is_root=call is self.call), below)

    def _prior(self, of_children: Mapping[str, Sequence[PromptAndContext]]) -> ToolContexts:
        """What was there before the coordinator, and what the children found."""
        all_contexts = {key: list(values) for key, values in self.contexts.items()}
        for name, values in of_children.items():
            all_contexts.setdefault(completion_key(self.task or 1, name), []).extend(values)
        return freeze_contexts(all_contexts)

    def _usable(self, result: ToolExecutionResult | None, *, is_root: bool) -> ToolExecutionResult | None:
        """A step cannot ask, and none but the root can have delivered."""
        if result is None or result.mode is ResultMode.CONTEXT:
            return result
        if result.mode is ResultMode.ANSWER or (is_root and result.mode is ResultMode.ANSWERED):
            return result
        self.runner.trace.note(
            f"{result.tool_name}: as a step of {self.coordinator} it gave {result.mode.value}, "
            "which counts as nothing found"
        )
        return None


def _contexts(done: Sequence[_Done]) -> dict[str, list[PromptAndContext]]:
    contexts: dict[str, list[PromptAndContext]] = defaultdict(list)
    for each in done:
        if each.result is not None and each.result.documents:
            contexts[each.step.tool_name].append(PromptAndContext(each.step.prompt, each.result.documents))
    return contexts


class _ProgressOnly:
    """Lets through what is no text of the answer."""

    def __init__(self, emitter: ProgressEmitter) -> None:
        self._emitter = emitter

    def next(self, event: ProgressEvent) -> None:
        if event.progress_status not in (LLM_GENERATION, SEGMENT_BREAK):
            self._emitter.next(event)


def _progress_of(emitter: ProgressEmitter | None) -> ProgressEmitter | None:
    return None if emitter is None else _ProgressOnly(emitter)
