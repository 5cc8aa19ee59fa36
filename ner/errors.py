"""Errors of the domain descriptions and recognisers.

NerError
├── SpecError             fix the domain's description
└── RecogniserError       install the model, or name another recogniser
"""

from __future__ import annotations


class NerError(Exception):
    """Base of this package's errors."""


class SpecError(NerError, ValueError):
    """A domain's description that cannot be carried out."""


class RecogniserError(NerError):
    """A recogniser that cannot be loaded, or a model that is not installed."""
