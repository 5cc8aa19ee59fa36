"""Errors of a run.

IngestionError
├── SourceError           fix the path that was given
├── TooManyRejectsError   mend the documents, or allow more rejects
├── EngineError           install what is missing, or choose another engine
├── UnknownContentError   name a document or source that is there
└── PurgeError            remove what is named, and purge again
"""

from __future__ import annotations


class IngestionError(Exception):
    """Base of this package's errors."""


class SourceError(IngestionError, ValueError):
    """A source that cannot be read or whose name is taken."""


class TooManyRejectsError(IngestionError):
    """More was rejected than the run was allowed to; nothing was published."""


class EngineError(IngestionError):
    """An engine that cannot run here."""


class UnknownContentError(IngestionError, LookupError):
    """A document or source that no kept generation holds."""


class PurgeError(IngestionError):
    """What was to go is still found."""
