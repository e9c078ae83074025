"""Models and their runs."""

from __future__ import annotations

import html
import os
import tempfile
import warnings
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import xarray as xr

from . import _core, _keywords
from ._dataset import dataset, stacked, with_rows
from ._errors import Error, IncompleteWarning, SpecError
from ._keywords import typed
from ._progress import reporter
from ._settings import Settings


class Quantity(NamedTuple):
    """A state, a parameter, an output or a discrete variable."""

    name: str
    value: float
    unit: str
    about: str


class Guard(NamedTuple):
    """A function of time and state whose root is an event."""

    name: str
    direction: str
    sidedness: str
    terminal: bool
    about: str


class TimeEvent(NamedTuple):
    """An event whose time is known beforehand."""

    name: str
    about: str
    columns: "Optional[tuple[str, ...]]" = None  #: of its rows of data, if it is recorded


class Table(NamedTuple):
    """A function of time given by values at knots; `knots`: number of the model's own, 0 if a run must give them."""

    name: str
    interpolation: str
    at_ends: str
    knots: int
    unit: str
    about: str
    chosen_by: Optional[str] = None  #: the parameter that is the number of its curve, if it may have several


class Model:
    """A loaded model: its modules serve all of its runs.

    `states`, `parameters`, `outputs`, `discretes`, `tables`, `guards` and `time_events` describe the model's quantities by name, with units
    and a sentence each; `source` is the text of its header, `reference` the source of the equations.
    """

    def __init__(self, header: Union[str, os.PathLike]):
        self._core = _core.load(os.fspath(header))
        about = self._core.description()
        self.name: str = about["name"]
        self.title: str = about["title"]
        self.reference: str = about["reference"]
        self.header = Path(about["header"])
        self.source: str = about["text"]
        self.span: tuple[float, float] = about["span"]
        self.time_unit: str = about["time_unit"]
        self.states = {row[0]: Quantity(*row) for row in about["states"]}
        self.parameters = {row[0]: Quantity(*row) for row in about["parameters"]}
        self.outputs = {row[0]: Quantity(*row) for row in about["outputs"]}
        self.discretes = {row[0]: Quantity(*row) for row in about["discretes"]}
        self._kept = {row[0]: Quantity(*row) for row in about["kept"]}  # what saltus keeps for the model: queues and random streams
        self.tables = {row[0]: Table(*row) for row in about["tables"]}
        self.guards = {row[0]: Guard(*row) for row in about["guards"]}
        self.time_events = {row[0]: TimeEvent(*row) for row in about["time_events"]}

    @typed(_keywords.run)
    def run(self, *, file: Union[str, os.PathLike, None] = None, replace: bool = False, progress: Any = False,
            **options: Any) -> xr.Dataset:
        """Runs the model, once or as an ensemble, and returns the result.

        A keyword is a setting of a spec (`t`, `rtol`, `method`, `samples`, `events`, `reduce`, `threads`, ...), a parameter,
        or the initial value of a state or discrete variable: a number fixes it, an array is an axis of the sweep's product, a dict is a
        range or a distribution, such as `{"normal": [0.8, 0.05]}` with `count` samples. `tables` takes a Series or (times, values) for
        each table of the model, and for one of several curves a DataFrame with a column for each, or values of shape (curves, times), `records` a DataFrame, or an array of rows for each instance, for each recorded time event. `sweep`
        takes a DataFrame, whose rows are instances, or a dict; `zip` takes columns that vary together;
        `problem` takes a problem of SALib, a dict of names, bounds and dists. `file` writes a result file, too. `progress` is True or
        a function of (done, count).

        Instances that fail raise no exception: `ok` is False for them. If their share exceeds `allowed_failed`, the run warns with
        saltus.IncompleteWarning. Raises saltus.Error with the words of the command line.
        """
        return self._run("model", str(self.header), options, file, replace, progress)

    def lyapunov(self, *, exponents: Optional[int] = None, start: Optional[float] = None, **options: Any) -> xr.Dataset:
        """Lyapunov exponents, through events, of a `run` with the same options, over the time from `start` on.

        The result has `lyapunov` and its standard error, `lyapunov_error`, along a further dimension, `exponent`: 1 is the largest.
        The exponent of differences that vanish within a step is -infinity. It is NaN if none exists; `lyapunov_status` says why.
        """
        asked = {"exponents": exponents, "from": start}
        return stacked(self.run(lyapunov={key: value for key, value in asked.items() if value is not None}, **options))

    def _run(self, kind: str, what: str, options: Mapping[str, Any], file: Union[str, os.PathLike, None] = None,
             replace: bool = False, progress: Any = False) -> xr.Dataset:
        settings = self._settings(options)
        plan = self._planned(kind, what, settings, file)
        for sentence in plan.warnings:
            warnings.warn(sentence, stacklevel=3)
        with reporter(progress, plan.count, self.name) as report:
            result = _core.run(plan, replace, report)
        made = dataset(plan, result)
        for columns, index in settings.rows:
            made = with_rows(made, columns, index)
        warn_if_incomplete(plan, made, stacklevel=4)
        loaded[made.attrs["model_hash"]] = self
        return made

    def _plan(self, kind: str, what: str, options: Mapping[str, Any], file: Union[str, os.PathLike, None] = None) -> Any:
        return self._planned(kind, what, self._settings(options), file)

    def _settings(self, options: Mapping[str, Any]) -> Settings:
        records = {name: one.columns for name, one in self.time_events.items() if one.columns is not None}
        return Settings(options, self.parameters, {**self.states, **self.discretes, **self._kept}, records)

    def _planned(self, kind: str, what: str, settings: Settings, file: Union[str, os.PathLike, None]) -> Any:
        try:
            plan = _core.plan(self._core, kind, what, settings.given, settings.arrays, os.fspath(file) if file else "")
        except Error as e:
            raise settings.complaint(e) from None
        settings.check_count(plan.count)
        return plan

    def __reduce__(self) -> tuple:
        return Model, (str(self.header),)

    def __repr__(self) -> str:
        lines = [f"<saltus.Model {self.name}: {self.title}>"]
        for what in ("states", "parameters", "discretes", "outputs", "tables", "guards", "time_events"):
            for one in getattr(self, what).values():
                unit = f" [{one.unit}]" if getattr(one, "unit", "") else ""
                value = f" = {one.value:g}" if what in ("states", "parameters", "discretes") else ""
                lines.append(f"  {what:<11} {one.name}{value}{unit}  {one.about}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: a table of the model's quantities."""
        rows = []
        for what in ("states", "parameters", "discretes", "outputs", "tables", "guards", "time_events"):
            for k, one in enumerate(getattr(self, what).values()):
                value = f"{one.value:g}" if what in ("states", "parameters", "discretes") else getattr(one, "direction", "")
                cells = ("" if k else what.replace("_", " "), one.name, value, getattr(one, "unit", ""), one.about)
                rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
        head = "".join(f"<th>{cell}</th>" for cell in ("", "name", "value", "unit", "meaning"))
        return (f"<strong>{html.escape(self.name)}</strong>: {html.escape(self.title)}<br><small>{html.escape(self.reference)}</small>"
                f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>")


def warn_if_incomplete(plan: _core.Plan, result: xr.Dataset, stacklevel: int) -> None:
    """Warns with the sentence of the command line if more instances failed than the plan allows."""
    counts = {str(key).removeprefix("count_"): int(value) for key, value in result.attrs.items() if str(key).startswith("count_")}
    sentence = _core.too_many_failed(plan, counts)
    if sentence:
        where = "; they are False in `ok`, and their final values are those of the time at which they ended, `t_final`" \
            if "status" in result else ""
        warnings.warn(sentence + where, IncompleteWarning, stacklevel=stacklevel)


#: Loaded models by the hash of their text, with which results can be run again.
loaded: "weakref.WeakValueDictionary[str, Model]" = weakref.WeakValueDictionary()


def model(header: Union[str, os.PathLike]) -> Model:
    """The model in a header."""
    path = Path(header).expanduser()
    if not path.is_file():
        raise _missing(path)
    return Model(path.resolve())


def _missing(path: Path) -> Error:
    return SpecError(f"model {path}: no such file")


def builtin(name: str) -> Model:
    """A built-in model by its name; `saltus.list()` has all of them."""
    return Model(_core.find_model(name))


def so_far(journal: Union[str, os.PathLike]) -> xr.Dataset:
    """The instances that a run has finished by now, from its journal, `FILE.journal`, which a run may be writing. Others are `not_run`."""
    path = Path(journal).resolve()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "so_far.nc")
        _core.so_far(str(path), file)
        return xr.load_dataset(file)


def names() -> "list[str]":
    """The names of the built-in models."""
    return _core.builtin_names()


@typed(_keywords.run)
def run(spec: Union[str, os.PathLike], *, file: Union[str, os.PathLike, None] = None, replace: bool = False,
        progress: Any = False, **options: Any) -> xr.Dataset:
    """Runs a spec (a TOML file); keywords of Model.run override it.

    A file is written only if `file` is given, also if the spec names one.
    """
    path = os.fspath(spec)
    return Model(_core.model_of(path))._run("file", path, options, file, replace, progress)
