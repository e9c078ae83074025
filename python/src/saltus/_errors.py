"""Exceptions: one for each way in which the program fails, with its words and its exit code."""

from __future__ import annotations


class Error(Exception):
    """What went wrong, in one sentence that names the value, what is allowed and how to mend it."""

    exit_code = 1


class SpecError(Error, ValueError):
    """A setting, a name or a value that cannot be."""

    exit_code = 2


class ModelError(Error):
    """The model does not compile, or is not what a model must be."""

    exit_code = 4


class DeviceError(Error):
    """The device that was asked for is not there."""

    exit_code = 5


class IncompleteWarning(UserWarning):
    """More instances failed than `allowed_failed`: their numbers are those of the time at which they ended. `ok` is False there."""


def error_for(exit_code: int, message: str) -> Error:
    """The exception for an exit code of the program."""
    kinds = {kind.exit_code: kind for kind in (SpecError, ModelError, DeviceError)}
    made = kinds.get(exit_code, Error)(message)
    made.exit_code = exit_code
    return made
