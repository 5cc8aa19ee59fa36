"""A tool that splits its task into steps for other tools, and the tree of those steps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Collection, Iterator, Sequence
from dataclasses import dataclass

from toolkit.contexts import ToolContexts
from toolkit.errors import StepTreeError, shown
from toolkit.tool import ChatbotTool, Request, ToolCall, ToolOutcome

MAX_STEP_DEPTH = 8
"""Default bound on the longest way from the root to a leaf, both counted."""
MAX_STEPS = 64
"""Default bound on the number of steps of a tree."""


@dataclass(frozen=True, slots=True, eq=False)
class AgentStep:
    """One prompt for exactly one tool."""

    prompt: str
    tool_name: str
    children: Sequence[AgentStep] = ()
    """Run before this step, in parallel; their contexts are handed to it."""


class AgentCoordinator(ChatbotTool[Request]):
    """Decides at run time which tools its task needs. Its steps are run in its stead."""

    @abstractmethod
    def decompose(
        self, call: ToolCall, contexts: ToolContexts
    ) -> AgentStep | Awaitable[AgentStep | None] | None:
        """The root of the tree of steps, whose result is the tool's; None: not for this tool.

        `contexts` has what was found so far, by `"<taskNo>:<toolName>"`.
        """

    def execute_with_result(self, call: ToolCall) -> ToolOutcome:
        """Always raises NotImplementedError: the platform runs the steps of `decompose`."""
        raise NotImplementedError(f"tool {self.name!r} coordinates other tools: run the steps of decompose")


def checked_steps(
    root: AgentStep,
    tool_names: Collection[str],
    max_depth: int = MAX_STEP_DEPTH,
    max_steps: int = MAX_STEPS,
) -> tuple[AgentStep, ...]:
    """All steps of a tree in the order in which they may run: children before their parent.

    Raises StepTreeError when a step is its own ancestor or stands twice, a tool is not among `tool_names`,
    or the tree is deeper or larger than allowed.
    """
    steps: list[AgentStep] = []
    for step in _children_first(root, (), max_depth):
        if any(step is other for other in steps):
            raise StepTreeError(f"the step for tool {step.tool_name!r} stands twice: {shown(step.prompt)}")
        if step.tool_name not in tool_names:
            raise StepTreeError(
                f"a step names the unknown tool {step.tool_name!r}; valid are {', '.join(sorted(tool_names))}"
            )
        steps.append(step)
        if len(steps) > max_steps:
            raise StepTreeError(f"the tree has more than the {max_steps} steps allowed")
    return tuple(steps)


def _children_first(step: AgentStep, above: tuple[AgentStep, ...], max_depth: int) -> Iterator[AgentStep]:
    if any(step is ancestor for ancestor in above):
        raise StepTreeError(f"the step for tool {step.tool_name!r} is its own ancestor: {shown(step.prompt)}")
    if len(above) >= max_depth:
        raise StepTreeError(f"the tree is deeper than the {max_depth} steps allowed")
    for child in step.children:
        yield from _children_first(child, (*above, step), max_depth)
    yield step
