"""The instances of a result in a row, in the order of their numbers, whatever dimensions the result has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np
import xarray as xr

from . import _core
from ._dataset import is_ok
from ._errors import SpecError

#: Roles of variables that define an instance, and of variables that are its outcome.
INPUTS = ("parameter", "initial", "span")
OUTCOMES = ("reduction", "final", "counter", "sensitivity")


def words(value: "str | Sequence[str] | None") -> list[str]:
    """A list of names; a single name may be given without a list."""
    return [] if value is None else [value] if isinstance(value, str) else [str(one) for one in value]


def ok_of(ds: xr.Dataset) -> xr.DataArray:
    """Which instances ended well: the variable `ok`, or from the status."""
    return ds["ok"] if "ok" in ds else xr.apply_ufunc(is_ok, ds["status"])


def instance_of(ds: xr.Dataset, instance: int) -> xr.Dataset:
    """All variables of one instance, without its events."""
    if "status" not in ds:
        raise SpecError("the result has no rows of instances (rows=False), of which one could be taken")
    if "instance" not in ds.coords and "instance" in ds.dims:  # from a file
        return ds.isel(instance=instance)
    at = np.argwhere(ds["instance"].values == instance)
    if len(at) == 0:
        raise SpecError(f"instance {instance}: is not in the result")
    return ds.isel(dict(zip(ds["instance"].dims, at[0])))


def events_of(ds: xr.Dataset, instance: int) -> xr.Dataset:
    """The rows of the event log that belong to one instance."""
    if "event_instance" not in ds:
        raise SpecError("the result has no events: run it with events=True")
    known = ds["instance"].values if "instance" in ds else range(ds.sizes.get("instance", instance + 1))
    if instance not in known:
        raise SpecError(f"instance {instance}: is not in the result; it has {np.size(known)}")
    log = ds[[name for name, v in ds.variables.items() if v.dims == ("event",)]]
    return log.isel(event=np.flatnonzero(ds["event_instance"].values == instance))


class Rows:
    """The variables of all instances, for pictures and reports."""

    def __init__(self, ds: xr.Dataset):
        self._ds = ds
        if "status" not in self._ds:
            raise SpecError("the result has no rows of instances (rows=False): it can be drawn by histogram, sobol, morris and "
                            "tornado alone")
        status = self._ds["status"]
        self.dims, self.count = status.dims, int(status.size)
        self.ok = np.asarray(ok_of(ds).values, dtype=bool).reshape(-1)
        self.numbers = self.values("instance") if "instance" in self._ds.coords else np.arange(self.count)

    def values(self, name: str) -> np.ndarray:
        """One row for each instance; for samples a row is a trajectory."""
        if name not in self._ds.variables:
            raise SpecError(f"{name}: is not in the result; {_core.suggest(name, self.named(*INPUTS, *OUTCOMES))}")
        variable = self._ds[name]
        if any(dim not in self.dims for dim in variable.dims[:1]):
            raise SpecError(f"{name}: has no value for each instance; {_core.suggest(name, self.named(*INPUTS, *OUTCOMES))}")
        missing = {dim: self._ds.sizes[dim] for dim in self.dims if dim not in variable.dims}
        whole = variable.variable.set_dims({**missing, **dict(zip(variable.dims, variable.shape))}).transpose(*self.dims, ...)
        return whole.values.reshape(self.count, *whole.shape[len(self.dims):])

    def named(self, *roles: str) -> list[str]:
        """The variables of these roles, in their order, that have a value for each instance."""
        return [str(name) for role in roles for name, v in self._ds.variables.items()
                if v.attrs.get("role") == role and set(v.dims) <= set(self.dims)]

    def varied(self) -> list[str]:
        """The inputs that differ between instances."""
        return [name for name in self.named(*INPUTS) if set(self._ds[name].dims) & set(self.dims)]

    def axes(self, over: "str | Sequence[str] | None", most: int) -> list[str]:
        """The inputs along the axes of a picture, the horizontal one last: the requested ones (horizontal first), else those of a grid,
        else, for random samples, all."""
        varied = self.varied()
        chosen = words(over)[::-1]
        for name in chosen:
            if name not in varied:
                raise SpecError(f"over={name}: is not varied; {_core.suggest(name, varied)}" if varied else
                                f"over={name}: nothing is varied in this result")
        if not chosen:
            coarse = [name for name in varied if len(np.unique(self.values(name))) < self.count]
            chosen = coarse if 1 <= len(coarse) <= most else varied
        if not 1 <= len(chosen) <= most:
            raise SpecError(f"say over which inputs, at most {most}: over={varied[:most]!r}; varied are {', '.join(varied) or 'none'}")
        return chosen

    def of_events(self, instances: np.ndarray) -> np.ndarray:
        """The row of the instance of each event; -1 where it is not in the result, or did not end well."""
        most = int(max(self.numbers.max(initial=0), instances.max(initial=0)))
        row = np.full(most + 1, -1)
        row[self.numbers] = np.where(self.ok, np.arange(self.count), -1)
        return row[instances]

    def failures(self) -> Optional[str]:
        """The note of a picture on the instances that it leaves out."""
        failed = self.count - int(self.ok.sum())
        return f"{failed} of {self.count} instances did not end well: left out" if failed else None
