"""Searches whose every trial is a run of an ensemble: a threshold for each member, and the probability of a rare event."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from ._errors import SpecError
from ._model import Model

#: Stages of subset simulation: a probability below part^30 is given as zero.
_MOST_LEVELS = 30


def threshold(model: Model, name: str, between: Any, holds: Callable[[xr.Dataset], Any], *, within: float = 1e-9, **settings: Any) -> np.ndarray:
    """The value of a parameter, or initial value, at which a condition changes, for each member of an ensemble, by bisection of all at once.

    `between`: the two ends of the search, numbers or arrays by member. `holds(ds)`: the condition, for each instance of a run. The members
    are those of `zip=`, columns of equal length by name or a DataFrame; without it there is one. Other keywords are those of `run`.

    The result is NaN where the condition is the same at both ends. Elsewhere its error is at most `within` times their distance; of
    several changes it is one. Instances that fail have the condition that `holds` says, and `run` warns of them.
    """
    members = {key: np.asarray(column) for key, column in dict(settings.pop("zip", {})).items()}
    if name in members or name in settings:
        raise SpecError(f"threshold: {name} is searched for, and has values as well")
    low, high, *columns = np.broadcast_arrays(*(np.atleast_1d(np.asarray(end, float)) for end in between), *members.values())
    members = dict(zip(members, columns))
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise SpecError("threshold: the ends of the search must be finite numbers")

    def at(values: np.ndarray) -> np.ndarray:
        found = np.asarray(holds(model.run(zip={**members, name: values}, **settings)))
        if found.shape != values.shape:
            raise SpecError(f"threshold: holds(ds) must give a truth value for each of {values.size} instances; its shape is {found.shape}")
        return found.astype(bool)

    at_low = at(low)
    changes = at_low != at(high)
    low, high = low.copy(), high.copy()
    for _ in range(math.ceil(-math.log2(within))):
        middle = low + (high - low) / 2
        same = at(middle) == at_low
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.where(changes, low + (high - low) / 2, np.nan)


class RareEvent:
    """Result of `rare_event`.

    `probability`, and its standard `error`, from the estimates of the independent repeats, `estimates`; `runs`: instances that it took.
    """

    def __init__(self, estimates: np.ndarray, runs: int):
        self.estimates = estimates
        self.probability = float(estimates.mean())
        self.error = float(estimates.std(ddof=1) / math.sqrt(estimates.size)) if estimates.size > 1 else math.nan
        self.runs = runs

    def __repr__(self) -> str:
        return f"probability {self.probability:.3g} +- {self.error:.1g}, {self.runs} instances"


def rare_event(model: Model, inputs: Mapping[str, Any], severity: Callable[[xr.Dataset], Any], level: float, *, count: int = 1000,
               repeats: int = 10, part: float = 0.1, seed: int = 0, **settings: Any) -> RareEvent:
    """The probability that `severity(ds)` of an instance reaches `level`, where the inputs are random and independent: subset simulation.

    `inputs`: distributions by the name of a parameter or initial value, such as scipy.stats.norm(0, 1): anything with `ppf`. A stage has
    `count` instances. The next stage begins at the most severe `part` of them, and samples the inputs under the condition that severity is
    at least theirs. `repeats` independent estimates are made at once, for the error; one that has not reached `level` after 30 stages is
    zero. Other keywords are those of `run`. Raises SpecError where a severity is NaN, or the same for more than `part` of a stage.

    S.-K. Au, J. L. Beck, Probabilistic Engineering Mechanics 16 (2001) 263; conditional samples by I. Papaioannou, W. Betz,
    K. Zwirglmaier, D. Straub, Probabilistic Engineering Mechanics 41 (2015) 89.
    """
    from scipy.stats import norm

    kept = round(part * count)
    if not (0 < part <= 0.5 and kept >= 2 and count % kept == 0):
        raise SpecError(f"rare_event: part = {part} of count = {count} must be two instances or more, at most half, and a divisor of count")
    random, correlation = np.random.default_rng(seed), 0.8
    runs = 0

    def severities(normal: np.ndarray) -> np.ndarray:
        """Of points in normal coordinates, (any shape, inputs)."""
        nonlocal runs
        flat = normal.reshape(-1, len(inputs))
        columns = {name: of.ppf(norm.cdf(flat[:, i])) for i, (name, of) in enumerate(inputs.items())}
        found = np.asarray(severity(model.run(zip=columns, **settings)), float)
        runs += len(flat)
        if found.shape != (len(flat),) or np.isnan(found).any():
            raise SpecError(f"rare_event: severity(ds) must give a number for each of {len(flat)} instances; "
                            + (f"{int(np.isnan(found).sum())} are NaN" if found.shape == (len(flat),) else f"its shape is {found.shape}"))
        return found.reshape(normal.shape[:-1])

    points = random.standard_normal((repeats, count, len(inputs)))
    severe = severities(points)
    estimates, going, last = np.zeros(repeats), np.arange(repeats), np.full(repeats, -np.inf)
    for stage in range(_MOST_LEVELS):
        reached = (severe >= level).mean(axis=1)
        done = reached >= part
        estimates[going[done]] = part**stage * reached[done]
        points, severe, going, last = points[~done], severe[~done], going[~done], last[~done]
        if going.size == 0:
            break
        order = np.argsort(-severe, axis=1, kind="stable")[:, :kept]
        points, severe = np.take_along_axis(points, order[:, :, np.newaxis], 1), np.take_along_axis(severe, order, 1)
        bound = severe[:, -1:]
        if (bound[:, 0] <= last).any():
            raise SpecError(f"rare_event: more than {part:g} of the instances have the same severity, {bound[bound[:, 0] <= last][0, 0]:g}: it must "
                            "tell how near an instance is to the event")
        last = bound[:, 0]
        chains, of_chains = [points], [severe]
        for _ in range(count // kept - 1):
            moved = correlation * chains[-1] + math.sqrt(1 - correlation**2) * random.standard_normal(points.shape)
            there = severities(moved)
            stays = there < bound
            chains.append(np.where(stays[:, :, np.newaxis], chains[-1], moved))
            of_chains.append(np.where(stays, of_chains[-1], there))
        points, severe = np.concatenate(chains, axis=1), np.concatenate(of_chains, axis=1)
    return RareEvent(estimates, runs)
