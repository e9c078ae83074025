"""Families in a Dataset: one variable with a dimension instead of a variable for each member."""

from __future__ import annotations

import re

import numpy as np
import xarray as xr

#: What stands before the name of a state, output or input in the name of a variable.
BEFORE = ("final", "initial", "before", "event", "table", "knot", "record", "d")
_MEMBER = re.compile(r"(.*\w)_(0|[1-9]\d*)(\W*)")
_DIMENSION = "member_of_"


def joined(ds: xr.Dataset) -> xr.Dataset:
    """The Dataset with theta(member_of_theta) instead of theta_0, theta_1, ...; so too final_theta, max(theta) and the others. Members that
    differ in dimensions, type or unit stay single, and so do those of which some are missing."""
    found: dict[str, dict[int, str]] = {}
    for name in map(str, ds.variables):
        if (match := _MEMBER.fullmatch(name)) and name not in ds.dims:
            found.setdefault(match[1] + match[3], {})[int(match[2])] = name
    whole = {name: [of[k] for k in range(len(of))] for name, of in found.items()
             if len(of) > 1 and max(of) == len(of) - 1 and name not in ds.variables and _are_alike([ds[one] for one in of.values()])}
    sizes: dict[str, int] = {}
    for name, members in whole.items():
        sizes[_dimension(name)] = max(sizes.get(_dimension(name), 0), len(members))
    made, single, coordinates = {}, [], []
    for name, members in whole.items():
        dimension = _dimension(name)
        if len(members) < sizes[dimension]:  # as max(theta_0) and max(theta_1) of 32
            continue
        together = xr.Variable.concat([ds[one].variable for one in members], dimension, combine_attrs="drop_conflicts")
        made[name] = together.transpose(..., dimension)
        single += members
        coordinates += [name] if members[0] in ds.coords else []
    numbers = {dimension: np.arange(size) for dimension, size in sizes.items()}
    return ds.drop_vars(single).assign(made).set_coords(coordinates).assign_coords(numbers) if made else ds


def apart(ds: xr.Dataset) -> xr.Dataset:
    """The Dataset with single members again: the inverse of `joined`."""
    whole = {str(name): v for name, v in ds.variables.items() if v.dims and str(v.dims[-1]).startswith(_DIMENSION) and name not in ds.dims}
    if not whole:
        return ds
    single = {re.sub(r"(\W*)$", rf"_{k}\1", name, count=1): v[..., k] for name, v in whole.items() for k in range(v.shape[-1])}
    coordinates = [re.sub(r"(\W*)$", rf"_{k}\1", name, count=1) for name, v in whole.items() if name in ds.coords for k in range(v.shape[-1])]
    gone = [*whole, *(dim for dim in {v.dims[-1] for v in whole.values()} if dim in ds.coords)]
    return ds.drop_vars(gone).assign(single).set_coords(coordinates)


def _are_alike(members: "list[xr.DataArray]") -> bool:
    return len({(one.dims, one.dtype, one.attrs.get("units"), one.attrs.get("role")) for one in members}) == 1


def _dimension(name: str) -> str:
    """The dimension of a variable such as final_theta or max(theta)."""
    start = re.compile(rf"(?:.*\W)?(?:(?:{'|'.join(BEFORE)})_)?(\w+)\W*")
    match = start.fullmatch(name)
    return _DIMENSION + (match[1] if match else name)
