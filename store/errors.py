"""Errors of the store.

StoreError
├── InvalidNameError       fix the name
├── StoreFormatError       use a newer version of the software
├── NoGenerationError      ingest first, or name another domain (also a LookupError)
├── StoreLockedError       wait for the other run
├── CommitConflictError    another run published first; run again
├── TransferError          name another folder, or export again
└── DamagedPartError       a file is missing or not what its manifest says; run again or restore it
"""

from __future__ import annotations


class StoreError(Exception):
    """Base of all errors of the store."""


class InvalidNameError(StoreError, ValueError):
    """A domain, system or source name that cannot be used."""


class StoreFormatError(StoreError):
    """The store was written by a newer version."""


class NoGenerationError(StoreError, LookupError):
    """A domain without a published generation."""


class StoreLockedError(StoreError):
    """Another run is writing to the domain."""


class CommitConflictError(StoreError):
    """Another run has published since this one began."""


class TransferError(StoreError, ValueError):
    """An export or import that cannot be done as it was asked for."""


class DamagedPartError(StoreError):
    """A file of the store is missing or differs from its manifest."""
