"""Fits: parameters, errors and intervals against linear theory and against the numbers that made the data."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import saltus

MODELS = Path(__file__).resolve().parent.parent / "models"


@pytest.fixture(scope="module")
def decay():
    return saltus.model(MODELS / "decay.hpp")


@pytest.fixture(scope="module")
def dose():
    return saltus.builtin("pulsed_dose")


def measured(model, quantity, times, deviation=0.0, **settings):
    """Values of a run at some times, with noise of a known seed."""
    values = np.asarray(model.run(samples=list(times), t=float(times[-1]), rtol=1e-11, **settings)[quantity])
    return pd.DataFrame({"time": times, quantity: values + np.random.default_rng(3).normal(0, deviation, values.shape)})


def test_a_rate_and_a_start_are_found_through_impacts(ball):
    data = measured(ball, "height", np.linspace(0.1, 3, 40), restitution=0.83, height=1.3)
    fit = saltus.least_squares(ball, data, {"restitution": (0.5, 0.99), "initial.height": (0.5, 2)}, start={"initial.height": 1.2}, starts=16)
    assert fit.parameters["restitution"] == pytest.approx(0.83, abs=1e-9)
    assert fit.parameters["initial.height"] == pytest.approx(1.3, abs=1e-9)
    assert fit.cost < 1e-15 and len(fit.starts) == 16 and fit.starts["cost"].is_monotonic_increasing


def test_the_gradient_of_a_misfit_is_the_jacobian_times_the_residuals(ball):
    times, names = np.linspace(0.1, 2.9, 15), ["restitution", "initial.height"]
    data = pd.DataFrame({"height": np.cos(times), "velocity": np.sin(3 * times)}, index=times)
    data.iloc[3, 0] = np.nan  # a missing value
    settings = {"t": 3.0, "rtol": 1e-11, "restitution": 0.83, "height": 1.3}
    ds = ball.run(gradient={"of": {"misfit": 1}, "data": data, "parameters": names}, **settings)
    forward = ball.run(samples=times.tolist(), sensitivity={"parameters": names}, **settings)
    residuals = {x: np.nan_to_num(np.asarray(forward[x]).ravel() - data[x].to_numpy()) for x in data}
    assert float(ds["objective"]) == pytest.approx(0.5 * sum(np.sum(r**2) for r in residuals.values()), rel=1e-9)
    for name in names:
        expected = sum(r @ np.asarray(forward[f"d_{x}_d_{name.replace('.', '_')}"]).ravel() for x, r in residuals.items())
        assert float(ds[f"gradient_{name.replace('.', '_')}"]) == pytest.approx(expected, rel=1e-7)


# x = x_0 e^(-k t) at few times: normal equations by hand, and errors of linear theory at the minimum.
def test_errors_are_those_of_the_normal_equations(dose):
    times, deviation = np.linspace(1, 5.5, 10), 0.02
    settings = {"loading": 400.0, "t_loading": 0.5, "t_first": 100.0}
    data = measured(dose, "concentration", times, deviation, **settings)
    bounds = {"elimination": (0.01, 2.0), "volume": (5.0, 100.0)}
    fit = saltus.least_squares(dose, data, bounds, sigma=deviation, **settings)
    a, dose_time = 1.2, 0.5

    def bateman(k, v):
        s = times - dose_time
        return 400 / v * a / (a - k) * (np.exp(-k * s) - np.exp(-a * s))

    k, v = fit.parameters["elimination"], fit.parameters["volume"]
    d = 1e-6
    slopes = np.column_stack([(bateman(k + d, v) - bateman(k - d, v)) / (2 * d), (bateman(k, v + d) - bateman(k, v - d)) / (2 * d)]) / deviation
    residuals = (bateman(k, v) - data["concentration"]) / deviation
    assert np.abs(slopes.T @ residuals).max() < 1e-3 * np.linalg.norm(slopes)  # the gradient vanishes
    assert fit.cost == pytest.approx(0.5 * np.sum(residuals**2), rel=1e-6)
    covariance = np.linalg.inv(slopes.T @ slopes)
    assert np.allclose(fit.covariance, covariance, rtol=1e-4)
    assert fit.standard_errors["volume"] == pytest.approx(np.sqrt(covariance[1, 1]), rel=1e-4)
    low, high = fit.interval("elimination")
    assert low < k < high and (high - low) / 2 == pytest.approx(1.96 * fit.standard_errors["elimination"], rel=0.05)


def test_without_sigma_the_variance_is_that_of_the_residuals(dose):
    data = measured(dose, "concentration", np.linspace(1, 40, 60), 0.05)
    fit = saltus.least_squares(dose, data, {"elimination": (0.01, 2.0), "volume": (5.0, 100.0)}, log=["volume"])
    assert fit.variance == pytest.approx(2 * fit.cost / 58, rel=1e-12)
    weighted = saltus.least_squares(dose, data, {"elimination": (0.01, 2.0), "volume": (5.0, 100.0)}, sigma=np.sqrt(fit.variance))
    for name, error in fit.standard_errors.items():
        assert weighted.standard_errors[name] == pytest.approx(error, rel=1e-5)


def test_members_share_what_is_fitted_and_differ_in_conditions(dose):
    members = pd.DataFrame({"amount": [100.0, 250.0, 300.0]}, index=["a", "b", "c"])
    parts = []
    for member, amount in members["amount"].items():
        one = measured(dose, "concentration", np.linspace(7, 30 + amount / 100, 12), amount=amount, elimination=0.21)
        parts.append(one.assign(member=member, blood=np.nan))
    data = pd.concat(parts, ignore_index=True)
    fit = saltus.least_squares(dose, data, {"elimination": (0.01, 2.0)}, members=members, starts=8)
    assert fit.parameters["elimination"] == pytest.approx(0.21, abs=1e-8)
    assert set(fit.residuals["member"]) == {"a", "b", "c"} and len(fit.residuals) == 36
    assert fit.prediction.sizes["row"] == 3


def test_a_bound_holds(dose):
    data = measured(dose, "concentration", np.linspace(1, 40, 30), elimination=0.3)
    fit = saltus.least_squares(dose, data, {"elimination": (0.05, 0.25)}, starts=4)
    assert fit.parameters["elimination"] == pytest.approx(0.25, abs=1e-9)


# More parameters than a run has directions are taken in several runs.
def test_more_parameters_than_a_run_takes(monkeypatch):
    monkeypatch.setattr("saltus._fit._AT_ONCE", 2)
    harmonics = saltus.model(MODELS / "many_rates.hpp")
    settings = {"amplitude_0": 0.2, "amplitude_15": 0.4, "amplitude_39": 0.3}
    times = np.linspace(0.02, 3, 50)
    data = measured(harmonics, "sum", times, **settings)
    fit = saltus.least_squares(harmonics, data, list(settings), rtol=1e-10)
    for name, value in settings.items():
        assert fit.parameters[name] == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("arguments, message", [
    ({"parameters": {"eliminatoin": (0, 1)}}, "did you mean elimination"),
    ({"parameters": {"elimination": (1, 0)}}, "a lower bound must be below"),
    ({"parameters": {"elimination": 1}}, "a dict of bounds"),
    ({"parameters": []}, "at least one name"),
    ({"parameters": {"elimination": (0, 1)}, "log": ["elimination"]}, "needs bounds above 0"),
    ({"parameters": ["elimination"], "starts": 4}, "needs finite bounds"),
    ({"parameters": {"elimination": (0.5, 1)}, "start": {"elimination": 2.0}}, "not within its bounds"),
    ({"parameters": ["elimination"], "sigma": 0.0}, "must be above 0"),
    ({"parameters": ["elimination"], "samples": 5}, "is what a fit chooses"),
    ({"parameters": ["elimination"], "data": {"time": [1.0], "concentratoin": [1.0]}}, "did you mean concentration"),
    ({"parameters": ["elimination"], "data": {"time": [1.0], "blood": [np.nan]}}, "has no number"),
    ({"parameters": ["elimination"], "members": pd.DataFrame({"amount": [1.0]})}, "go together"),
])
def test_what_is_not_allowed_is_said(dose, arguments, message):
    given = {"data": {"time": [1.0, 2.0], "blood": [1.0, 2.0]}, **arguments}
    with pytest.raises(saltus.SpecError, match=message):
        saltus.least_squares(dose, **given)


def test_a_model_that_fails_everywhere_is_an_error(ball):
    data = {"time": [0.1, 2.0], "height": [1.0, 1.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(saltus.Error, match="fails at the starting point restitution = 0.9"):
            saltus.least_squares(ball, data, {"restitution": (0.5, 0.95)}, start={"restitution": 0.9}, max_steps=3)
