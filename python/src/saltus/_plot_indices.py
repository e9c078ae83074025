"""Pictures of indices of sensitivity, as a run or `saltus sensitivity` has written them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Optional

import numpy as np
import xarray as xr

from . import _core
from ._errors import SpecError
from ._style import COLOURS, MARKERS, axes, label, legend, stacked, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Number of outcomes drawn by default.
FEW = 4
#: Names of the indices in pictures.
NAMES = {"first_order": "first order", "total_order": "total order", "mu_star": "mu*, mean size of the effect",
         "mu": "mu, mean effect", "sigma": "sigma"}


def has(ds: xr.Dataset, index: str) -> bool:
    return f"sensitivity_{index}" in ds.variables


def outcomes_of(ds: xr.Dataset, index: str, design: str, chosen: Sequence[str]) -> list[str]:
    """The requested outcomes, or the first that vary."""
    if not has(ds, index):
        raise SpecError(f"the result has no indices of this kind: run it with design={design}; docs/global_sensitivity.md")
    known = [str(name) for name in ds["sensitivity_outcome"].values]
    for name in chosen:
        if name not in known:
            raise SpecError(f"{name}: there are no indices of it; {_core.suggest(name, known)}")
    varying = [name for name, row in zip(known, ds[f"sensitivity_{index}"].values) if np.isfinite(row).any()]
    if not varying:
        raise SpecError("no outcome varies: there are no indices to draw")
    return list(chosen) or varying[:FEW]


def estimates(ds: xr.Dataset, index: str, outcome: str) -> "tuple[np.ndarray, np.ndarray]":
    """The index of each input, and the distances of its interval down and up; 0 without an interval."""
    row = [str(name) for name in ds["sensitivity_outcome"].values].index(outcome)
    value, low, high = (ds[f"sensitivity_{index}{part}"].values[row] for part in ("", "_low", "_high"))
    reach = np.nan_to_num(np.stack([value - low, high - value]))
    return value, np.maximum(reach, 0)


def with_unit(ds: xr.Dataset, name: str, outcome: str) -> str:
    """The name of an effect, and the unit of the outcome."""
    of = next((ds[one] for one in (outcome, f"statistics_{outcome}") if one in ds.variables), None)
    return name if of is None else label(of, name)


def inputs_of(ds: xr.Dataset) -> list[str]:
    return [str(name) for name in ds["sensitivity_input"].values]


def sobol(ds: xr.Dataset, chosen: Sequence[str], heading: str) -> "np.ndarray":
    outcomes = outcomes_of(ds, "first_order", "'saltelli' or 'fast'", chosen)
    inputs = inputs_of(ds)
    kinds = [kind for kind in ("first_order", "total_order") if has(ds, kind)]
    drawn = stacked(len(outcomes), 1.9, sharex=True, sharey=True)
    bars: list = []
    for ax, outcome in zip(drawn, outcomes):
        bars = []
        for k, kind in enumerate(kinds):
            value, reach = estimates(ds, kind, outcome)
            at = np.arange(len(inputs)) + (k - (len(kinds) - 1) / 2) * 0.38
            bars.append(ax.bar(at, value, 0.36, color=COLOURS[k], label=NAMES[kind]))
            if reach.any():
                ax.errorbar(at, value, reach, fmt="none", ecolor="0.2", elinewidth=1, capsize=2)
        ax.axhline(0, color="0.3", lw=0.8)
        ax.grid(axis="x", visible=False)
        title(ax, f"{heading}: {outcome}" if ax is drawn[0] else outcome)
        ax.set_ylabel("share of variance")
    upright = max(map(len, inputs)) * len(inputs) <= 60
    drawn[-1].set_xticks(range(len(inputs)), inputs, rotation=0 if upright else 30, ha="center" if upright else "right")
    if len(kinds) > 1:
        legend(drawn[-1], bars)
    return drawn


def morris(ds: xr.Dataset, chosen: Sequence[str], heading: str) -> "np.ndarray":
    outcomes = outcomes_of(ds, "mu_star", "'morris'", chosen)
    drawn = stacked(len(outcomes), 2.6)
    handles: list = []
    for ax, outcome in zip(drawn, outcomes):
        (size, across), (deviation, along) = (estimates(ds, kind, outcome) for kind in ("mu_star", "sigma"))
        handles = [ax.errorbar(size[k], deviation[k], along[:, [k]], across[:, [k]], color=COLOURS[k % len(COLOURS)],
                               marker=MARKERS[k % len(MARKERS)], ms=6, ls="none", elinewidth=1, label=name)
                   for k, name in enumerate(inputs_of(ds))]
        right, top = (1.15 * float(np.nanmax(value + reach[1])) or 1.0 for value, reach in ((size, across), (deviation, along)))
        line, = ax.plot([0, max(right, top)], [0, max(right, top)], color="0.5", lw=0.8, ls="--", label="sigma = mu*")
        ax.set_xlim(0, right)
        ax.set_ylim(0, top)
        title(ax, f"{heading}: {outcome}" if ax is drawn[0] else outcome)
        ax.set_ylabel(with_unit(ds, NAMES["sigma"], outcome))
        handles.append(line)
        ax.set_xlabel(with_unit(ds, "mu*", outcome))
    drawn[-1].set_xlabel(with_unit(ds, NAMES["mu_star"], outcomes[-1]))
    legend(drawn[-1], handles)
    return drawn


def tornado(ds: xr.Dataset, chosen: Optional[str], heading: str, ax: "Optional[Axes]") -> "Axes":
    whole = next((kind for kind in ("total_order", "mu_star", "first_order") if has(ds, kind)), "total_order")
    part = {"total_order": "first_order", "mu_star": "mu"}.get(whole)
    outcome = outcomes_of(ds, whole, "'saltelli', 'morris' or 'fast'", [chosen] if chosen else [])[0]
    value, reach = estimates(ds, whole, outcome)
    order = np.argsort(np.nan_to_num(value), kind="stable")
    ax = axes(ax, 1.6 + 0.4 * len(order))
    at = np.arange(len(order))
    handles = [ax.barh(at, value[order], 0.7, color=COLOURS[5], label=NAMES[whole])]
    if reach.any():
        ax.errorbar(value[order], at, xerr=reach[:, order], fmt="none", ecolor="0.2", elinewidth=1, capsize=2)
    if part is not None and has(ds, part):
        handles.append(ax.barh(at, estimates(ds, part, outcome)[0][order], 0.3, color=COLOURS[0], label=NAMES[part]))
    ax.axvline(0, color="0.3", lw=0.8)
    ax.set_yticks(at, np.array(inputs_of(ds))[order])
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("share of variance" if part != "mu" else with_unit(ds, f"effect on {outcome} per unit of probability", outcome))
    title(ax, f"{heading}: what {outcome} depends on")
    legend(ax, handles)
    return ax
