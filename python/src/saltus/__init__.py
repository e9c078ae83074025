"""saltus: ensembles of ODEs and DAEs with events.

    import numpy as np, saltus

    valve = saltus.builtin("relief_valve")
    ds = valve.run(flow=np.linspace(2, 6, 100), samples=200, events=True, reduce=["max(pressure)"])
    ds["max(pressure)"].plot()
"""

from __future__ import annotations

from . import _accessor, _core
from ._errors import DeviceError, Error, IncompleteWarning, ModelError, SpecError
from ._fit import Fit, least_squares
from ._model import Guard, Model, Quantity, TimeEvent, builtin, model, run, so_far
from ._model import names as list  # noqa: A001
from ._sbml import sbml
from ._searches import RareEvent, rare_event, threshold
from ._symbolic import Symbolic
from ._zarr import events, to_zarr

__version__ = _core.version()
__all__ = ["DeviceError", "Error", "Fit", "Guard", "IncompleteWarning", "Model", "ModelError", "Quantity", "RareEvent", "SpecError", "Symbolic",
           "TimeEvent", "builtin", "events", "least_squares", "list", "model", "rare_event", "run", "sbml", "so_far", "threshold", "to_zarr"]
