"""Pictures of a result, by matplotlib: `ds.saltus.plot`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
import xarray as xr

from . import _core, _plot_indices
from ._errors import SpecError
from ._rows import OUTCOMES, Rows, events_of, instance_of, words
from ._style import MARKERS, axes, edges, label, legend, scale, shades, stacked, styled, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Number of instances drawn by default.
FEW = 6
#: Lines of up to this many points have marks.
FEW_POINTS = 200
#: Beyond this many points, a vector picture has them as an image.
MANY = 2000

Names = Union[str, Sequence[str], None]
Instances = Union[int, Sequence[int], None]


class Plot:
    """Pictures of a result; each method returns its axes."""

    def __init__(self, ds: xr.Dataset):
        self._ds = ds

    def __call__(self, names: Names = None, **options: Any) -> "np.ndarray":
        """`trajectories` of these states and outputs, one below another; without names, all sampled ones."""
        return self.trajectories(names, **options)

    # ---- single instances

    @styled
    def trajectories(self, names: Names = None, instances: Instances = None, events: bool = True) -> "np.ndarray":
        """States and outputs over time, with a mark wherever an event changed them."""
        names = words(names) or self._sampled()
        drawn = stacked(len(names), 1.8, sharex=True)
        chosen = self._chosen(instances)
        lines, marked = [], set()
        for instance, colour in zip(chosen, shades(len(chosen))):
            one = instance_of(self._ds, instance)
            for ax, name in zip(drawn, names):
                line, = ax.plot(*self._path(one, instance, ["time", name], events), color=colour, label=self._what(one, instance))
                if events:
                    marked |= self._mark(ax, instance, "event_time", f"event_{name}", colour)
            lines.append(line)
        for ax, name in zip(drawn, names):
            ax.set_ylabel(label(self._ds[name]))
        if "time" in self._ds:
            scale(drawn[-1], x=self._ds["time"].values)
        drawn[-1].set_xlabel(self._time())
        title(drawn[0], self._title())
        self._explain(drawn[-1], lines, marked)
        return drawn

    @styled
    def phase(self, x: str, y: str, instances: Instances = None, ax: Optional["Axes"] = None) -> "Axes":
        """One state or output over another, with events marked where both are states."""
        ax = axes(ax, 4.5)
        chosen = self._chosen(instances)
        lines, marked = [], set()
        for instance, colour in zip(chosen, shades(len(chosen))):
            one = instance_of(self._ds, instance)
            lines += ax.plot(*self._path(one, instance, [x, y], True), color=colour, label=self._what(one, instance))
            marked |= self._mark(ax, instance, f"event_{x}", f"event_{y}", colour)
        ax.set_xlabel(label(self._ds[x]))
        ax.set_ylabel(label(self._ds[y]))
        title(ax, self._title("phase plane"))
        self._explain(ax, lines, marked)
        return ax

    @styled
    def raster(self, ax: Optional["Axes"] = None) -> "Axes":
        """Every event by time and instance; the colour is the guard."""
        from matplotlib.lines import Line2D
        from matplotlib.ticker import MaxNLocator

        ax = axes(ax)
        log = self._events()
        guards = self._guards()
        handles = []
        count = int(self._ds["status"].size) if "status" in self._ds else 1
        size = float(np.clip(280 / count, 0.7, 4))  # in points: the picture is some 280 high
        for (name, number), colour, marker in zip(guards.items(), shades(len(guards)), MARKERS * len(guards)):
            of = log["event_guard"].values == number
            if of.any():
                ax.plot(log["event_time"].values[of], log["event_instance"].values[of], "|" if count > 40 else marker, color=colour,
                        ms=size, ls="none", rasterized=of.sum() > MANY)
                handles.append(Line2D([], [], ls="none", marker="|" if count > 40 else marker, color=colour, ms=6, label=name))
        ax.set_xlabel(self._time())
        ax.set_ylabel("instance")
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        title(ax, self._title(f"{log.sizes['event']} events"))
        legend(ax, handles)
        return ax

    # ---- ensembles

    @styled
    def outcome(self, name: str, over: Names = None, ax: Optional["Axes"] = None) -> "Axes":
        """One number per instance over one or two varied inputs: a line with the band of 5..95 % where several
        instances have the same input, a heat map, or coloured points where the inputs are no grid. Failed instances are left out."""
        rows = Rows(self._ds)
        at = rows.axes(over, 2)
        values = np.where(rows.ok, rows.values(name).astype(float), np.nan)
        ax = axes(ax)
        (self._line if len(at) == 1 else self._map)(ax, name, at, values, rows)
        ax.set_xlabel(label(self._ds[at[-1]]))
        title(ax, self._title(self._about(name)), rows.failures())
        return ax

    def _line(self, ax: "Axes", name: str, at: Sequence[str], values: np.ndarray, rows: Rows) -> None:
        x, cell = np.unique(rows.values(at[0]), return_inverse=True)
        several = len(x) < rows.count
        in_order = values[np.argsort(cell, kind="stable")]
        spread = np.array([_spread(one) for one in np.split(in_order, np.cumsum(np.bincount(cell))[:-1])]) if several \
            else in_order[:, None]
        line, = ax.plot(x, spread[:, 0], ".-" if len(x) <= FEW_POINTS else "-", ms=4, label="mean")
        if several:
            low, high = spread[:, 1], spread[:, 2]
            band = ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, lw=0, label="5..95 % of instances")
            legend(ax, [line, band])
        scale(ax, x=x)
        ax.set_ylabel(label(self._ds[name]))

    def _map(self, ax: "Axes", name: str, at: Sequence[str], values: np.ndarray, rows: Rows) -> None:
        (y, row), (x, column) = (np.unique(rows.values(one), return_inverse=True) for one in at)
        if len(x) * len(y) <= rows.count:
            cell = row * len(x) + column
            good = np.isfinite(values)
            count, total = (np.bincount(cell[good], weight, len(x) * len(y)) for weight in (None, values[good]))
            with np.errstate(invalid="ignore"):
                mean = (total / count).reshape(len(y), len(x))
            ax.grid(False)
            ax.set_facecolor("0.8")  # where no instance ended well
            drawn: Any = ax.pcolormesh(edges(x), edges(y), np.ma.masked_invalid(mean), rasterized=True)
        else:
            drawn = ax.scatter(x[column], y[row], c=values, s=12, rasterized=rows.count > MANY)
        scale(ax, x=x, y=y)
        ax.figure.colorbar(drawn, ax=ax, label=label(self._ds[name]))
        ax.set_ylabel(label(self._ds[at[0]]))

    @styled
    def bands(self, names: Names = None, by: Optional[str] = None, within: "tuple[float, float]" = (5, 95)) -> "np.ndarray":
        """Median of states and outputs over time, and the band that holds 5..95 % of the instances; one for each value of `by`."""
        if "status" not in self._ds:
            return self._kept_bands(names, within)
        names = words(names) or self._sampled()
        if "time" not in self._ds:
            raise SpecError("bands need one time grid for all instances, and here their spans differ: give t=(begin, end)")
        rows = Rows(self._ds)
        if not rows.ok.any():
            raise SpecError("no instance ended well: there is nothing to take a median of")
        of = rows.values(rows.axes(by, 1)[0]) if by else np.zeros(rows.count)
        groups = np.unique(of)
        if len(groups) > FEW:
            raise SpecError(f"by={by}: has {len(groups)} values, and a picture can show up to {FEW}")
        drawn = stacked(len(names), 2.2, sharex=True)
        handles: list = []
        for ax, name in zip(drawn, names):
            self._sample(self._ds, name)
            samples, handles = rows.values(name), []
            for group, colour in zip(groups, shades(len(groups))):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)  # sample times that no instance reached
                    low, middle, high = np.nanpercentile(samples[rows.ok & (of == group)], [within[0], 50, within[1]], axis=0)
                ax.fill_between(self._ds["time"], low, high, color=colour, alpha=0.25 if len(groups) == 1 else 0.15, lw=0)
                handles += ax.plot(self._ds["time"], middle, color=colour, label=f"{group:.4g}")
            ax.set_ylabel(label(self._ds[name]))
        scale(drawn[-1], x=self._ds["time"].values)
        drawn[-1].set_xlabel(self._time())
        title(drawn[0], self._title(f"median and {within[0]:g}..{within[1]:g} % of {rows.ok.sum()} instances"), rows.failures())
        if by:
            legend(drawn[-1], handles, label(self._ds[by]))
        return drawn

    def _kept_bands(self, names: Names, within: "tuple[float, float]") -> "np.ndarray":
        """The quantiles that a run without rows has kept: `within`, or else the outermost ones."""
        kept = [str(one)[len("quantiles_"):] for one in self._ds.variables if str(one).startswith("quantiles_")]
        if not kept:
            raise SpecError("the run has kept neither rows nor quantiles over time: run it with samples=..., rows=False")
        parts = self._ds["quantile"].values
        ends = [part / 100 for part in within]
        low, high = ends if set(ends) <= set(parts) else (parts.min(), parts.max())
        middle = parts[np.abs(parts - 0.5).argmin()]
        names = words(names) or kept
        drawn = stacked(len(names), 2.2, sharex=True)
        for ax, name in zip(drawn, names):
            if name not in kept:
                raise SpecError(f"{name}: the run has kept no quantiles of it; {_core.suggest(name, kept)}")
            of = self._ds[f"quantiles_{name}"]
            lowest, median, highest = (of.values[:, np.flatnonzero(parts == part)[0]] for part in (low, middle, high))
            ax.fill_between(self._ds["time"], lowest, highest, alpha=0.25, lw=0)
            ax.plot(self._ds["time"], median)
            ax.set_ylabel(label(of, name))
        scale(drawn[-1], x=self._ds["time"].values)
        drawn[-1].set_xlabel(self._time())
        number = int(self._ds[f"statistics_{names[0]}"].values[..., 0].max())
        title(drawn[0], self._title(f"quantiles {low:g}, {middle:g} and {high:g} of {number} instances"))
        return drawn

    @styled
    def histogram(self, name: Optional[str] = None, bins: int = 40, ax: Optional["Axes"] = None) -> "Axes":
        """The histogram of an outcome: of the instances, or, without rows, the histogram that the run has counted."""
        counted = [str(one)[len("histogram_"):] for one in self._ds.variables if str(one).startswith("histogram_")]
        has_rows = "status" in self._ds
        if not (has_rows or counted):
            raise SpecError("the run has kept neither rows nor histograms: run it with histogram={...}; saltus report shows its "
                            "statistics")
        name = name or (counted or Rows(self._ds).named(*OUTCOMES))[0]
        if not has_rows and name not in counted:
            raise SpecError(f"{name}: the run has kept no histogram of it; {_core.suggest(name, counted)}")
        ax = axes(ax)
        beyond = None
        if has_rows:
            rows = Rows(self._ds)
            values = rows.values(name)[rows.ok].astype(float)
            values = values[np.isfinite(values)]
            whole = self._ds[name].dtype.kind in "iu" and len(values) > 0 and np.ptp(values) < 2 * bins
            borders: Any = np.arange(values.min() - 0.5, values.max() + 1) if whole else bins
            ax.hist(values, borders, edgecolor="white", lw=0.4)
            beyond, of = rows.failures(), self._ds[name]
        else:
            of, counts = self._ds[f"bin_{name}"], self._ds[f"histogram_{name}"]
            at = np.linspace(counts.attrs["from"], counts.attrs["to"], counts.size + 1)
            ax.bar(at[:-1], counts.values, np.diff(at), align="edge", edgecolor="white", lw=0.4)
            outside = [f"{int(counts.attrs[side])} {side}" for side in ("below", "above") if counts.attrs[side]]
            beyond = f"not shown: {', '.join(outside)} the bins" if outside else None
        ax.set_xlabel(label(of, name))
        ax.set_ylabel("instances")
        title(ax, self._title(self._about(name)), beyond)
        return ax

    @styled
    def bifurcation(self, state: str, guard: Optional[str] = None, over: Names = None, last: int = 50, before: bool = False,
                    ax: Optional["Axes"] = None) -> "Axes":
        """A state at the last events of a guard, over the varied input: one point where the motion has the period of one
        event, two where it has doubled, many where it is chaotic."""
        rows = Rows(self._ds)
        at, = rows.axes(over, 1)
        row, values = self._at_events(rows, guard, [state], before, last)
        ax = axes(ax, 4.5)
        ax.plot(rows.values(at)[row], values[0], ",k" if len(row) > MANY else ".k", ms=3, alpha=0.6, rasterized=len(row) > MANY)
        scale(ax, x=rows.values(at))
        ax.set_xlabel(label(self._ds[at]))
        ax.set_ylabel(label(self._ds[f"event_{state}"], state))
        title(ax, self._title(f"{state} {'before' if before else 'after'} the last {last} events {self._guard(guard)[0]}"), rows.failures())
        return ax

    @styled
    def section(self, x: str, y: str, guard: Optional[str] = None, instances: Instances = None, skip: int = 0, before: bool = False,
                ax: Optional["Axes"] = None) -> "Axes":
        """Poincare section: two states at every event of a guard except the first `skip` events of each instance."""
        rows = Rows(self._ds)
        row, (at_x, at_y) = self._at_events(rows, guard, [x, y], before, None, skip)
        if instances is not None:
            of = np.isin(rows.numbers[row], instances)
            row, at_x, at_y = row[of], at_x[of], at_y[of]
        ax = axes(ax, 4.5)
        ax.plot(at_x, at_y, ".k", ms=1.5 if len(row) > MANY else 4, mew=0, alpha=0.7, rasterized=len(row) > MANY)
        ax.set_xlabel(self._time() if x == "time" else label(self._ds[f"event_{x}"], x))
        ax.set_ylabel(label(self._ds[f"event_{y}"], y))
        title(ax, self._title(f"section at {len(row)} events {self._guard(guard)[0]}"), rows.failures())
        return ax

    # ---- indices of sensitivity

    @styled
    def sobol(self, outcomes: Names = None) -> "np.ndarray":
        """Indices of first and total order of each input, with intervals; one picture for each outcome, below one another."""
        return _plot_indices.sobol(self._ds, words(outcomes), self._title())

    @styled
    def morris(self, outcomes: Names = None) -> "np.ndarray":
        """Mean size and deviation of the effects of each input."""
        return _plot_indices.morris(self._ds, words(outcomes), self._title())

    @styled
    def tornado(self, outcome: Optional[str] = None, ax: Optional["Axes"] = None) -> "Axes":
        """The inputs in the order of their influence on an outcome, the largest on top."""
        return _plot_indices.tornado(self._ds, outcome, self._title(), ax)

    # ---- shared functions

    def _title(self, what: str = "") -> str:
        return ": ".join(one for one in (str(self._ds.attrs.get("title", "")), what) if one)

    def _about(self, name: str) -> str:
        """The sentence of a variable, without its remarks."""
        about = self._ds[name].attrs.get("long_name", "") if name in self._ds.variables else ""
        return about.removesuffix(", at t_final").partition(", each")[0] or name

    def _time(self) -> str:
        for name in ("time", "event_time"):
            if name in self._ds.variables:
                return label(self._ds[name], "time")
        return "time"

    def _sampled(self) -> list[str]:
        names = [str(name) for name, v in self._ds.data_vars.items() if v.attrs.get("role") == "sample"]
        if not names:
            raise SpecError("the result has no samples: run it with samples=200")
        return names

    def _sample(self, one: xr.Dataset, name: str) -> xr.DataArray:
        if name not in self._sampled():
            raise SpecError(f"{name}: was not sampled; {_core.suggest(name, self._sampled())}")
        return one[name]

    def _path(self, one: xr.Dataset, instance: int, names: Sequence[str], events: bool) -> "list[np.ndarray]":
        """The time or a sampled quantity along a trajectory. With the log, states before and after each event are inserted."""
        time = one["sample_time" if "sample_time" in one else "time"].values
        samples = [time if name == "time" else self._sample(one, name).values for name in names]
        columns = [("event_time", "event_time") if name == "time" else (f"before_{name}", f"event_{name}") for name in names]
        if not events or not all(column in self._ds for pair in columns for column in pair):
            return samples
        log = events_of(self._ds, instance)
        at = np.concatenate([time, np.repeat(log["event_time"].values, 2)])
        order = np.argsort(at, kind="stable")
        whole = [np.concatenate([of, np.stack([log[before].values, log[after].values], 1).reshape(-1)])[order]
                 for of, (before, after) in zip(samples, columns)]
        return whole if time[0] <= time[-1] else samples

    def _events(self) -> xr.Dataset:
        if "event_time" not in self._ds:
            raise SpecError("the result has no events: run it with events=True")
        return self._ds

    def _guards(self) -> "dict[str, int]":
        """The guards and time events of the log, by name."""
        of = self._events()["event_guard"].attrs
        return dict(zip(of["flag_meanings"].split(), (int(k) for k in np.atleast_1d(of["flag_values"]))))

    def _guard(self, name: Optional[str]) -> "tuple[str, Optional[int]]":
        """The name of a guard in pictures, and its number; None: all guards."""
        known = self._guards()
        if name is not None and name not in known:
            raise SpecError(f"guard={name}: is not in the log; {_core.suggest(name, list(known))}")
        if name is None and len(known) > 1:
            return "of any guard", None
        name = name or next(iter(known))
        return f"of {name}", known[name]

    def _at_events(self, rows: Rows, guard: Optional[str], states: Sequence[str], before: bool, last: Optional[int],
                   skip: int = 0) -> "tuple[np.ndarray, list[np.ndarray]]":
        """Rows of instances, and states, at events of a guard: the last events of each instance, or all except the first."""
        log = self._events()
        columns = [("event_time" if name == "time" else f"{'before' if before else 'event'}_{name}") for name in states]
        known = [str(name)[len("before_"):] for name in log.variables if str(name).startswith("before_")]
        for name, column in zip(states, columns):
            if column not in log.variables:
                raise SpecError(f"{name}: is no state in the event log; {_core.suggest(name, known)}")
        number = self._guard(guard)[1]
        row = rows.of_events(log["event_instance"].values)
        at = np.flatnonzero((row >= 0) & ((log["event_guard"].values == number) if number is not None else True))
        of = log["event_instance"].values[at]  # ascends
        place = np.arange(len(of))
        keep = np.searchsorted(of, of, "right") - place <= last if last is not None else \
            place - np.searchsorted(of, of, "left") >= skip
        at = at[keep]
        return row[at], [log[column].values[at] for column in columns]

    def _chosen(self, instances: Instances) -> list[int]:
        """The requested instances, or some, evenly spread over all."""
        if instances is not None:
            return [int(k) for k in np.atleast_1d(instances)]
        numbers = Rows(self._ds).numbers
        return [int(numbers[round(k)]) for k in np.linspace(0, len(numbers) - 1, min(len(numbers), FEW))]

    def _mark(self, ax: "Axes", instance: int, x: str, y: str, colour: Any) -> "set[int]":
        """Marks the events of an instance. Returns their guards."""
        if x not in self._ds or y not in self._ds:
            return set()
        log = events_of(self._ds, instance)
        numbers = {int(number) for number in np.unique(log["event_guard"])}
        for number in numbers:
            of = log["event_guard"].values == number
            ax.plot(log[x].values[of], log[y].values[of], MARKERS[number % len(MARKERS)], color=colour, ms=4)
        return numbers

    def _explain(self, ax: "Axes", lines: Sequence[Any], marked: "set[int]") -> None:
        """The legend: lines of instances, if there are several, and marks of events."""
        from matplotlib.lines import Line2D

        handles = list(lines) if len(lines) > 1 else []
        handles += [Line2D([], [], ls="none", color="0.3", marker=MARKERS[number % len(MARKERS)], ms=4, label=name)
                    for name, number in (self._guards().items() if marked else ()) if number in marked]
        legend(ax, handles)

    def _what(self, one: xr.Dataset, instance: int) -> str:
        """The label of an instance: the values of its varied inputs, if these are few."""
        varied = Rows(self._ds).varied()
        values = [f"{name} {float(one[name]):.4g}" for name in varied] if len(varied) <= 2 else []
        return ", ".join(values) or f"instance {instance}"


def _spread(values: np.ndarray) -> "tuple[float, float, float]":
    """Mean, 5 % and 95 % quantile of the values."""
    values = values[np.isfinite(values)]
    return (float(values.mean()), *np.percentile(values, [5, 95])) if len(values) else (np.nan, np.nan, np.nan)
