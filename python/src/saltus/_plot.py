"""Pictures of a result, by matplotlib: `ds.saltus.plot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import xarray as xr

from ._errors import SpecError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._accessor import Accessor

#: Lines that a picture has without being asked for.
FEW = 8
MARKERS = "ov^sDPX*"


def label(variable: xr.DataArray) -> str:
    """The name of a variable and its unit."""
    unit = variable.attrs.get("units", "")
    return str(variable.name) + (f" / {unit}" if unit not in ("", "1") else "")


class Plot:
    """Trajectories with their events marked, the phase plane, the raster of events, an outcome over what was swept."""

    def __init__(self, of: "Accessor"):
        self._of, self._ds = of, of._ds

    def __call__(self, names: Optional[Sequence[str]] = None, **options: Any) -> "np.ndarray":
        """`trajectories` of these states and outputs, one below another; all that were sampled if none are named."""
        return self.trajectories(names, **options)

    def trajectories(self, names: Optional[Sequence[str]] = None, instances: Optional[Sequence[int]] = None,
                     events: bool = True) -> "np.ndarray":
        """States and outputs over time, with a mark wherever an event changed them."""
        import matplotlib.pyplot as plt

        names = [names] if isinstance(names, str) else list(names or self._sampled())
        _, axes = plt.subplots(len(names), sharex=True, squeeze=False, figsize=(7, 1 + 2 * len(names)), layout="constrained")
        for instance in self._chosen(instances):
            one = self._of.instance(instance)
            time = one["sample_time" if "sample_time" in one else "time"]
            for ax, name in zip(axes[:, 0], names):
                line, = ax.plot(time, self._sample(one, name), label=self._what(one, instance))
                if events:
                    self._mark(ax, instance, "event_time", f"event_{name}", line.get_color())
        for ax, name in zip(axes[:, 0], names):
            ax.set_ylabel(label(self._ds[name]))
        axes[-1, 0].set_xlabel("time")
        self._legend(axes[0, 0])
        return axes[:, 0]

    def phase(self, x: str, y: str, instances: Optional[Sequence[int]] = None, ax: Optional["Axes"] = None) -> "Axes":
        """One state or output over another, with events marked where both are states."""
        ax = self._axes(ax)
        for instance in self._chosen(instances):
            one = self._of.instance(instance)
            line, = ax.plot(self._sample(one, x), self._sample(one, y), label=self._what(one, instance))
            self._mark(ax, instance, f"event_{x}", f"event_{y}", line.get_color())
        ax.set_xlabel(label(self._ds[x]))
        ax.set_ylabel(label(self._ds[y]))
        self._legend(ax)
        return ax

    def raster(self, ax: Optional["Axes"] = None) -> "Axes":
        """Every event: its time, its instance, and by colour its guard."""
        ax = self._axes(ax)
        guard = self._events()["event_guard"]
        for number, name in zip(np.atleast_1d(guard.attrs["flag_values"]), guard.attrs["flag_meanings"].split()):
            of = guard.values == number
            if of.any():
                ax.plot(self._ds["event_time"].values[of], self._ds["event_instance"].values[of], "|", label=name)
        ax.set_xlabel("time")
        ax.set_ylabel("instance")
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return ax

    def outcome(self, name: str, ax: Optional["Axes"] = None) -> "Axes":
        """A number of each instance over the one or two parameters that were swept; those that failed are left out."""
        ax = self._axes(ax)
        values = self._ds[name].where(self._of.ok)
        swept = [dim for dim in values.dims if dim in values.coords]
        values = values.mean([dim for dim in values.dims if dim not in swept])
        if len(swept) == 1:
            ax.plot(values[swept[0]], values, ".-")
            ax.set_ylabel(label(self._ds[name]))
        elif len(swept) == 2:
            mesh = ax.pcolormesh(values[swept[1]], values[swept[0]], values, shading="nearest")
            ax.figure.colorbar(mesh, ax=ax, label=label(self._ds[name]))
            ax.set_ylabel(label(self._ds[swept[0]]))
        else:
            raise SpecError(f"{name}: must be of one or two swept parameters to be drawn, and is of {len(swept)}")
        ax.set_xlabel(label(self._ds[swept[-1]]))
        return ax

    # ---- what they share

    @staticmethod
    def _axes(ax: Optional["Axes"]) -> "Axes":
        import matplotlib.pyplot as plt

        return plt.subplots(figsize=(7, 4.5), layout="constrained")[1] if ax is None else ax

    def _sampled(self) -> list[str]:
        names = [str(name) for name, v in self._ds.data_vars.items() if v.attrs.get("role") == "sample"]
        if not names:
            raise SpecError("the result has no samples: run it with samples=200")
        return names

    def _sample(self, one: xr.Dataset, name: str) -> xr.DataArray:
        if name not in self._sampled():
            raise SpecError(f"{name}: was not sampled; there are {', '.join(self._sampled())}")
        return one[name]

    def _events(self) -> xr.Dataset:
        if "event_time" not in self._ds:
            raise SpecError("the result has no events: run it with events=True")
        return self._ds

    def _chosen(self, instances: Optional[Sequence[int]]) -> list[int]:
        """Those asked for, or some, evenly over all of them."""
        if instances is not None:
            return [instances] if np.ndim(instances) == 0 else list(instances)
        count = int(self._ds["status"].size)
        return sorted({round(k) for k in np.linspace(0, count - 1, min(count, FEW))})

    def _mark(self, ax: "Axes", instance: int, x: str, y: str, color: str) -> None:
        if x not in self._ds or y not in self._ds:
            return
        log = self._of.events(instance)
        for number in np.unique(log["event_guard"]):
            of = log["event_guard"].values == number
            ax.plot(log[x].values[of], log[y].values[of], MARKERS[int(number) % len(MARKERS)], color=color, ms=4)

    @staticmethod
    def _what(one: xr.Dataset, instance: int) -> str:
        """What distinguishes an instance: the values of what was swept."""
        values = [f"{name} {float(v):.4g}" for name, v in one.coords.items()
                  if v.ndim == 0 and v.attrs.get("role") in ("parameter", "initial", "span")]
        return ", ".join(values) or f"instance {instance}"

    @staticmethod
    def _legend(ax: "Axes") -> None:
        if len(ax.get_legend_handles_labels()[1]) > 1:
            ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
