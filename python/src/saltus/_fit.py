"""Least squares: parameters of a model from measurements, by exact derivatives, from many starting points in each run.

A trial of all starting points, and of all members of an experiment, is one run. Its Jacobian is that of [sensitivity], exact through
events. The search is Levenberg and Marquardt's with bounds, for all starting points at once: damping by H. B. Nielsen (Damping parameter
in Marquardt's method, DTU 1999), scaling by J. J. More (Lecture Notes in Mathematics 630 (1978) 105). SciPy's `least_squares` makes the
best of them final.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np
import xarray as xr

from . import _core
from ._errors import Error, SpecError
from ._model import Model
from ._settings import is_table

#: Derivatives of a run (host/spec/read_sensitivity.cpp); more are taken in several.
_AT_ONCE = 64
_INITIAL = "initial."


class Fit:
    """Result of `least_squares`.

    `parameters`, `standard_errors`: numbers by name. `covariance`: their matrix, in the order of `parameters`. Without `sigma` it is
    scaled by `variance`, the sum of squares over the degrees of freedom. `cost`: half the sum of squares of the weighted residuals.
    `residuals`: (model - data) / sigma, by time, member and column. `prediction`: a run with the final parameters. `starts`: the end of
    the search from each starting point, with its cost and the number of its iterations, the best first. `message`: SciPy's words about
    the end of the search.
    """

    def __init__(self, problem: "_Problem", found: Any, starts: Any):
        self._problem = problem
        self.parameters: dict[str, float] = dict(zip(problem.names, problem.outward(found.x)))
        self.cost = float(found.cost)
        self.message: str = found.message
        self.starts = starts
        residuals, jacobian = problem.evaluate(found.x[np.newaxis])
        self.residuals = problem.residuals(residuals[0])
        free = problem.count - len(problem.names)
        self.variance = 2 * self.cost / free if free > 0 and not problem.has_sigma else 1.0
        slopes = jacobian[0] / problem.outward_rates(found.x)
        self.covariance = self.variance * np.linalg.pinv(slopes.T @ slopes)
        self.standard_errors: dict[str, float] = dict(zip(problem.names, np.sqrt(np.diag(self.covariance))))
        self._at = found.x

    @property
    def prediction(self) -> xr.Dataset:
        """The run with the final parameters: one instance for each member, at the times of the data."""
        return self._problem.run(self._at[np.newaxis], [])

    def profile(self, name: str, points: int = 21, width: float = 4.0) -> Any:
        """Profile likelihood of a parameter: a DataFrame of its values, `ratio`, and the other parameters, which are fitted anew.

        The values span `width` standard errors to both sides, within the bounds. `ratio` is twice the rise of the negative
        log-likelihood, (sum of squares - its minimum) / variance: below 3.84 within the interval of 95 % confidence.
        """
        import pandas as pd

        problem = self._problem
        k = problem.index_of(name)
        at, error = self.parameters[name], self.standard_errors[name]
        values = np.linspace(max(at - width * error, problem.low[k]), min(at + width * error, problem.high[k]), points)
        begin = np.repeat(self._at[np.newaxis], points, axis=0)
        begin[:, k] = problem.inward_of(k, values)
        ends, costs, _ = search(problem, begin, fixed=[k])
        columns = {one: problem.outward(ends)[:, j] for j, one in enumerate(problem.names)}
        columns[name] = values
        return pd.DataFrame({name: values, "ratio": 2 * (costs - self.cost) / self.variance, **columns})

    def interval(self, name: str, level: float = 0.95) -> "tuple[float, float]":
        """Interval of confidence of a parameter by its profile; an end beyond the profile, or beyond the bounds, is infinite."""
        from scipy.stats import chi2

        table = self.profile(name)
        threshold = float(chi2.ppf(level, 1))
        values, ratio, at = table[name].to_numpy(), table["ratio"].to_numpy(), self.parameters[name]

        def end(side: np.ndarray, none: float) -> float:
            beyond = np.flatnonzero(ratio[side] > threshold)
            if not len(beyond):
                return none
            outer = side[beyond[0]]
            inner = side[beyond[0] - 1] if beyond[0] else outer
            if inner == outer:
                return float(values[outer])
            # The root of the ratio is nearly linear in the parameter.
            a, b = np.sqrt(max(ratio[inner], 0.0)), np.sqrt(ratio[outer])
            return float(values[inner] + (np.sqrt(threshold) - a) / (b - a) * (values[outer] - values[inner]))

        return end(np.flatnonzero(values < at)[::-1], -np.inf), end(np.flatnonzero(values > at), np.inf)

    def __repr__(self) -> str:
        width = max(map(len, self.parameters))
        lines = [f"<saltus.Fit of {self._problem.model.name}: cost {self.cost:.6g}, {self._problem.count} values; {self.message}>"]
        lines += [f"  {name:<{width}}  {value:.8g} +- {self.standard_errors[name]:.2g}" for name, value in self.parameters.items()]
        return "\n".join(lines)


class _Problem:
    """Residuals of a model against data, as functions of its parameters in the scale of the search."""

    def __init__(self, model: Model, data: Any, parameters: Any, sigma: Any, members: Any, log: Iterable[str],
                 options: Mapping[str, Any]):
        self.model = model
        self._read_parameters(parameters)
        self.is_log = np.array([name in set(log) for name in self.names])
        for name in log:
            self.index_of(name)
        if (self.low[self.is_log] <= 0).any():
            raise SpecError("log: a logarithm needs bounds above 0: " + ", ".join(np.array(self.names)[self.is_log & (self.low <= 0)]))
        self._read_members(members)
        self._read_data(data)
        self._read_sigma(sigma)
        for key in ("samples", "sensitivity", "sweep", "zip", "sample", "rows", "count", "file"):
            if key in options:
                raise SpecError(f"{key}: is what a fit chooses: leave it out")
        self.options = {"rtol": 1e-8, **options}
        if "t" not in self.options:
            self.options["t"] = float(self.times[-1])

    # ---- what is given

    def _read_parameters(self, parameters: Any) -> None:
        given = dict(parameters) if isinstance(parameters, Mapping) else {str(name): (-np.inf, np.inf) for name in parameters}
        if not given:
            raise SpecError("parameters: must have at least one name")
        self.names = [str(name) for name in given]
        for name in self.names:
            known = list(self.model.parameters) + [_INITIAL + state for state in self.model.states]
            if name not in known:
                raise SpecError(f"parameters: {name} is neither a parameter nor an initial value; {_core.suggest(name, known)}")
        try:
            self.low, self.high = (np.array([float(pair[side]) for pair in given.values()]) for side in (0, 1))
        except (TypeError, ValueError, IndexError):
            raise SpecError("parameters: must be a list of names, or a dict of bounds, {name: (low, high)}") from None
        if not (self.low < self.high).all():
            raise SpecError("parameters: a lower bound must be below the upper one: " +
                            ", ".join(np.array(self.names)[~(self.low < self.high)]))

    def _read_members(self, members: Any) -> None:
        self.members: list[Any] = [None]
        self.conditions: dict[str, np.ndarray] = {}
        if members is None:
            return
        if not is_table(members) or not len(members):
            raise SpecError("members: must be a DataFrame with a row for each member; its index has the values of `member` in the data")
        self.members = list(members.index)
        for column in members.columns:
            if str(column) in self.names:
                raise SpecError(f"members: {column} is fitted: leave the column out")
            self.conditions[str(column)] = members[column].to_numpy(dtype=float)

    def _read_data(self, data: Any) -> None:
        import pandas as pd

        if isinstance(data, xr.Dataset):
            data = data.to_dataframe()
        table = pd.DataFrame(data)
        if "time" not in table.columns:
            table = table.rename_axis("time").reset_index() if table.index.nlevels == 1 else table.reset_index()
        known = {**self.model.states, **self.model.outputs}
        self.columns = [str(column) for column in table.columns if column not in ("time", "member")]
        for column in self.columns:
            if column not in known:
                raise SpecError(f"data: {column} is neither a state nor an output of {self.model.name}; "
                                f"{_core.suggest(column, list(known))}")
        if not self.columns:
            raise SpecError("data: must have a column `time`, or times as index, and a column for each state or output that was measured")
        if ("member" in table.columns) != (self.members != [None]):
            raise SpecError("data: a column `member` and the argument `members` go together")
        times = table["time"].to_numpy(dtype=float)
        if not np.isfinite(times).all():
            raise SpecError("data: a time is no finite number")
        rows = np.zeros(len(table), dtype=int)
        if "member" in table.columns:
            number = {one: k for k, one in enumerate(self.members)}
            unknown = [one for one in table["member"].unique() if one not in number]
            if unknown:
                raise SpecError(f"data: member {unknown[0]} has no row in `members`")
            rows = table["member"].map(number).to_numpy(dtype=int)
        values = table[self.columns].to_numpy(dtype=float)
        row, column = np.nonzero(np.isfinite(values))
        if not len(row):
            raise SpecError("data: has no number")
        self.times, at = np.unique(times, return_inverse=True)
        # The position of each value among [member][column][time].
        self._member, self._column, self._time = rows[row], column, at[row]
        self._values, self._rows, self.count = values[row, column], row, len(row)

    def _read_sigma(self, sigma: Any) -> None:
        self.has_sigma = sigma is not None
        per_column = sigma if isinstance(sigma, Mapping) else {column: 1.0 if sigma is None else sigma for column in self.columns}
        missing = [column for column in self.columns if column not in per_column]
        if missing:
            raise SpecError(f"sigma: has no value for {missing[0]}")
        self._sigma = np.empty(self.count)
        for k, column in enumerate(self.columns):
            mine = self._column == k
            given = np.asarray(per_column[column], dtype=float)
            self._sigma[mine] = given if given.ndim == 0 else given[self._rows[mine]]
        if not (self._sigma > 0).all():
            raise SpecError("sigma: must be above 0")

    # ---- the scale of the search

    def index_of(self, name: str) -> int:
        if name not in self.names:
            raise SpecError(f"{name}: is not fitted; {_core.suggest(name, self.names)}")
        return self.names.index(name)

    def inward(self, p: np.ndarray) -> np.ndarray:
        return np.where(self.is_log, np.log(np.where(self.is_log, p, 1.0)), p)

    def inward_of(self, k: int, values: np.ndarray) -> np.ndarray:
        return np.log(values) if self.is_log[k] else values

    def outward(self, x: np.ndarray) -> np.ndarray:
        """The parameters; exactly a bound where the search is at that bound."""
        p = np.where(self.is_log, np.exp(np.where(self.is_log, x, 0.0)), x)
        return np.clip(p, self.low, self.high)

    def outward_rates(self, x: np.ndarray) -> np.ndarray:
        return np.where(self.is_log, self.outward(x), 1.0)

    def bounds(self) -> "tuple[np.ndarray, np.ndarray]":
        return self.inward(self.low), self.inward(self.high)

    def start(self, given: Mapping[str, float]) -> np.ndarray:
        for name in given:
            self.index_of(str(name))
        values = []
        for name, low, high in zip(self.names, self.low, self.high):
            own = self.model.states[name.removeprefix(_INITIAL)] if name.startswith(_INITIAL) else self.model.parameters[name]
            value = float(given.get(name, own.value))
            if name not in given and not low <= value <= high:
                value = self._between(name, low, high)
            if not low <= value <= high:
                raise SpecError(f"start: {name} = {value:g} is not within its bounds, {low:g} to {high:g}")
            values.append(value)
        return self.inward(np.array(values))

    def _between(self, name: str, low: float, high: float) -> float:
        if not np.isfinite([low, high]).all():
            raise SpecError(f"start: {name} needs a value: the model's own is not within its bounds, {low:g} to {high:g}")
        return float(np.sqrt(low * high)) if self.is_log[self.index_of(name)] else 0.5 * (low + high)

    # ---- runs

    def run(self, x: np.ndarray, directions: Sequence[str]) -> xr.Dataset:
        """One run of all members at all points `x`, [point][parameter]: instances count the members of a point first."""
        points, members = len(x), len(self.members)
        columns = dict(zip(self.names, np.repeat(self.outward(x), members, axis=0).T))
        columns.update({name: np.tile(values, points) for name, values in self.conditions.items()})
        of = {"parameters": {}, "initial": {}}  # type: dict[str, dict[str, np.ndarray]]
        for name, values in columns.items():
            is_state = name.startswith(_INITIAL) or name in self.model.states or name in self.model.discretes
            of["initial" if is_state else "parameters"][name.removeprefix(_INITIAL)] = np.ascontiguousarray(values)
        together = {**of["parameters"], **of["initial"]}
        asked = {"sensitivity": {"parameters": list(directions)}} if directions else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.model.run(zip=together, samples=self.times.tolist(), allowed_failed=1.0, **asked, **self.options)

    def evaluate(self, x: np.ndarray) -> "tuple[np.ndarray, np.ndarray]":
        """Weighted residuals [point][value] and their derivatives [point][value][parameter]; infinite where an instance fails, or ends
        before the last measurement.

        A sample at the time of an event that moves has no derivative: it counts as 0 in the Jacobian, which only guides the search.
        """
        residuals = np.empty(0)
        jacobian = np.empty((len(x), self.count, len(self.names)))
        for first in range(0, len(self.names), _AT_ONCE):
            part = self.names[first:first + _AT_ONCE]
            ds = self.run(x, part)
            if not first:
                residuals = (self._taken(ds, "{}", len(x)) - self._values) / self._sigma
                ended = np.asarray(ds["ok"].values).reshape(len(x), len(self.members)).all(axis=1)
                residuals[~ended | ~np.isfinite(residuals).all(axis=1)] = np.inf
            for k, name in enumerate(part):
                slope = self._taken(ds, "d_{}_d_" + name.replace(".", "_"), len(x)) / self._sigma
                jacobian[:, :, first + k] = np.where(np.isfinite(slope), slope, 0.0)
        jacobian *= self.outward_rates(x)[:, np.newaxis, :]
        return residuals, jacobian

    def _taken(self, ds: xr.Dataset, name: str, points: int) -> np.ndarray:
        """The values of the data's columns where there is data: [point][value]."""
        shape = (points, len(self.members), len(self.times))
        all_of = np.stack([np.asarray(ds[name.format(column)].values).reshape(shape) for column in self.columns], axis=2)
        return all_of[:, self._member, self._column, self._time]

    def residuals(self, of: np.ndarray) -> Any:
        import pandas as pd

        index = {"time": self.times[self._time]}
        if self.members != [None]:
            index = {"member": np.array(self.members, dtype=object)[self._member], **index}
        return pd.DataFrame({**index, "quantity": np.array(self.columns)[self._column], "residual": of})


def search(problem: Any, begin: np.ndarray, fixed: Sequence[int] = (), most: int = 100) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """Levenberg and Marquardt's search from all points `begin` at once: their ends, costs and numbers of iterations.

    A parameter at a bound that the descent would cross stays there for the iteration, as does one in `fixed`. A search ends where a step
    changes no parameter by more than 1e-8 of its size, or an accepted one the cost by less than 1e-10 of it.
    """
    low, high = problem.bounds()
    x = np.clip(begin, low, high)
    count, width = x.shape
    residuals, jacobian = problem.evaluate(x)
    cost = 0.5 * np.sum(residuals**2, axis=1)
    scale = np.zeros((count, width))
    damping, growth = np.full(count, 1e-3), np.full(count, 2.0)
    iterations = np.zeros(count, dtype=int)
    alive = np.isfinite(cost)
    for _ in range(most):
        if not alive.any():
            break
        on = np.flatnonzero(alive)
        j, r = jacobian[on], residuals[on]
        gradient = np.einsum("nmk,nm->nk", j, r)
        normal = np.einsum("nmk,nml->nkl", j, j)
        scale[on] = np.maximum(scale[on], np.einsum("nkk->nk", normal))
        stays = ((x[on] <= low) & (gradient > 0)) | ((x[on] >= high) & (gradient < 0)) | (scale[on] == 0)
        stays[:, list(fixed)] = True
        matrix = normal + (damping[on, np.newaxis] * scale[on])[:, :, np.newaxis] * np.eye(width)
        matrix = np.where(stays[:, :, np.newaxis] | stays[:, np.newaxis, :], np.eye(width), matrix)
        step = np.linalg.solve(matrix, np.where(stays, 0.0, -gradient)[:, :, np.newaxis])[:, :, 0]
        tried = np.clip(x[on] + step, low, high)
        step = tried - x[on]
        small = (np.abs(step) <= 1e-8 * (np.abs(x[on]) + 1e-8)).all(axis=1)
        expected = -np.einsum("nk,nk->n", gradient, step) - 0.5 * np.einsum("nk,nkl,nl->n", step, normal, step)
        new_residuals, new_jacobian = problem.evaluate(tried)
        new_cost = 0.5 * np.sum(new_residuals**2, axis=1)
        iterations[on] += 1
        better = new_cost < cost[on]
        fall = np.where(better, cost[on] - new_cost, 0.0)
        hoped = np.maximum(expected, fall)  # so that the gain is at most 1
        gain = fall / np.where(hoped > 0, hoped, 1.0)
        settled = small | (better & (fall <= 1e-10 * cost[on]))
        damping[on] *= np.where(better, np.maximum(1 / 3, 1 - (2 * gain - 1) ** 3), growth[on])
        growth[on] = np.where(better, 2.0, 2 * growth[on])
        took = on[better]
        x[took], cost[took] = tried[better], new_cost[better]
        residuals[took], jacobian[took] = new_residuals[better], new_jacobian[better]
        alive[on] = ~settled & (damping[on] < 1e12)
    return x, cost, iterations


def least_squares(model: Model, data: Any, parameters: Union[Mapping[str, Any], Iterable[str]], *, start: Optional[Mapping[str, float]] = None,
                  starts: int = 1, log: Iterable[str] = (), sigma: Any = None, members: Any = None, seed: int = 0,
                  **options: Any) -> Fit:
    """Fits parameters and initial values of a model to measurements; returns a `Fit`.

    `data`: a DataFrame, or what makes one, with a column `time` (or times as index) and columns that have the names of states and
    outputs; a missing value is NaN. `parameters`: names with bounds, `{"k": (0, 10), "initial.x": (0, 1)}`, or names alone. `start`:
    where the search begins; elsewhere the model's own value, or the middle of the bounds. `starts`: number of starting points; those
    after the first are a Sobol sequence within the bounds, which must be finite, with the scramble `seed`. All are searched in the same
    runs. `log`: names to search in their logarithm. `sigma`: standard deviation of the data: a number, or by column a number or as many
    as there are rows; without it all weights are 1. `members`: a DataFrame of the settings in which the members of the experiment
    differ, parameters or initial values as columns; the data then has a column `member` with values of its index. `options`: keywords of
    Model.run, such as `method`, `rtol` (1e-8) or `t`.

    Raises SpecError for what is not allowed, and Error if the model fails at every starting point.
    """
    try:
        from scipy import optimize
        from scipy.stats import qmc
    except ImportError:
        raise Error("least_squares needs SciPy: pip install scipy") from None
    import pandas as pd

    problem = _Problem(model, data, parameters, sigma, members, list(log), options)
    low, high = problem.bounds()
    begin = problem.start(dict(start or {}))[np.newaxis]
    if starts > 1:
        if not (np.isfinite(low) & np.isfinite(high)).all():
            raise SpecError("starts: more than one starting point needs finite bounds of all parameters")
        sequence = qmc.Sobol(len(problem.names), seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a number of points that is no power of two
            begin = np.vstack([begin, low + (high - low) * sequence.random(starts - 1)])
    ends, costs, iterations = search(problem, begin) if starts > 1 else (begin, np.zeros(1), np.zeros(1, dtype=int))
    order = np.argsort(costs, kind="stable")
    if starts > 1 and not np.isfinite(costs[order[0]]):
        raise Error(f"the model fails at all {starts} starting points; run it there to see how")
    kept: dict[bytes, Any] = {}

    def at(x: np.ndarray) -> Any:
        if x.tobytes() not in kept:
            kept.clear()
            kept[x.tobytes()] = problem.evaluate(x[np.newaxis])
        return kept[x.tobytes()]

    best = ends[order[0]]
    if not np.isfinite(at(best)[0]).all():
        raise Error("the model fails at the starting point " +
                    ", ".join(f"{name} = {value:g}" for name, value in zip(problem.names, problem.outward(best))))
    found = optimize.least_squares(lambda x: at(x)[0][0], best, jac=lambda x: at(x)[1][0], bounds=(low, high), x_scale="jac",
                                   ftol=1e-12, xtol=1e-12, gtol=1e-12)
    if starts == 1:
        ends, costs, iterations = found.x[np.newaxis], np.array([found.cost]), np.array([found.nfev])
    table = pd.DataFrame({**dict(zip(problem.names, problem.outward(ends[order]).T)), "cost": costs[order], "iterations": iterations[order]})
    return Fit(problem, found, table)
