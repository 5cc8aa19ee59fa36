"""Making tools of tool classes: construct, check, settle names, initialise, check what they require."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from toolkit.activation import ToolKind, kind_of
from toolkit.checks import contract_faults, contract_warnings, required_faults
from toolkit.discovery import FoundTool, class_path
from toolkit.errors import PluginLoadError, ToolNotLoadedError
from toolkit.kinds import AsyncTaskTool
from toolkit.load_report import LeftOut, LoadedTool, LoadReport, LoadStage
from toolkit.services import Services
from toolkit.tool import ChatbotTool

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Candidate:
    tool: ChatbotTool[Any]
    origin: str
    initialised: bool = False
    running: bool = False
    failure: str | None = None
    uses: list[_Candidate] = field(default_factory=list)
    """The tools that its `init` took."""

    @property
    def path(self) -> str:
        return class_path(type(self.tool))


class ToolLoader:
    """Loads tools once, in the order in which they are given; afterwards it finds tools by class."""

    def __init__(self, services_for: Callable[[ToolLoader, type], Services]) -> None:
        self._services_for = services_for
        self._candidates: list[_Candidate] = []
        self._left_out: list[LeftOut] = []
        self._warnings: list[str] = []

    def load(self, found: Iterable[FoundTool | LeftOut]) -> tuple[ChatbotTool[Any], ...]:
        """The tools that serve, in load order; what became of the others stands in the report."""
        for each in found:
            if isinstance(each, LeftOut):
                self._leave_out(each)
            else:
                self._construct(each)
        self._settle("name", lambda tool: tool.name)
        self._settle("task type", lambda tool: tool.task_type if isinstance(tool, AsyncTaskTool) else None)
        for candidate in self._candidates:
            self._initialise(candidate)
        self._drop_failed()
        for candidate in self._candidates:
            self._warn(*contract_warnings(candidate.tool))
        return tuple(candidate.tool for candidate in self._candidates)

    def report(self) -> LoadReport:
        """What became of everything."""
        loaded = tuple(
            LoadedTool(each.tool.name, each.path, each.origin, kind_of(each.tool))
            for each in self._candidates
        )
        return LoadReport(loaded, tuple(self._left_out), tuple(self._warnings))

    def services_for(self, user: type) -> Services:
        """The platform as that class sees it."""
        return self._services_for(self, user)

    def find(self, tool_class: type[T], user: type) -> T:
        """The one instance of a class, initialised; else of its subclasses. `user` is the class that asks.

        Raises ToolNotLoadedError when there is none, several, or one that could not be initialised.
        """
        candidate = self._one_of(tool_class)
        self._initialise(candidate)
        if candidate.failure is not None:
            raise ToolNotLoadedError(f"tool {candidate.tool.name!r} is left out: {candidate.failure}")
        for each in self._candidates:
            if type(each.tool) is user and each.running:
                each.uses.append(candidate)
        return candidate.tool  # type: ignore[return-value]

    def _one_of(self, tool_class: type) -> _Candidate:
        exact = [each for each in self._candidates if type(each.tool) is tool_class]
        matching = exact or [each for each in self._candidates if isinstance(each.tool, tool_class)]
        names = ", ".join(each.tool.name for each in matching or self._candidates) or "none"
        if not matching:
            raise ToolNotLoadedError(
                f"no tool of class {class_path(tool_class)} is loaded; loaded are: {names}"
            )
        if len(matching) > 1:
            raise ToolNotLoadedError(
                f"several tools are of class {class_path(tool_class)}: {names}; name one class"
            )
        if kind_of(matching[0].tool) is ToolKind.ORCHESTRATOR:
            raise ToolNotLoadedError(
                f"{names!r} is an orchestrator, of which each request has an instance of its own"
            )
        return matching[0]

    def _construct(self, found: FoundTool) -> None:
        if any(type(each.tool) is found.tool_class for each in self._candidates):
            return
        path = class_path(found.tool_class)
        try:
            tool = found.tool_class()
        except (Exception, SystemExit) as error:
            self._leave_out(
                LeftOut(path, found.origin, LoadStage.CONSTRUCT, f"{type(error).__name__}: {error}")
            )
            return
        faults = contract_faults(tool)
        if faults:
            self._leave_out(LeftOut(path, found.origin, LoadStage.CONTRACT, "; ".join(faults)))
        else:
            self._candidates.append(_Candidate(tool, found.origin))

    def _settle(self, what: str, key: Callable[[ChatbotTool[Any]], str | None]) -> None:
        """Of several tools with one key keep the one loaded last."""
        last: dict[str, _Candidate] = {}
        for candidate in tuple(self._candidates):
            value = key(candidate.tool)
            if value is None:
                continue
            earlier = last.get(value)
            last[value] = candidate
            if earlier is not None:
                reason = (
                    f"{what} {value!r} is that of {earlier.path} ({earlier.origin}) and of {candidate.path} "
                    f"({candidate.origin}); the latter, loaded last, stays"
                )
                self._warn(reason)
                self._candidates.remove(earlier)
                self._left_out.append(LeftOut(earlier.path, earlier.origin, LoadStage.NAME, reason))

    def _initialise(self, candidate: _Candidate) -> None:
        if candidate.initialised or candidate.running or candidate.failure is not None:
            return
        candidate.running = True
        try:
            initialise(candidate.tool, self.services_for(type(candidate.tool)))
            candidate.initialised = True
        except (Exception, SystemExit) as error:
            log.debug("init of %s failed", candidate.path, exc_info=True)
            self._fail(candidate, LoadStage.INIT, f"{type(error).__name__}: {error}")
        finally:
            candidate.running = False

    def _drop_failed(self) -> None:
        """Leave out what failed and whatever needs it, until nothing more falls."""
        while True:
            self._candidates = [each for each in self._candidates if each.failure is None]
            tools = [each.tool for each in self._candidates]
            for candidate in self._candidates:
                faults = required_faults(candidate.tool, tools)
                faults += [
                    f"it took {used.tool.name!r} in init, which is left out: {used.failure}"
                    for used in candidate.uses
                    if used.failure is not None
                ]
                if faults:
                    self._fail(candidate, LoadStage.REQUIRED, "; ".join(faults))
            if all(each.failure is None for each in self._candidates):
                return

    def _fail(self, candidate: _Candidate, stage: LoadStage, reason: str) -> None:
        candidate.failure = reason
        self._leave_out(LeftOut(candidate.path, candidate.origin, stage, reason))

    def _leave_out(self, left_out: LeftOut) -> None:
        log.error("left out %s (%s): %s", left_out.what, left_out.origin, left_out.reason)
        self._left_out.append(left_out)

    def _warn(self, *warnings: str) -> None:
        for warning in warnings:
            log.warning("%s", warning)
            self._warnings.append(warning)


def initialise(tool: ChatbotTool[Any], services: Services) -> None:
    """Call a tool's `init`. Raises what it raises, and PluginLoadError when it is not a plain method."""
    outcome: Any = tool.init(services)  # type: ignore[func-returns-value]
    if inspect.isawaitable(outcome):
        if inspect.iscoroutine(outcome):
            outcome.close()
        raise PluginLoadError(f"init of tool {tool.name!r} is async; make it a plain method")
