"""Finding the tool classes of plugins: installed ones by entry point, and modules or folders by path."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from toolkit.errors import PluginLoadError
from toolkit.load_report import LeftOut, LoadStage
from toolkit.tool import ChatbotTool

ENTRY_POINT_GROUP = "tudastar.tools"
"""The group under which an installed plugin lists its tool classes as `name = "module:Class"`."""

_PACKAGE_FILE = "__init__.py"

ToolClass: TypeAlias = type[ChatbotTool[Any]]


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool class and where it comes from."""

    tool_class: ToolClass
    origin: str


def class_path(tool_class: type) -> str:
    """`module:Class`."""
    return f"{tool_class.__module__}:{tool_class.__qualname__}"


def installed_tools(found: Iterable[EntryPoint] | None = None) -> Iterator[FoundTool | LeftOut]:
    """The tool classes of installed plugins, by distribution and name. None: those of this environment."""
    points = entry_points(group=ENTRY_POINT_GROUP) if found is None else found
    unique = {(_distribution(point), point.name, point.value): point for point in points}
    for (distribution, name, value), point in sorted(unique.items(), key=lambda item: item[0]):
        yield from _tools(value, f"entry point {name!r} of {distribution}", point.load)


def configured_tools(paths: Iterable[str]) -> Iterator[FoundTool | LeftOut]:
    """The tool classes that the settings name, in their order.

    A path is a module (`my.tools`), a class (`my.tools:Finder`), a Python file, or a folder: a package, or
    plain Python files, which are taken by name. Of a module all public tool classes are taken that it, or a
    module within it, defines, but no abstract ones.
    """
    for path in paths:
        origin = f"settings {path!r}"
        if not _is_file_path(path):
            yield from _tools(path, origin, partial(_import_object, path))
            continue
        files = _python_files(Path(path))
        for file in files:
            yield from _tools(str(file), origin, partial(_import_file, file))
        if not files:
            yield LeftOut(path, origin, LoadStage.IMPORT, "there is no such file, or no Python file in it")


def _tools(what: str, origin: str, load: Callable[[], Any]) -> Iterator[FoundTool | LeftOut]:
    try:
        loaded = load()
        classes = _tool_classes(loaded) if isinstance(loaded, ModuleType) else [_checked_class(loaded)]
    except (Exception, SystemExit) as error:
        yield LeftOut(what, origin, LoadStage.IMPORT, f"{type(error).__name__}: {error}")
        return
    yield from (FoundTool(tool_class, origin) for tool_class in classes)


def _tool_classes(module: ModuleType) -> list[ToolClass]:
    classes = [
        each
        for name, each in vars(module).items()
        if isinstance(each, type)
        and issubclass(each, ChatbotTool)
        and f"{each.__module__}.".startswith(f"{module.__name__}.")
        and not name.startswith("_")
        and not inspect.isabstract(each)
    ]
    if not classes:
        raise PluginLoadError(
            f"module {module.__name__} defines no tool; a tool is a public subclass of ChatbotTool"
        )
    return list(dict.fromkeys(classes))


def _checked_class(loaded: Any) -> ToolClass:
    if isinstance(loaded, type) and issubclass(loaded, ChatbotTool):
        return loaded
    raise PluginLoadError(
        f"{loaded!r} is no tool class; a tool is a subclass of ChatbotTool, given as module:Class"
    )


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown distribution"


def _is_file_path(path: str) -> bool:
    return "/" in path or "\\" in path or path.endswith(".py") or path.startswith((".", "~"))


def _python_files(path: Path) -> list[Path]:
    path = path.expanduser().resolve()
    if (path / _PACKAGE_FILE).is_file():
        return [path / _PACKAGE_FILE]
    if path.is_dir():
        return sorted(file for file in path.glob("*.py") if not file.name.startswith("_"))
    return [path] if path.is_file() else []


def _import_object(path: str) -> Any:
    module_name, _, attribute = path.partition(":")
    loaded: Any = importlib.import_module(module_name)
    for name in attribute.split(".") if attribute else ():
        loaded = getattr(loaded, name)
    return loaded


def _import_file(file: Path) -> ModuleType:
    """Import a file or package by its plain name, so that files of one folder can import each other."""
    place = file.parent if file.name == _PACKAGE_FILE else file
    folder = str(place.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    importlib.invalidate_caches()
    module = importlib.import_module(place.stem)
    origin = getattr(module, "__file__", None)
    if origin is None or Path(origin).resolve() != file:
        raise PluginLoadError(
            f"another module has the name of {file} already ({origin or 'built into Python'}); rename it"
        )
    return module
