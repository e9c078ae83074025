"""SALib's problems: its dicts of names, bounds and distributions, as distributions of a spec.

Their numbers are those of SALib 1.6 (SALib.util.scale_samples), https://salib.readthedocs.io.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._errors import SpecError


def _triangular(low: float, high: float, peak: float) -> "dict[str, Any]":
    return {"triangular": [low, low + peak * (high - low), high]}


#: SALib's words with their numbers of values and the entries of a spec.
_DISTRIBUTIONS = {
    "unif": (2, lambda low, high: {"uniform": [low, high]}),
    "logunif": (2, lambda low, high: {"log_uniform": [low, high]}),
    "triang": (3, _triangular),
    "norm": (2, lambda mean, deviation: {"normal": [mean, deviation]}),
    "truncnorm": (4, lambda low, high, mean, deviation: {"normal": [mean, deviation], "min": low, "max": high}),
    "lognorm": (2, lambda mean, deviation: {"lognormal": [mean, deviation]}),
    "weibull": (2, lambda shape, scale: {"weibull": [shape, scale]}),
}


def distributions(problem: "Mapping[str, Any]") -> "dict[str, dict[str, Any]]":
    """The distribution of each input of a problem. Raises SpecError for one that does not exist here, or has wrong numbers."""
    if not isinstance(problem, (Mapping, dict)) or not {"names", "bounds"} <= set(problem):
        raise SpecError("problem: must be one of SALib's, a dict with names and bounds")
    names: Sequence[str] = list(problem["names"])
    bounds: Sequence[Sequence[float]] = list(problem["bounds"])
    kinds: Sequence[str] = list(problem.get("dists") or ["unif"] * len(names))
    count = int(problem.get("num_vars", len(names)))
    if not len(names) == len(bounds) == len(kinds) == count:
        raise SpecError(f"problem: has num_vars = {count}, {len(names)} names, {len(bounds)} bounds and {len(kinds)} dists, which must be "
                        "as many")
    groups = problem.get("groups")
    if groups and list(groups) != names:
        raise SpecError("problem: groups of inputs have no indices here; leave them out, and each input has its own")
    return {str(name): _distribution(str(name), str(kind), [float(b) for b in bound]) for name, bound, kind in zip(names, bounds, kinds)}


def _distribution(name: str, kind: str, numbers: "list[float]") -> "dict[str, Any]":
    if kind not in _DISTRIBUTIONS:
        raise SpecError(f"problem: dists: {kind} of {name}: unknown distribution; {_core.suggest(kind, list(_DISTRIBUTIONS))}")
    arity, made = _DISTRIBUTIONS[kind]
    if len(numbers) != arity:
        raise SpecError(f"problem: bounds of {name}: {kind} must have {arity} numbers, and has {len(numbers)}")
    return made(*numbers)
