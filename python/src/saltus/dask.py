"""One ensemble on the workers of a Dask cluster.

    from dask.distributed import Client
    import saltus, saltus.dask

    client = Client("scheduler:8786")
    ds = saltus.dask.run(client, saltus.builtin("relief_valve"), file="/shared/valve.nc", count=1_000_000,
                         flow={"uniform": [2, 6]})
    ds["final_lift"].mean().compute()

Results travel through files, in a folder that client and workers share, so results of a worker that dies are kept. Each task
integrates a part of the instances into the journal of `file` (docs/spec.md), and the last one makes `file` from it. A part that was
cut short continues, and so does the whole run when it is started again.
"""

from __future__ import annotations

import os
import pickle
import warnings
from typing import TYPE_CHECKING, Any, Optional, Union

import xarray as xr

from . import _core
from ._errors import SpecError
from ._model import Model, warn_if_incomplete

if TYPE_CHECKING:
    from distributed import Client


def run(client: "Client", what: Union[Model, str, os.PathLike], *, file: Union[str, os.PathLike], parts: Optional[int] = None,
        replace: bool = False, retries: int = 3, **options: Any) -> xr.Dataset:
    """Runs a model, or a spec, with keywords of `Model.run`, and returns its result, which is read from `file` on access.

    `file` and the model's header, or the spec, must have the same path on all workers. `parts`: number of tasks, by default four
    for each thread of the cluster. A task takes one thread unless `threads` is given. A task whose worker dies starts again on
    another worker; after an error of its own, up to `retries` times. The numbers have the bits of `Model.run`, and the dimensions of
    the file: `instance`, `time`, `event`. Raises saltus.Error, if possible before anything is sent.
    """
    file = os.path.abspath(os.fspath(file))
    if _core.python_reader(file) != "xarray.open_dataset":
        raise SpecError(f"file = {file!r}: must be a NetCDF file or a Zarr store, from which the result is read")
    header, spec = (str(what.header), None) if isinstance(what, Model) else (None, os.path.abspath(os.fspath(what)))
    task = {"header": header, "spec": spec, "file": file, "replace": replace, "options": {"threads": 1, **options}}
    plan = _plan(task)
    _core.check(plan, replace)
    threads = sum(client.nthreads().values())
    count = parts if parts is not None else max(1, min(4 * threads, plan.count))
    # Swept arrays may be large: they go to the workers once, as the result of a task, which is made again if its worker dies.
    # (Scattered data is lost with its worker.)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        held = client.submit(_unpacked, pickle.dumps(task), pure=False, retries=retries)
    futures = client.map(_part, [f"{k}/{count}" for k in range(1, count + 1)], [held] * count, pure=False, retries=retries)
    made = client.submit(_gather, held, futures, pure=False, retries=retries)
    try:
        made.result()
    except BaseException:
        client.cancel([made, *futures, held])
        raise
    result = xr.open_dataset(file, chunks={})
    warn_if_incomplete(plan, result, stacklevel=3)
    return result


def _plan(task: "dict[str, Any]") -> Any:
    header, spec = task["header"], task["spec"]
    model = Model(header if header is not None else _core.model_of(spec))
    kind, what = ("model", header) if header is not None else ("file", spec)
    return model._plan(kind, what, task["options"], task["file"])


def _unpacked(task: bytes) -> "dict[str, Any]":
    return pickle.loads(task)


def _part(part: str, task: "dict[str, Any]") -> int:
    """The number of instances of the part that are now in the journal."""
    return 0 if os.path.exists(task["file"]) and not task["replace"] else _core.run_part(_plan(task), part)


def _gather(task: "dict[str, Any]", parts: "list[int]") -> str:
    is_made = os.path.exists(task["file"]) and not os.path.exists(task["file"] + ".journal")  # a Zarr store is completed by its last part
    if not is_made and (sum(parts) > 0 or not os.path.exists(task["file"])):
        _core.gather(_plan(task), task["replace"])
    return task["file"]
