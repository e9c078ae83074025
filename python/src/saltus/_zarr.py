"""Results as Zarr stores: arrays in chunks of instances, each a file or an object, from which readers take the parts that they need."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Optional, Union

import xarray as xr

from . import _core
from ._errors import SpecError


def to_zarr(result: Union[str, os.PathLike], store: Union[str, os.PathLike, None] = None, *, chunk: Optional[int] = None,
            replace: bool = False) -> Path:
    """Writes a result file, or the finished instances of a journal (`FILE.journal`), as the Zarr store that its run would have written.

    Variables, numbers and attributes are those of the file: `xarray.open_dataset(store)` has them, and `saltus.events(store)` the event
    log. `store`: a folder, `FILE.zarr` unless given. `chunk`: instances in a chunk, as `store_chunk` of a run. The store has its name
    when it is complete and on the disk. An existing store is refused; with `replace` it is replaced at the end. Memory does not grow
    with the result. Returns the store. Raises saltus.Error.
    """
    return Path(_core.to_zarr(os.fspath(Path(result).resolve()), os.fspath(store or ""), chunk, replace))


def events(store: Union[str, os.PathLike]) -> xr.Dataset:
    """The event log of a Zarr store, in the order of the instances: event_time(event) and the others.

    The rows of each chunk of instances are a group of their own, `event_log/<chunk>`; this function concatenates them. With dask the
    rows are read on access, without it at once. An unfinished store, `FILE.zarr.part`, gives the existing rows. Raises
    saltus.SpecError if the store has no event log.
    """
    log = Path(store) / "event_log"
    groups = sorted(file.parent for file in log.glob("*/zarr.json"))
    if not (log / "zarr.json").is_file():
        raise SpecError(f"{store}: is no Zarr store of a run with output.events")
    chunks = {} if importlib.util.find_spec("dask") else None
    parts = [xr.open_dataset(group, engine="zarr", chunks=chunks) for group in groups]
    return xr.concat(parts, dim="event", combine_attrs="override") if parts else xr.Dataset()
