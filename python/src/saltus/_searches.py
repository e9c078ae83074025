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
#: Share of moves that are accepted where chains lose their memory fastest (Papaioannou et al., section 5.2).
_ACCEPTED = 0.44


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
    if not 0 < within < 1:
        raise SpecError("threshold: within must be above 0 and below 1, a part of the distance of the ends")
    low, high = (np.atleast_1d(np.asarray(end, float)) for end in between)
    count = np.broadcast_shapes(low.shape, high.shape, *(np.atleast_1d(column).shape[:1] for column in members.values()))
    low, high = np.broadcast_to(low, count), np.broadcast_to(high, count)
    # A column of a family has a row for each member.
    members = {key: np.broadcast_to(column, count + column.shape[1:]) for key, column in members.items()}
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
    at least theirs; of equal severities all count. `repeats` independent estimates are made at once, for the error; one that has not
    reached `level` after 30 stages is zero. Other keywords are those of `run`. Raises SpecError where a severity is NaN, or the same for all
    instances of a stage.

    S.-K. Au, J. L. Beck, Probabilistic Engineering Mechanics 16 (2001) 263; conditional samples, with moves adapted to their acceptance, by
    I. Papaioannou, W. Betz, K. Zwirglmaier, D. Straub, Probabilistic Engineering Mechanics 41 (2015) 89.
    """

    kept = round(part * count)
    if not (0 < part <= 0.5 and kept >= 2 and count % kept == 0):
        raise SpecError(f"rare_event: part = {part} of count = {count} must be two instances or more, at most half, and a divisor of count")
    random, runs = np.random.default_rng(seed), 0

    def severities(normal: np.ndarray) -> np.ndarray:
        """Of points in normal coordinates, (any shape, inputs)."""
        nonlocal runs
        flat = normal.reshape(-1, len(inputs))
        columns = {name: _from_normal(of, flat[:, i]) for i, (name, of) in enumerate(inputs.items())}
        found = np.asarray(severity(model.run(zip=columns, **settings)), float)
        runs += len(flat)
        if found.shape != (len(flat),) or np.isnan(found).any():
            raise SpecError(f"rare_event: severity(ds) must give a number for each of {len(flat)} instances; "
                            + (f"{int(np.isnan(found).sum())} are NaN" if found.shape == (len(flat),) else f"its shape is {found.shape}"))
        return found.reshape(normal.shape[:-1])

    points = random.standard_normal((repeats, count, len(inputs)))
    severe = severities(points)
    estimates, weight, going = np.zeros(repeats), np.ones(repeats), np.arange(repeats)
    spread = np.full(repeats, 0.6)  # of the moves of each repeat
    for _ in range(_MOST_LEVELS):
        reached = (severe >= level).mean(axis=1)
        done = reached >= part
        estimates[going[done]] = weight[going[done]] * reached[done]
        points, severe, going = points[~done], severe[~done], going[~done]
        if going.size == 0:
            break
        bound = np.array([[_bound(of, at, kept)] for of, at in zip(severe, points)])
        weight[going] *= (severe >= bound).mean(axis=1)
        chosen = np.array([_chosen(of, at[0], kept, random) for of, at in zip(severe, bound)])
        points, severe = np.take_along_axis(points, chosen[:, :, np.newaxis], 1), np.take_along_axis(severe, chosen, 1)
        chains, of_chains = [points], [severe]
        for move in range(1, count // kept):
            wide = spread[going][:, np.newaxis, np.newaxis]
            moved = np.sqrt(1 - wide**2) * chains[-1] + wide * random.standard_normal(points.shape)
            there = severities(moved)
            stays = there < bound
            chains.append(np.where(stays[:, :, np.newaxis], chains[-1], moved))
            of_chains.append(np.where(stays, of_chains[-1], there))
            accepted = 1 - stays.mean(axis=1)
            spread[going] = np.minimum(1.0, spread[going] * np.exp((accepted - _ACCEPTED) / math.sqrt(move)))
        points, severe = np.concatenate(chains, axis=1), np.concatenate(of_chains, axis=1)
    return RareEvent(estimates, runs)


def _from_normal(of: Any, z: np.ndarray) -> np.ndarray:
    """The values of a distribution with the probabilities of a standard normal at z, in both tails as accurate as the distribution is."""
    from scipy.stats import norm

    if not hasattr(of, "isf"):
        return np.asarray(of.ppf(np.minimum(norm.cdf(z), np.nextafter(1.0, 0.0))))
    return np.where(z > 0, of.isf(norm.sf(np.maximum(z, 0))), of.ppf(norm.cdf(np.minimum(z, 0))))


def _bound(severe: np.ndarray, points: np.ndarray, kept: int) -> float:
    """The severity that the `kept` most severe instances reach; the next higher one if more than half of all reach it."""
    bound = np.sort(severe)[-kept]
    if (severe >= bound).mean() > 0.5:
        higher = severe[severe > bound]
        copies = points[severe >= bound]
        if higher.size == 0 and (copies == copies[0]).all():
            return float(bound)  # most moves were refused: the next ones are shorter
        if higher.size == 0:
            raise SpecError(f"rare_event: {(severe >= bound).mean():.0%} of the instances have the same severity, {bound:g}, and none a higher "
                            "one: either the event cannot happen, or severity does not tell how near an instance is to it")
        bound = higher.min()
    return float(bound)


def _chosen(severe: np.ndarray, bound: float, kept: int, random: np.random.Generator) -> np.ndarray:
    """The numbers of `kept` instances that reach the bound, drawn if there are more, and again if there are fewer."""
    there = np.flatnonzero(severe >= bound)
    if there.size == kept:
        return there
    return random.choice(there, kept, replace=there.size < kept)
