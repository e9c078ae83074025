"""Thresholds and probabilities of rare events against closed forms."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm, uniform

import saltus


# A ball from height h loses its speed by e at each bounce: the first rebound rises to e^2 h, so it reaches a metre from e = 1 / sqrt(h) on.
def test_a_threshold_for_each_member(ball):
    h = np.linspace(1.5, 3, 40)
    found = saltus.threshold(ball, "restitution", (0.2, 0.99), lambda ds: ds["max(velocity)"] >= np.sqrt(2 * 9.81), zip={"height": h},
                             reduce=["max(velocity)"], rtol=1e-10, t=(0, 1.5))
    assert found == pytest.approx(1 / np.sqrt(h), abs=1e-8)


def test_a_threshold_that_is_not_there_is_nan(ball):
    found = saltus.threshold(ball, "restitution", (0.2, [0.5, 0.99]), lambda ds: ds["max(velocity)"] >= np.sqrt(2 * 9.81), zip={"height": [2, 2]},
                             reduce=["max(velocity)"], t=(0, 1.2), within=1e-3)
    assert np.isnan(found[0]) and found[1] == pytest.approx(np.sqrt(0.5), abs=1e-3)


# y = start exp(-sum over k of rate_k integral of cos(k t / 10)).
def test_a_threshold_for_members_of_a_family():
    decay = saltus.model(Path(__file__).resolve().parent.parent / "models" / "hundred_rates.hpp")
    rates = np.random.default_rng(0).uniform(0, 0.02, (5, 100))
    integrals = np.append(3.0, np.sin(0.3 * np.arange(1, 100)) / (0.1 * np.arange(1, 100)))
    found = saltus.threshold(decay, "start", (0.1, 50), lambda ds: ds["final_y"] >= 1, zip={"rate": rates}, rtol=1e-10)
    assert found == pytest.approx(np.exp(rates @ integrals), rel=1e-7)


def test_a_threshold_says_what_is_wrong(ball):
    with pytest.raises(saltus.SpecError, match="within must be above 0"):
        saltus.threshold(ball, "restitution", (0, 1), lambda ds: ds["ok"], within=0)
    with pytest.raises(saltus.SpecError, match="restitution is searched for, and has values as well"):
        saltus.threshold(ball, "restitution", (0, 1), lambda ds: ds["ok"], restitution=0.5)
    with pytest.raises(saltus.SpecError, match="a truth value for each of 2 instances; its shape is ()"):
        saltus.threshold(ball, "restitution", (0, 1), lambda ds: True, zip={"height": [1, 2]}, t=(0, 0.1))
    with pytest.raises(saltus.SpecError, match="must be finite"):
        saltus.threshold(ball, "restitution", (0, np.inf), lambda ds: ds["ok"])


# A ball thrown upwards in a vacuum: v and g are random, and its highest point is v^2 / 2 g above the start.
def test_a_rare_event(ball):
    # With v = 3 + u and g = 10 exactly, v^2 / 20 >= 2.5 where u >= sqrt(50) - 3: 2.3e-5.
    exact = norm.sf(np.sqrt(50) - 3)
    found = saltus.rare_event(ball, {"velocity": norm(3, 1)}, lambda ds: ds["max(height)"], 1 + 2.5, gravity=10.0, height=1.0, t=(0, 1),
                              reduce=["max(height)"], count=1000, repeats=20, seed=1)
    assert found.error < 0.15 * exact and abs(found.probability - exact) < 3 * found.error
    assert len(found.estimates) == 20 and found.runs < 20 * 6000
    assert "instances" in repr(found)


def test_a_frequent_event_needs_one_stage(ball):
    found = saltus.rare_event(ball, {"height": uniform(1, 1)}, lambda ds: ds["initial_height"], 1.75, t=(0, 0.1), count=500, repeats=8)
    assert found.probability == pytest.approx(0.25, abs=0.03) and found.runs == 4000


# Steps of half a metre, and nothing below 2.1 m: most instances of a stage have the same severity.
@pytest.mark.parametrize("severity, level", [(lambda h: np.floor(2 * h), 8), (lambda h: np.maximum(h, 2.1), 4)])
def test_a_rare_event_with_equal_severities(ball, severity, level):
    exact = norm.sf(np.sqrt(60) - 3)  # v^2 / 20 > 3
    found = saltus.rare_event(ball, {"velocity": norm(3, 1)}, lambda ds: severity(ds["max(height)"]), level, gravity=10.0, height=1.0,
                              t=(0, 1), reduce=["max(height)"])
    assert abs(found.probability - exact) < 4 * found.error and found.error < 0.4 * exact


@pytest.mark.parametrize("sign", [1, -1])
def test_a_rare_event_far_out_in_a_tail(ball, sign):
    found = saltus.rare_event(ball, {"velocity": norm(0, 1)}, lambda ds: sign * ds["initial_velocity"], 9, t=(0, 1e-3))
    assert norm.sf(9) / 2 < found.probability < 2 * norm.sf(9)


def test_a_rare_event_says_what_is_wrong(ball):
    inputs = {"height": uniform(1, 1)}
    with pytest.raises(saltus.SpecError, match="must be two instances or more"):
        saltus.rare_event(ball, inputs, lambda ds: ds["t_final"], 1, count=10, part=0.3)
    with pytest.raises(saltus.SpecError, match="have the same severity, 0.1"):
        saltus.rare_event(ball, inputs, lambda ds: ds["t_final"], 1, count=100, t=(0, 0.1))
    with pytest.raises(saltus.SpecError, match="100 are NaN"):
        saltus.rare_event(ball, inputs, lambda ds: np.full(100, np.nan), 1, count=100, repeats=1, t=(0, 0.1))
