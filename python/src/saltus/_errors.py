"""Exceptions: one for each exit code of the program, with its words."""

from __future__ import annotations


class Error(Exception):
    """An error. Its message names the value, the allowed values and the remedy."""

    exit_code = 1


class SpecError(Error, ValueError):
    """A setting, a name or a value that is not allowed."""

    exit_code = 2


class ModelError(Error):
    """The model does not compile, or lacks a required part."""

    exit_code = 4


class DeviceError(Error):
    """The requested device does not exist."""

    exit_code = 5


class IncompleteWarning(UserWarning):
    """More instances failed than `allowed_failed`. Their final values are those at the time of failure; `ok` is False for them."""


def error_for(exit_code: int, message: str) -> Error:
    """The exception for an exit code of the program."""
    kinds = {kind.exit_code: kind for kind in (SpecError, ModelError, DeviceError)}
    made = kinds.get(exit_code, Error)(message)
    made.exit_code = exit_code
    return made
