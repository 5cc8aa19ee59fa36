"""Errors of the toolkit, split by who must act.

ToolkitError
├── LlmError                    the model gave nothing usable
│   ├── LlmUnavailableError     retry later, or start the server
│   │   ├── LlmTimeoutError     no answer in time
│   │   └── LlmRateLimitError   the server still says "too many requests"
│   ├── LlmRejectedError        the server refuses the request; fix key, model name, address or prompt
│   └── LlmOutputError          the output does not fit the schema, asked twice; fix prompt or model
│       └── LlmTruncatedError   the output was cut off; raise the limit of tokens
├── PluginError                 fix the plugin
│   ├── PluginLoadError         it cannot be imported, constructed or initialised
│   ├── ToolContractError       a tool class declares what its kind does not allow
│   ├── SchemaError             a request class has no strict JSON schema
│   ├── StepTreeError           the steps of an agent coordinator cannot be run
│   └── ToolNotLoadedError      a tool asks for another one that is not there (also a LookupError)
├── ToolRequestError            fix the request
│   ├── UnknownToolError        no such tool (also a LookupError)
│   ├── ToolNotActivatableError the tool is not to be started by name here
│   └── ToolParametersError     the parameters do not fit the tool's request class (also a ValueError)
└── TaskCancelledError          nobody: the user cancelled the task
"""

from __future__ import annotations

_SHOWN_CHARACTERS = 300
"""Longest piece of a foreign value within a message."""


class ToolkitError(Exception):
    """Base of all errors of the toolkit."""


class LlmError(ToolkitError):
    """The model gave nothing usable in time."""


class LlmUnavailableError(LlmError):
    """The server cannot be reached or keeps failing."""


class LlmTimeoutError(LlmUnavailableError):
    """The server did not answer in time."""


class LlmRateLimitError(LlmUnavailableError):
    """The server still refuses because of too many requests after all retries."""


class LlmRejectedError(LlmError):
    """The server refuses the request itself; sending it again would not help."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status, when there was one."""


class LlmOutputError(LlmError):
    """The model's output does not fit the schema, also after it was asked again with the error."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output
        """What the model gave last, whole."""


class LlmTruncatedError(LlmOutputError):
    """The output was cut off at the limit of tokens; `output` is what there is of it."""


class PluginError(ToolkitError):
    """Something that the author of a plugin has to put right."""


class PluginLoadError(PluginError):
    """A plugin cannot be imported, or one of its tools cannot be constructed or initialised."""


class ToolContractError(PluginError):
    """A tool class declares something that its kind does not allow."""


class SchemaError(PluginError):
    """A request class that has no JSON schema in the strict form."""


class StepTreeError(PluginError):
    """The steps that an agent coordinator returned cannot be run."""


class ToolNotLoadedError(PluginError, LookupError):
    """A tool asks for another tool that is not loaded."""


class ToolRequestError(ToolkitError):
    """A request to a tool that its sender has to put right."""


class UnknownToolError(ToolRequestError, LookupError):
    """A request names a tool that does not exist."""


class ToolNotActivatableError(ToolRequestError):
    """A request names a tool that may not be started by name, or not in this domain or system."""


class ToolParametersError(ToolRequestError, ValueError):
    """Parameters that do not fit the tool's request class."""


class TaskCancelledError(ToolkitError):
    """The user cancelled the task; raised by its progress, to be let through."""


def shown(value: object) -> str:
    """A foreign value in the form fit for a message: on one line, long ones cut."""
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}… ({len(text)} characters)"
