"""Keyword arguments of a run as settings of a spec, and arrays beside them.

One keyword is one setting: the program's reader of specs alone checks its value. Columns of numbers do not become
text: the setting names an array that is passed unchanged.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from . import _core
from ._errors import Error, SpecError
from ._salib import distributions

#: Keywords that are keys of a spec (host/spec/keys.cpp), and their paths there.
KEYS = {name: f"{table}.{name}" if table else f"spec.{name}" for table, name, annotation in _core.keys() if annotation}
SECTIONS = tuple(name for table, name, annotation in _core.keys() if not (table or annotation or name in ("model", "tables", "records")))
LONG_FORMS = ("parameters", "initial")
TIMES = ("t_begin", "t_end")
#: Columns of pharmacometrics, which the reader of records understands.
RECORD_NAMES = ("ID", "TIME", "AMT", "RATE", "DUR", "II", "ADDL", "EVID", "SS", "CMT")


def numbers_in(values: Any) -> np.ndarray:
    """Values as an array of numbers, NaN where they are masked. Raises TypeError or ValueError for all else, such as times with a unit."""
    array = np.asanyarray(values)
    if array.dtype.kind in "mM":
        raise TypeError("times with a unit")
    if isinstance(array, np.ma.MaskedArray):
        return array.astype(float).filled(np.nan)
    return np.asarray(array, dtype=float)


def toml(value: Any) -> str:
    """A value as TOML on one line; numbers read back as the same numbers."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return repr(number) if math.isfinite(number) else str(number)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, str):
        return json.dumps(value)
    if np.ndim(value) > 0 or isinstance(value, (list, tuple)):
        array = np.asanyarray(value)
        if array.dtype.kind in "mM":
            raise SpecError(f"{value!r}: {_TIMES}")
        return "[" + ", ".join(toml(one) for one in array.tolist()) + "]"
    if np.ndim(value) == 0 and hasattr(value, "item"):
        return toml(value.item())
    raise SpecError(f"{value!r}: must be a number, a text, a list or a dict")


def is_table(value: Any) -> bool:
    """Is the value a DataFrame, of any library?"""
    return hasattr(value, "columns") and hasattr(value, "__getitem__") and not isinstance(value, Mapping)


_TIMES = "must be numbers in the unit of the model, as x / np.timedelta64(1, 's') makes them"


def _first_text(values: Any) -> str:
    """The first value that is no number, for a message."""
    if np.asanyarray(values).dtype.kind in "mM":
        return f", and has times: they {_TIMES}"
    for k, one in enumerate(np.ravel(np.asarray(values, dtype=object))):
        try:
            float(one)
        except (TypeError, ValueError):
            return f"; number {k} is {one!r}: leave the column out, or write numbers in its place"
    return ""


def _ragged(key: str, rows: Any, columns: "tuple[str, ...]") -> "dict[str, np.ndarray]":
    """Columns with ids from 0 on, from one array of rows (time, columns) for each instance."""
    width = 1 + len(columns)
    made = []
    for k, one in enumerate(rows):
        try:
            numbers = numbers_in(one)
        except (TypeError, ValueError):
            raise SpecError(f"{key}: the rows of instance {k} must be numbers") from None
        numbers = numbers.reshape(-1, width) if numbers.size == 0 else numbers
        if numbers.ndim != 2 or numbers.shape[1] != width:
            raise SpecError(f"{key}: the rows of instance {k} must be (time, {', '.join(columns)}), an array of shape (rows, {width}); "
                            f"its shape is {numbers.shape}")
        made.append(numbers)
    all_rows = np.concatenate(made) if made else np.zeros((0, width))
    ids = np.repeat(np.arange(len(made), dtype=float), [len(one) for one in made])
    return {"id": ids, **{name: all_rows[:, j] for j, name in enumerate(("time", *columns))}}


class Settings:
    """Keys with their values as TOML, `given`, and arrays, from keyword arguments, for a model with these names; `initials` are states and discrete variables."""

    def __init__(self, options: Mapping[str, Any], parameters: Mapping[str, Any], initials: Mapping[str, Any],
                 records: "Mapping[str, tuple[str, ...]]" = MappingProxyType({})):
        self.given: "list[tuple[str, str]]" = []
        self.arrays: dict[str, np.ndarray] = {}
        self.rows: "list[tuple[list[str], Any]]" = []  # columns of each DataFrame, and its index
        self.listed: dict[str, int] = {}  # records given as arrays, one for each instance: their number
        self._parameters, self._initials, self._records = parameters, initials, records
        for key, value in options.items():
            if value is not None:
                self._read(key, value)

    def check_count(self, instances: int) -> None:
        """Refuses records of more or fewer instances than there are, unless ids say which rows belong to an instance."""
        for key, count in self.listed.items():
            if count != instances and all(one != "records.id" for one, _ in self.given):
                raise SpecError(f"{key}: has {count} arrays of rows, and the run has {instances} instances: an empty array stands for an "
                                "instance without rows")

    def complaint(self, error: Error) -> Error:
        """The error without the setting in front of it, which the caller has not written."""
        text = str(error)
        for key, value in self.given:
            text = text.removeprefix(f"--set {key}={value}: ")
        made = type(error)(text)
        made.exit_code = error.exit_code
        return made

    def _set(self, key: str, value: str) -> None:
        self.given.append((key, value))

    def _array(self, name: str, value: Any) -> str:
        try:
            numbers = np.ascontiguousarray(numbers_in(value))
        except (TypeError, ValueError):
            raise SpecError(f"{name}: must have numbers{_first_text(value)}") from None
        if numbers.ndim != 1:
            raise SpecError(f"{name}: must have one dimension, and has {numbers.ndim}")
        self.arrays[name] = numbers
        return f"{{array={json.dumps(name)}}}"

    def _is_quantity(self, key: str) -> bool:
        return key in self._parameters or key in self._initials or self._is_family(key)

    def _is_family(self, key: str) -> bool:
        """Is this the name of a family, whose members are key_0, key_1, ...?"""
        return any(key not in names and f"{key}_0" in names and f"{key}_1" in names for names in (self._parameters, self._initials))

    def _members(self, key: str) -> int:
        """The number of members of a family."""
        names = self._parameters if f"{key}_0" in self._parameters and key not in self._parameters else self._initials
        return next(k for k in range(len(names) + 1) if f"{key}_{k}" not in names)

    def _table_of(self, key: str) -> str:
        return "parameters" if key in self._parameters or f"{key}_0" in self._parameters and key not in self._initials else "initial"

    def _read(self, key: str, value: Any) -> None:
        if key in KEYS and self._is_quantity(key):
            table = self._table_of(key)
            section = KEYS[key].removeprefix("spec.").rpartition(".")[0]
            raise SpecError(f"{key}: is a setting and a quantity of the model: write {table}={{{key!r}: ...}}, "
                            f"sweep={{{table!r}: {{{key!r}: ...}}}} or sample={{{table!r}: {{{key!r}: ...}}}} for the quantity, and "
                            f"{section or 'settings'}={{{key!r}: ...}} for the setting")
        if key in KEYS:
            self._set(KEYS[key], toml(value))
        elif key == "sweep":
            self._sweep(value)
        elif key == "zip":
            self._zip(value)
        elif key == "problem" and not self._is_quantity(key):
            for name, one in distributions(value).items():
                self._set(f"sample.{name}", toml(one))
        elif key == "settings" and not self._is_quantity(key):
            for name, one in value.items():
                self._set(f"spec.{name}", toml(one))
        elif key == "tables" and not self._is_quantity(key):
            for name, one in value.items():
                self._series(f"tables.{name}", one)
        elif key == "records" and not self._is_quantity(key):
            for name, one in value.items():
                self._record(str(name), one)
        elif key == "lyapunov" and not value:
            self._set(key, "{}")
        elif key in SECTIONS:
            for name, one in value.items():
                if (key, name) == ("gradient", "data"):
                    self._data(one)
                else:
                    self._set(f"{key}.{name}", toml(one))
        elif self._is_quantity(key) or key in TIMES:
            self._quantity(key, value)
        else:
            allowed = [*self._parameters, *self._initials, *TIMES, *KEYS, *SECTIONS, "settings", "tables", "records", "zip", "problem", "file", "replace", "progress"]
            raise SpecError(f"{key}: unknown key; {_core.suggest(key, allowed)}")

    def _quantity(self, name: str, value: Any) -> None:
        """Adds a quantity: a number fixes it, an array is an axis of the product, a dict is a range or a distribution. For a family, an
        array has a number for each member, and an array of two dimensions a row for each instance."""
        if isinstance(value, Mapping):
            table = "sweep" if {"from", "csv"} & set(value) else "sample"
            self._set(f"{self._table_of(name) if self._is_family(name) and 'csv' in value else table}.{name}", toml(value))
        elif np.ndim(value) == 1 and self._is_family(name):
            self._set(f"{self._table_of(name)}.{name}", self._array(name, value))
        elif np.ndim(value) == 2 and self._is_family(name):
            self._zip({name: value})
        elif np.ndim(value) > 0:
            self._set(f"sweep.{name}", self._array(name, value))
        elif name in TIMES:
            raise SpecError(f"{name}: must be a list of times to be swept; one time for all is given by t=(begin, end)")
        else:
            self._set(f"{self._table_of(name)}.{name}", toml(value))

    def _data(self, value: Any) -> None:
        """Adds measured values: a DataFrame by its index, or a dict of what a table may be. A missing value is NaN."""
        for name, one in value.items():
            self._series(f"gradient.data.{name}", one.dropna() if hasattr(one, "dropna") else one)

    def _series(self, key: str, value: Any) -> None:
        """Adds values by time: a Series or a DataArray of one dimension, by its index; two columns (times, values); or a dict, as in a spec.
        Curves are the columns of a DataFrame, or values of shape (curves, times)."""
        if isinstance(value, (Mapping, str)):
            self._set(key, toml(value))
            return
        if hasattr(value, "index") and hasattr(value, "values") and not isinstance(value, (list, tuple)):
            times, value = value.index, np.asanyarray(value.values).T
        elif hasattr(value, "dims") and len(value.dims) == 1:
            times = value[value.dims[0]]
        else:
            try:
                times, value = value
            except (TypeError, ValueError):
                raise SpecError(f"{key}: must be a Series, a DataArray of one dimension, (times, values) or a dict") from None
        try:
            columns = {"times": numbers_in(times), "values": numbers_in(value)}
        except (TypeError, ValueError):
            raise SpecError(f"{key}: times and values {_TIMES}") from None
        if columns["values"].ndim == 2:
            if columns["values"].shape[1:] != columns["times"].shape:
                raise SpecError(f"{key}: must have as many values as times for each curve, and has {columns['values'].shape[1]} and "
                                f"{columns['times'].size}")
            columns["values"] = columns["values"].ravel()
        given = ", ".join(f"{what} = {self._array(f'{key}.{what}', column)}" for what, column in columns.items())
        self._set(key, f"{{{given}}}")

    def _record(self, name: str, value: Any) -> None:
        """Adds rows of data: a DataFrame; a dict of columns, or as in a spec; or an array of rows (time, columns) for each instance."""
        key = f"records.{name}"
        if name not in self._records or isinstance(value, str) or (isinstance(value, Mapping) and "csv" in value):
            self._set(key, toml(value))  # `id`, `past`, the path of a file, or a name that the reader of specs refuses
            return
        further = {}
        if isinstance(value, Mapping) and "columns" in value:
            further = {one: value[one] for one in value if one != "columns"}
            value = value["columns"]
        if is_table(value) or isinstance(value, Mapping):
            columns = {str(one): np.asanyarray(value[one]) for one in (value.columns if is_table(value) else value)}
            needed = {"id", "time", *self._records[name], *RECORD_NAMES}
            columns = {one: numbers for one, numbers in columns.items() if one in needed}
        else:
            columns = _ragged(key, value, self._records[name])
            self.listed[key] = len(value)
        given = ", ".join(f"{json.dumps(one)} = {self._array(f'{key}.{one}', column)}" for one, column in columns.items())
        self._set(key, "{columns = {" + given + "}" + "".join(f", {one} = {toml(what)}" for one, what in further.items()) + "}")

    def _sweep(self, value: Any) -> None:
        if is_table(value):
            self._zip(value)
            return
        for name, one in value.items():
            if name == "zip":
                self._zip(one)
            elif name in LONG_FORMS and isinstance(one, Mapping):
                for quantity, values in one.items():
                    given = toml(values) if isinstance(values, Mapping) else self._array(str(quantity), values)
                    self._set(f"sweep.{name}.{quantity}", given)
            elif isinstance(one, (Mapping, str)):  # a str: the path of a table
                self._set(f"sweep.{name}", toml(one))
            else:
                self._set(f"sweep.{name}", self._array(name, one))

    def _zip(self, value: Any) -> None:
        """Adds columns that vary together, row by row."""
        names = list(value.columns) if is_table(value) else list(value)
        if is_table(value) and hasattr(value, "index"):
            self.rows.append(([str(name) for name in names], value.index))
        columns = {}
        for name, column in [(str(name), np.asanyarray(value[name])) for name in names]:
            if column.ndim == 2 and self._is_family(name):
                if column.shape[1] != (members := self._members(name)):
                    raise SpecError(f"{name}: must have shape (rows, {members}), a column for each member; its shape is {column.shape}")
                columns.update({f"{name}_{k}": self._array(f"{name}_{k}", one) for k, one in enumerate(column.T)})
            else:
                columns[name] = self._array(name, column)
        if self._records:  # an id is no quantity: it says which rows of records belong to a row of the sweep
            for name in [one for one in ("id", "ID") if one in columns and not self._is_quantity(one)]:
                self._set("records.id", columns.pop(name))
        self._set("sweep.zip", "{" + ", ".join(f"{json.dumps(name)}={one}" for name, one in columns.items()) + "}")
