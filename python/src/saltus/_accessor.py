"""`ds.saltus`: operations on a result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from . import _core, _model
from ._dataset import product_of
from ._errors import SpecError
from ._families import BEFORE, apart, joined
from ._plot import Plot
from ._rows import events_of, instance_of, ok_of
from ._settings import toml

@xr.register_dataset_accessor("saltus")
class Accessor:
    """Operations on a Dataset that a run has returned, or that xarray has read from a result file."""

    def __init__(self, ds: xr.Dataset):
        self._ds = apart(ds)

    @property
    def model(self) -> _model.Model:
        """The model of the result: the loaded model that made it, if it still exists, else one from its file or its text.

        A text that this user has never compiled is code of somebody else: it raises SpecError, which says where the text can be read.
        rerun(..., trust=True) compiles and runs it.
        """
        return self._model_if(trust=False)

    def _model_if(self, trust: bool) -> _model.Model:
        attributes = self._ds.attrs
        known = _model.loaded.get(attributes["model_hash"])
        if known is not None:
            return known
        source = self._ds.encoding.get("source", "the result")
        return _model.Model(Path(_core.header_of(source, attributes["model"], attributes["model_text"],
                                                 attributes["model_file"], trust)))

    @property
    def ok(self) -> xr.DataArray:
        """Which instances ended well: the variable `ok`, or from the status."""
        return ok_of(self._ds)

    def product(self) -> xr.Dataset:
        """A result from a file with the dimensions of its sweep instead of `instance`, as `run` returns it."""
        if "status" not in self._ds:
            raise SpecError("the result has no rows of instances (rows=False), which lie in a product")
        return product_of(self._ds) if "instance" in self._ds.dims else self._ds

    def family(self, name: str) -> xr.DataArray:
        """The members of a family along a dimension `member`: of the variables theta_0, theta_1, ..., or final_theta_0, ..., for
        "theta" or "final_theta"."""
        members = []
        while f"{name}_{len(members)}" in self._ds.variables:
            members.append(self._ds[f"{name}_{len(members)}"])
        if not members:
            raise SpecError(f"{name}: the result has no variables {name}_0, {name}_1, ...")
        joined = xr.concat(members, xr.DataArray(np.arange(len(members)), dims="member", name="member"), combine_attrs="drop_conflicts")
        return joined.rename(name).transpose(..., "member")

    def families(self) -> xr.Dataset:
        """The result with one variable for each family: place, with the dimension member_of_place, instead of place_0, place_1, ...; so
        too final_place, event_place or max(place). Members that are varied one by one stay single. `ds.saltus` takes both forms."""
        return joined(self._ds)

    def part(self, name: str) -> xr.Dataset:
        """The variables of a part of the model (Symbolic.add), by the names that they have in the part: `current` for left_current,
        `final_current` for final_left_current, `max(current)` for max(left_current)."""
        start = re.compile(rf"(^|\W|(?:^|\W)(?:{'|'.join(BEFORE)})_){name}_")
        found = {str(v): start.sub(r"\1", str(v)) for v in self._ds.data_vars if start.search(str(v))}
        found.update({str(v): start.sub(r"\1", str(v)) for v in self._ds.coords if start.search(str(v)) and v not in self._ds.dims})
        if not found:
            raise SpecError(f"{name}: the result has no variables of such a part, {name}_...")
        return self._ds[list(found)].rename(found)

    def section(self, event: str) -> xr.Dataset:
        """The points right after each event of a guard or time event, of all instances: a Poincare section. Along `event` lie
        states, outputs if they are logged, `time` and `instance`."""
        if "event_guard" not in self._ds:
            raise SpecError(f"the result has no events: run it with events={{'guards': [{event!r}], 'outputs': True}}")
        guard = self._ds["event_guard"]
        names = guard.attrs["flag_meanings"].split()
        if event not in names:
            raise SpecError(f"{event}: is not an event of {self._ds.attrs['model']}; {_core.suggest(event, names)}")
        rows = np.flatnonzero(guard.values == guard.attrs["flag_values"][names.index(event)])
        point = {str(name).removeprefix("event_"): self._ds[name].isel(event=rows) for name in self._ds.variables
                 if str(name).startswith("event_") and self._ds[name].dims == ("event",)}
        point.pop("guard")
        return xr.Dataset(point).set_coords(["time", "instance"])

    @property
    def plot(self) -> Plot:
        """Pictures: plot(), plot.trajectories, plot.phase, plot.raster, plot.outcome."""
        return Plot(self._ds)

    def rerun(self, instance: int, trust: bool = False, **options: Any) -> xr.Dataset:
        """Integrates one instance again, with the same bits, and with other options where given, such as samples=2000.

        Inputs and settings are those of the result. `trust`: compiles and runs a model's text that comes with the file, even if this
        user has never run it.
        """
        model = self._model_if(trust)
        one = self.instance(instance)
        options = {"samples": None, "events": True, **options}
        given = {name: float(one[name]) for name in model.parameters if name in one}
        initial = {name: float(one[f"initial_{name}"]) for name in (*model.states, *model.discretes, *model._kept)
                   if f"initial_{name}" in one}
        inputs = {"parameters": given, "initial": initial, "t": (float(one["t_begin"]), float(one["t_end"]))}
        known = {name: (one[f"knot_{name}"].values, one[f"table_{name}"].values) for name in model.tables
                 if f"table_{name}" in one}
        if known:
            inputs["tables"] = {**known, **(options.pop("tables", None) or {})}
        if "record_id" in one:
            records: "dict[str, Any]" = {"id": [float(one["record_id"])]}
            for name, event in model.time_events.items():
                start = f"record_{name}_"
                columns = {str(v).removeprefix(start): self._ds[v].values for v in self._ds.variables if str(v).startswith(start)}
                if event.columns is not None and columns:
                    records[name] = {"columns": columns, "others": "ignored"}
            inputs["records"] = {**records, **(options.pop("records", None) or {})}
        attributes, file = self._ds.attrs, self._ds.encoding.get("source", "the result")
        told = _core.settings_of_instance(attributes["settings"], file) + \
            _core.records_of_instance(attributes.get("records", ""), attributes["sources"], file)
        text = f"model = {toml(str(model.header))}\n" + told
        return model._run("text", text, {**inputs, **options})

    def instance(self, instance: int) -> xr.Dataset:
        """All variables of one instance, without its events."""
        return instance_of(self._ds, instance)

    def events(self, instance: int) -> xr.Dataset:
        """The rows of the event log that belong to one instance."""
        return events_of(self._ds, instance)
