"""A result as an xarray.Dataset, with the axes of the sweep as dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr

from . import _core

STATUSES = {row[0]: row for row in _core.statuses()}
_OK = np.zeros(256, dtype=bool)
_OK[[number for number, row in STATUSES.items() if row[4] == "ok"]] = True
_INSTANCE_ATTRIBUTES = {"long_name": "number of the instance, by which it can be run again", "units": "1"}


def is_ok(status: np.ndarray) -> np.ndarray:
    """Which of these statuses end well."""
    return _OK[status]


#: An axis of the product: the swept variables along it (none for random samples), and its length.
Axis = tuple[list[str], int]


def axes_in(attributes: Mapping[str, Any]) -> list[Axis]:
    """The axes of the product, by the attributes of a result."""
    if "product_inputs" not in attributes:
        return []
    return [(columns.split(), int(length))
            for columns, length in zip(attributes["product_inputs"].split(";"), np.atleast_1d(attributes["product_lengths"]))]


def axes_of(axes: Iterable[Axis], taken: Iterable[str]) -> tuple[list[str], list[int], dict[str, int]]:
    """Names and lengths of the product's dimensions, and the dimension of each swept variable."""
    names: list[str] = []
    lengths: list[int] = []
    column_axis: dict[str, int] = {}

    def add(name: str, length: int) -> None:
        given, k = name, 2
        while name in names or (name in taken and name not in column_axis):
            name, k = f"{given}_{k}", k + 1
        names.append(name)
        lengths.append(length)

    for columns, length in axes:
        column_axis.update({column: len(names) for column in columns})
        add(columns[0] if len(columns) == 1 else "row" if columns else "sample", length)
    return names, lengths, column_axis


def product_of(ds: xr.Dataset) -> xr.Dataset:
    """A result from a file with the dimensions of its product instead of `instance`. Only values that are read are copied."""
    names, lengths, column_axis = axes_of(axes_in(ds.attrs), {str(name) for name in ds.variables})
    variables: dict[str, xr.Variable] = {}
    for name, variable in ds.variables.items():
        if variable.dims[:1] == ("instance",):
            values = variable.values.reshape((*lengths, *variable.shape[1:]))
            axis = column_axis.get(str(name))
            if axis is None:
                variable = xr.Variable((*names, *variable.dims[1:]), values, variable.attrs)
            else:
                line = tuple(slice(None) if k == axis else 0 for k in range(len(lengths)))
                variable = xr.Variable((names[axis],), values[line], variable.attrs)
        variables[str(name)] = variable
    variables["instance"] = xr.Variable(names, np.arange(ds.sizes["instance"]).reshape(lengths), _INSTANCE_ATTRIBUTES)
    coordinates = {*column_axis, "instance", *map(str, ds.coords)}
    return xr.Dataset({name: v for name, v in variables.items() if name not in coordinates},
                      {name: v for name, v in variables.items() if name in coordinates}, ds.attrs)


def attributes_of(given: dict[str, Any], numbers: np.ndarray) -> dict[str, Any]:
    """Attributes of a variable; lists of flags have its type, as in a file."""
    return {key: np.array(value, dtype=numbers.dtype) if isinstance(value, list) else value
            for key, value in given.items()}


def dataset(plan: _core.Plan, result: dict[str, Any]) -> xr.Dataset:
    """The Dataset of a run. Numbers are not copied."""
    found = result["variables"]
    names, lengths, column_axis = axes_of(axes_in(result["attributes"]), {name for name, *_ in found})
    variables: dict[str, xr.Variable] = {}
    coordinates: dict[str, xr.Variable] = {}
    for name, dims, numbers, attributes in found:
        if attributes.get("dtype") == "bool":
            numbers = numbers.astype(bool)
            attributes = {key: value for key, value in attributes.items() if key != "dtype"}
        attrs = attributes_of(attributes, numbers)
        if dims and dims[0] == "instance":
            numbers = numbers.reshape((*lengths, *numbers.shape[1:]))
            axis = column_axis.get(name)
            if axis is not None:
                line = tuple(slice(None) if k == axis else 0 for k in range(len(lengths)))
                coordinates[name] = xr.Variable((names[axis],), numbers[line], attrs)
                continue
            dims = (*names, *dims[1:])
        (coordinates if name in ("time", "quantile") else variables)[name] = xr.Variable(dims, numbers, attrs)
    if "status" in variables:  # else the result has no single instances
        coordinates["instance"] = xr.Variable(names, np.arange(plan.count).reshape(lengths), _INSTANCE_ATTRIBUTES)
    if any("statistic" in variable.dims for variable in variables.values()):
        coordinates["statistic"] = xr.Variable(("statistic",), _core.statistic_names())
    if any("sensitivity_outcome" in variable.dims for variable in variables.values()):
        coordinates.update(_names_of_indices(result["attributes"]))
    return _assembled(variables, coordinates, result["attributes"])


def with_rows(made: xr.Dataset, columns: "list[str]", index: Any) -> xr.Dataset:
    """Adds the index of the DataFrame with these columns as a coordinate along its rows, `row`, unless the index only counts them.
    Each level of a MultiIndex is a coordinate."""
    axes = axes_in(made.attrs)
    known = {name for column in columns for name in (column, f"initial_{column}")}
    dims = [dim for (swept, _), dim in zip(axes, axes_of(axes, map(str, made.data_vars))[0]) if swept and set(swept) <= known]
    if not dims or dims[0] not in made.dims:
        return made
    if index.nlevels == 1:
        if index.name is None and np.array_equal(index.values, np.arange(len(index))):
            return made
        return made.assign_coords({"row": (dims[0], index.values, {"long_name": str(index.name or "row of the table")})})
    levels = {str(name or f"row_{k}"): (dims[0], index.get_level_values(k).values) for k, name in enumerate(index.names)}
    return made.assign_coords(levels)


def stacked(made: xr.Dataset) -> xr.Dataset:
    """Puts Lyapunov exponents, and their errors, along a dimension `exponent` that counts from 1."""
    count = sum(str(name).removeprefix("lyapunov_").isdigit() for name in made.variables)
    for name, prefix in (("lyapunov", "lyapunov_"), ("lyapunov_error", "lyapunov_error_")):
        parts = [f"{prefix}{j}" for j in range(1, count + 1)]
        attributes = {"long_name": "Lyapunov exponents, per unit of time" if name == "lyapunov" else "their standard errors"}
        together = xr.concat([made[part] for part in parts], dim="exponent", combine_attrs="drop").assign_attrs(attributes)
        made = made.drop_vars(parts).assign({name: together.transpose(..., "exponent")})
    return made.assign_coords(exponent=np.arange(1, count + 1))


def _names_of_indices(attributes: dict[str, Any]) -> dict[str, xr.Variable]:
    """The names along the dimensions of indices of sensitivity, as a file has them."""
    inputs = attributes["design_inputs"].split(" ")
    names = {"outcome": attributes["sensitivity_outcomes"].split(" "), "input": inputs}
    if attributes["design_second_order"]:
        names["pair"] = [f"{a} {b}" for a, b in combinations(inputs, 2)]
    return {f"sensitivity_{what}": xr.Variable((f"sensitivity_{what}",), of) for what, of in names.items()}


def _assembled(variables: dict[str, xr.Variable], coordinates: dict[str, xr.Variable], attributes: dict[str, Any]) -> xr.Dataset:
    """A Dataset. For one instance its constructor would take longer than all other work. Without dimensions there is nothing to
    align, so xarray's own short cut is used, as long as it exists."""
    short = getattr(xr.Dataset, "_construct_direct", None)
    if short is None or any(variable.dims for variable in (*variables.values(), *coordinates.values())):
        return xr.Dataset(variables, coordinates, attributes)
    return short({**variables, **coordinates}, set(coordinates), {}, attributes, {})
