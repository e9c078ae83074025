"""`ds.saltus`: what can be done with a result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from . import _core, _model
from ._dataset import is_ok
from ._errors import SpecError
from ._plot import Plot


@xr.register_dataset_accessor("saltus")
class Accessor:
    """Of a Dataset that a run has returned, or that xarray has read from a result file."""

    def __init__(self, ds: xr.Dataset):
        self._ds = ds

    @property
    def model(self) -> _model.Model:
        """The model of the result: that which it was made with, as long as it is there, else from its file or its text."""
        attributes = self._ds.attrs
        known = _model.loaded.get(attributes["model_hash"])
        if known is not None:
            return known
        path = Path(attributes["model_file"])
        if not path.is_file() or path.read_text() != attributes["model_text"]:
            path = _kept(attributes["model"], attributes["model_text"])
        return _model.Model(path)

    @property
    def ok(self) -> xr.DataArray:
        """Which instances are what was asked for: `ok` of a result in memory, of a file by its status."""
        return self._ds["ok"] if "ok" in self._ds else xr.apply_ufunc(is_ok, self._ds["status"])

    @property
    def plot(self) -> Plot:
        """Pictures: plot(), plot.trajectories, plot.phase, plot.raster, plot.outcome."""
        return Plot(self)

    def rerun(self, instance: int, **options: Any) -> xr.Dataset:
        """One instance again, with the same bits, and with other options where given, such as samples=2000.

        Its inputs are those in the result, its settings are those of the run.
        """
        model = self.model
        one = self.instance(instance)
        options = {"samples": None, "events": True, **options}
        given = {name: float(one[name]) for name in model.parameters if name in one}
        initial = {name: float(one[f"initial_{name}"]) for name in (*model.states, *model.discretes)
                   if f"initial_{name}" in one}
        inputs = {"parameters": given, "initial": initial, "t": (float(one["t_begin"]), float(one["t_end"]))}
        known = {name: (one[f"knot_{name}"].values, one[f"table_{name}"].values) for name in model.tables
                 if f"table_{name}" in one}
        if known:
            inputs["tables"] = {**known, **(options.pop("tables", None) or {})}
        text = f"model = {_model_in_toml(model)}\n" + self._ds.attrs["settings"]
        return model._run("text", text, {**inputs, **options})

    def instance(self, instance: int) -> xr.Dataset:
        """What the result has of one instance, but for its events."""
        ds = self._ds
        if "status" not in ds:
            raise SpecError("the result has no rows of instances (rows=False), of which one could be taken")
        if "instance" not in ds.coords and "instance" in ds.dims:  # from a file
            return ds.isel(instance=instance)
        at = np.argwhere(ds["instance"].values == instance)
        if len(at) == 0:
            raise SpecError(f"instance {instance}: is not in the result")
        return ds.isel(dict(zip(ds["instance"].dims, at[0])))

    def events(self, instance: int) -> xr.Dataset:
        """The rows of the event log that belong to one instance."""
        if "event_instance" not in self._ds:
            raise SpecError("the result has no events: run it with events=True")
        log = self._ds[[name for name, v in self._ds.variables.items() if v.dims == ("event",)]]
        return log.isel(event=np.flatnonzero(self._ds["event_instance"].values == instance))


def _model_in_toml(model: _model.Model) -> str:
    from ._settings import toml

    return toml(str(model.header))


def _kept(name: str, text: str) -> Path:
    """A header with this text, in a folder of its own."""
    from ._symbolic import keep

    return keep(name, text)
