"""What can go wrong before a model or an adapter is there. Each text is one line that a person can act on."""

from __future__ import annotations

__all__ = ["ModelError", "ModelNotFoundError", "UnknownAdapterError", "UnusableModelError"]


class ModelError(Exception):
    """A model or an adapter that was asked for cannot be had.

    ModelError
     x ModelNotFoundError    no such file, built-in model or package file, or one that the adapter cannot read
       x UnusableModelError  the file is there, and is no model: it is empty, a folder, or may not be read
     x UnknownAdapterError   no adapter has that name
    """


class ModelNotFoundError(ModelError):
    """The reference leads to no model that the adapter could read."""


class UnusableModelError(ModelNotFoundError):
    """What the reference leads to can be no model. Other targets have theirs."""


class UnknownAdapterError(ModelError):
    """No adapter has that name, or what it names is no adapter. The text lists the names."""
