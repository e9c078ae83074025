"""The style of pictures: colours that the colour-blind can distinguish, names with units, legends below pictures or within axes."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Optional, TypeVar

import numpy as np
import xarray as xr

from ._errors import Error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito, Color universal design (2008), without black and yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = "ov^sDPX*"
#: Width of a figure in inches; `wide` sets another one.
_width = 6.0
_STYLE = {"axes.grid": True, "grid.alpha": 0.3, "grid.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False,
          "axes.titlesize": "medium", "figure.titlesize": "medium", "legend.frameon": False, "legend.fontsize": "small",
          "legend.title_fontsize": "small", "image.cmap": "viridis", "lines.linewidth": 1.4,
          "axes.formatter.useoffset": False, "svg.hashsalt": "saltus"}

F = TypeVar("F", bound=Callable[..., Any])


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        missing = Error("pictures need matplotlib: pip install matplotlib")
        missing.exit_code = 2
        raise missing from None
    return plt


def styled(draw: F) -> F:
    """A decorator: the function draws in the style of saltus, whatever matplotlib settings are active."""

    @functools.wraps(draw)
    def drawn(*args: Any, **options: Any) -> Any:
        plt = pyplot()
        from cycler import cycler

        with plt.rc_context({**_STYLE, "axes.prop_cycle": cycler(color=COLOURS)}):
            return draw(*args, **options)

    return drawn  # type: ignore[return-value]


@contextmanager
def wide(inches: float) -> Iterator[None]:
    """A context with figures of this width: the smaller the width, the larger the text on a page."""
    global _width
    before, _width = _width, inches
    try:
        yield
    finally:
        _width = before


def label(variable: xr.DataArray, name: Optional[str] = None) -> str:
    """The name of a variable and its unit."""
    unit = variable.attrs.get("units", "")
    return (name or str(variable.name)) + (f" / {unit}" if unit not in ("", "1") else "")


def axes(ax: "Optional[Axes]", height: float = 4.0) -> "Axes":
    """The given axes, or the axes of a new figure."""
    return pyplot().subplots(figsize=(_width, height), layout="constrained")[1] if ax is None else ax


def stacked(count: int, height: float, **shared: Any) -> "np.ndarray":
    """Axes one below another."""
    return pyplot().subplots(count, squeeze=False, figsize=(_width, 1 + height * count), layout="constrained", **shared)[1][:, 0]


def title(ax: "Axes", *lines: Optional[str]) -> None:
    ax.set_title("\n".join(textwrap.fill(line, int(11.7 * _width)) for line in lines if line), loc="left")


def shades(count: int) -> list:
    """Colours for this many lines: distinct ones for few, from dark to light for many."""
    if count <= len(COLOURS):
        return list(COLOURS[:count])
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0, 0.9, count)))


def legend(ax: "Axes", handles: Sequence[Any], heading: Optional[str] = None) -> None:
    """Draws the legend: below the picture if it has a figure of its own, else within its axes."""
    if len(handles) < 1:
        return
    longest = max(len(str(handle.get_label())) for handle in handles)
    columns = max(1, min(len(handles), int(10.6 * _width) // (longest + 6)))
    if ax.figure.get_layout_engine() is not None:
        ax.figure.legend(handles=handles, title=heading, loc="outside lower center", ncols=columns)
    else:
        ax.legend(handles=handles, title=heading)


def is_even_in_the_logarithm(values: np.ndarray) -> bool:
    if len(values) < 3 or not (values > 0).all() or values.max() < 5 * values.min():
        return False
    steps = np.diff(np.log(values))
    return bool(np.allclose(steps, steps.mean(), rtol=1e-3))


def scale(ax: "Axes", **values: np.ndarray) -> None:
    """Makes an axis, x or y, logarithmic if the values are evenly spaced in the logarithm."""
    for which, of in values.items():
        if is_even_in_the_logarithm(np.unique(of)):
            ax.set(**{f"{which}scale": "log"})


def edges(values: np.ndarray) -> np.ndarray:
    """Borders of the cells around values that ascend."""
    to, back = (np.log, np.exp) if is_even_in_the_logarithm(values) else (np.asarray, np.asarray)
    at = to(values)
    if len(at) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = (at[1:] + at[:-1]) / 2
    return back(np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]]))
