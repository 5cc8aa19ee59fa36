"""Exit codes of the command line."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a caller (cron, Airflow, a shell) can tell from the end of a command."""

    OK = 0
    FAILED = 1
    """Something went wrong that the message names."""
    USAGE = 2
    """The command line is wrong."""
    NOT_FOUND = 3
    """No such source, domain or generation."""
    BUSY = 4
    """Another run is writing to the domain, or published first: run again later."""
    NOT_INSTALLED = 5
    """Java, a model or a package is missing."""
    QUESTION = 6
    """A tool asks back, and there was no answer to its question."""
    TOO_MANY_REJECTS = 7
    """More documents could not be read than the run was allowed; nothing was published."""


EXIT_CODE_HELP = """
Exit codes: 0 done, 1 failed (the message says why), 2 wrong command line, 3 no such source or domain,
4 another run is writing, 5 something is not installed (see `tudastar doctor`), 6 a tool asks back,
7 too many rejects.
"""
