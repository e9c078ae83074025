"""The keywords of a run with their types, for type checkers, completions and help.

A run takes keywords in the order of the call, which is the order of its dimensions; `typed` gives it the
signature of `run` below. tests/python/test_types.py compares it with the keys of _settings.py.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Optional, SupportsFloat, Union

import xarray as xr

Number = SupportsFloat
Numbers = Iterable[Any]
Table = Mapping[str, Any]
#: Values of a parameter or an initial value: fixed, an axis of the sweep, a range or a distribution.
Values = Union[Number, Iterable[SupportsFloat], Table]


def run(*, file: Union[str, os.PathLike[str], None] = None, replace: bool = False,
        progress: Union[bool, Callable[[int, int], Any], None] = False,
        # Keys of a spec, written by scripts/update_keys.
        method: Optional[str] = None, t: Union[Number, Iterable[SupportsFloat], None] = None, rtol: Optional[Number] = None,
        atol: Union[Number, Iterable[SupportsFloat], Table, None] = None, norm: Optional[str] = None,
        controller: Optional[str] = None, event_tol: Optional[Number] = None, first_step: Optional[Number] = None,
        max_step: Optional[Number] = None, step: Optional[Number] = None, max_steps: Optional[Number] = None,
        max_events: Optional[Number] = None, history: Optional[Number] = None, precision: Optional[str] = None,
        detection: Optional[str] = None, guards_in_error: Optional[bool] = None, concurrency: Optional[Table] = None,
        zeno: Optional[Number] = None, rescue: Optional[bool] = None, consistency: Optional[str] = None,
        coordinates: Optional[str] = None, structure: Optional[str] = None, count: Optional[Number] = None,
        seed: Optional[Values] = None, design: Union[str, Table, None] = None, correlation: Optional[Table] = None,
        until: Optional[Table] = None, title: Optional[str] = None,
        samples: Union[Number, Iterable[SupportsFloat], Table, None] = None,
        events: Union[bool, str, Iterable[str], Table, None] = None, reduce: Union[str, Iterable[str], None] = None,
        compression: Optional[Number] = None, provenance: Optional[str] = None, store_chunk: Optional[Number] = None,
        rows: Optional[bool] = None, statistics: Optional[bool] = None, bands: Union[bool, Table, None] = None,
        histogram: Optional[Table] = None, indices: Union[bool, str, Iterable[str], None] = None,
        backend: Optional[str] = None, devices: Union[str, Iterable[int], None] = None, threads: Optional[Number] = None,
        lanes: Optional[Number] = None, groups: Optional[Number] = None, chunk: Optional[Number] = None,
        order: Optional[str] = None, allowed_failed: Optional[Number] = None, instance_time_limit: Optional[Number] = None,
        checkpoint: Optional[Number] = None, lease: Optional[Number] = None,
        # End of the keys.
        t_begin: Optional[Values] = None, t_end: Optional[Values] = None,
        parameters: Optional[Table] = None, initial: Optional[Table] = None, sweep: Optional[Any] = None,
        zip: Optional[Any] = None, sample: Optional[Table] = None, problem: Optional[Table] = None,  # noqa: A002
        tables: Optional[Table] = None, records: Optional[Table] = None, sensitivity: Optional[Table] = None,
        lyapunov: Optional[Table] = None, gradient: Optional[Table] = None, output: Optional[Table] = None, run: Optional[Table] = None,
        settings: Optional[Table] = None,
        **quantities: Optional[Values]) -> xr.Dataset:
    """The keywords of Model.run."""
    raise NotImplementedError("is a signature alone")


if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")
    First = TypeVar("First")

    def typed(like: Callable[P, Any]) -> Callable[[Callable[Concatenate[First, ...], R]], Callable[Concatenate[First, P], R]]: ...
else:
    def typed(like):
        """A decorator: the function keeps its first parameter, and has the keywords of `like` after that."""
        def with_signature(function):
            own = inspect.signature(function)
            first = next(iter(own.parameters.values()))
            function.__signature__ = own.replace(parameters=[first, *inspect.signature(like).parameters.values()])
            return function

        return with_signature
