"""Results as Zarr stores: arrays in chunks of instances, each a file or an object, from which readers take the parts that they need."""

from __future__ import annotations

import base64
import importlib.util
import os
import secrets
import shutil
import struct
import tempfile
import warnings
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
import xarray as xr

from . import _core
from ._errors import Error, SpecError

_CHUNK_BYTES = 1 << 24


def to_zarr(result: Union[str, os.PathLike], store: Union[str, os.PathLike, None] = None, *, chunk: Optional[int] = None,
            replace: bool = False) -> Path:
    """Writes a result file, or the finished instances of a journal (`FILE.journal`), as a Zarr store (format 3).

    Variables, numbers and attributes are those of the file; `xarray.open_dataset(store)` has them. `store`: a folder, `FILE.zarr`
    unless given. `chunk`: instances in a chunk, and rows of the event log; by default as many as make 16 MiB of each variable. The
    store has its name when it is complete and on the disk. An existing store is refused; with `replace` it is replaced at the end.
    Memory does not grow with the result. Returns the store. Raises saltus.Error.
    """
    source = Path(result).resolve()
    is_journal = source.is_dir() and source.suffix == ".journal"
    _core.must_be_read_here(str(result))
    to = Path(store) if store is not None else (source.with_suffix("") if is_journal else source).with_suffix(".zarr")
    if chunk is not None and chunk < 1:
        raise SpecError(f"chunk = {chunk}: must be a number of instances, 1 or more")
    if to.exists() and not replace:
        raise SpecError(f"{to}: it exists; replace=True (--force) replaces it, another name leaves it")
    if to.exists() and not (to.is_dir() and (to / "zarr.json").is_file()):
        raise SpecError(f"{to}: is no Zarr store, and is left as it is")
    # A temporary name in the same folder, so that it can be renamed; the remains of a killed process block nobody.
    made = to.absolute().parent / f"{to.name}.{secrets.token_hex(4)}.part"
    made.mkdir()
    try:
        with tempfile.TemporaryDirectory(dir=made.parent) as folder:
            if is_journal:
                _core.so_far(str(source), os.path.join(folder, "so_far.nc"))
                source = Path(folder) / "so_far.nc"
            _copy(source, made, chunk)
        _on_disk(made)
        _take_place(made, to)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return to


def events(store: Union[str, os.PathLike]) -> xr.Dataset:
    """The event log of a Zarr store that a run has written, in the order of the instances: event_time(event) and the others.

    The rows of each chunk of instances are a group of their own, `event_log/<chunk>`; this function concatenates them. With dask the
    rows are read on access, without it at once. An unfinished store, `FILE.zarr.part`, gives the existing rows. Raises
    saltus.SpecError if the store has no event log.
    """
    log = Path(store) / "event_log"
    groups = sorted(file.parent for file in log.glob("*/zarr.json"))
    if not (log / "zarr.json").is_file():
        raise SpecError(f"{store}: is no Zarr store of a run with output.events; of a store that saltus zarr made, "
                        "xarray.open_dataset has the event log")
    parts = [xr.open_dataset(group, engine="zarr", chunks={} if _has_dask() else None) for group in groups]
    return xr.concat(parts, dim="event", combine_attrs="override") if parts else xr.Dataset()


def _has_dask() -> bool:
    return importlib.util.find_spec("dask") is not None


def _copy(file: Path, folder: Path, chunk: Optional[int]) -> None:
    try:
        import zarr
        make = zarr.create_group
    except (ImportError, AttributeError):
        raise Error("Zarr stores are written by zarr 3 or later, with Python 3.11 or later: pip install 'zarr>=3'") from None
    with xr.open_dataset(file, decode_cf=False, cache=False) as ds:
        if "model_hash" not in ds.attrs:
            raise SpecError(f"{file}: is no result of saltus: it does not say what model it is of")
        group = make(folder, attributes=_plain(ds.attrs), zarr_format=3, overwrite=True)
        for name, variable in ds.variables.items():
            _copy_variable(group, str(name), variable, chunk)
    with warnings.catch_warnings():  # a warning that other programs may not know consolidated metadata; they read the store without it
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(folder)


def _copy_variable(group: Any, name: str, variable: xr.Variable, chunk: Optional[int]) -> None:
    is_text = variable.dtype.kind in "OUS"
    width = int(np.prod(variable.shape[1:])) * (1 if is_text else variable.dtype.itemsize)
    rows = max(1, _CHUNK_BYTES // max(width, 1))
    if chunk is not None and variable.dims[:1] == ("instance",):
        rows = chunk
    rows = min(rows, max(variable.shape[0], 1)) if variable.ndim else 1
    array = group.create_array(name, shape=variable.shape, dtype=str if is_text else variable.dtype,
                               chunks=(rows, *(max(n, 1) for n in variable.shape[1:])) if variable.ndim else (),
                               dimension_names=[str(one) for one in variable.dims], attributes=_plain(variable.attrs))
    if not variable.ndim:
        array[...] = variable.values
    for first in range(0, variable.shape[0] if variable.ndim else 0, rows):
        some = variable[first : first + rows].values
        array[first : first + rows] = some.astype(str) if is_text else some


def _plain(attributes: "dict[Any, Any]") -> "dict[str, Any]":
    """Attributes as JSON values; a missing value that is no whole number has xarray's encoding for Zarr."""
    plain = {str(key): value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value for key, value in attributes.items()}
    missing = plain.get("_FillValue")
    if isinstance(missing, float):
        plain["_FillValue"] = base64.standard_b64encode(struct.pack("<d", missing)).decode()
    return plain


def _on_disk(folder: Path) -> None:
    for path, _, names in os.walk(folder):
        for name in (*names, "."):
            descriptor = os.open(os.path.join(path, name), os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _take_place(made: Path, to: Path) -> None:
    """Renames a store to its final name. An existing folder cannot be replaced in one step: it moves away, and back on failure."""
    away = Path(f"{made}.old")
    if to.exists():
        os.rename(to, away)
    try:
        os.rename(made, to)
    except OSError:
        if away.exists():
            os.rename(away, to)
        raise
    shutil.rmtree(away, ignore_errors=True)

