"""Kept outputs: rows of the event log, reductions of events, the product of a file, bands."""

import matplotlib
import numpy as np
import pytest
import xarray as xr

import saltus

matplotlib.use("Agg")
G = 9.81


@pytest.fixture(scope="module")
def kept(ball, tmp_path_factory):
    """The result in memory, and the same from its file."""
    path = tmp_path_factory.mktemp("kept") / "ball.nc"
    ds = ball.run(t=(0, 1.3), restitution=[0.5, 0.7], height=[1.0, 2.0, 3.0], rtol=1e-9, v_min=0.0, samples={"from": 0.2, "to": 0.4, "count": 3},
                  events={"guards": ["impact"], "first": 1, "last": 2},
                  reduce=["count(impact)", "first(impact)", "value(height at 0.25)", "time(max(height)) from 0.8"], file=path)
    return ds, path


def test_rows_of_the_event_log_and_numbers_of_events(kept):
    ds, _ = kept
    fall = np.broadcast_to(np.sqrt(2 * np.array([1.0, 2.0, 3.0]) / G), (2, 3))
    np.testing.assert_allclose(ds["first(impact)"], fall, rtol=1e-8)
    np.testing.assert_array_equal(ds["count(impact)"], ds["events"])
    np.testing.assert_array_equal(ds["event_row_size"], np.minimum(ds["events"], 3))
    np.testing.assert_allclose(ds["value(height at 0.25)"], np.broadcast_to([1, 2, 3], (2, 3)) - G / 2 * 0.25**2, rtol=1e-7)
    np.testing.assert_allclose(ds["time"], [0.2, 0.3, 0.4])
    # after the first impact, at T, the maximum is at T (1 + e)
    one = ds.isel(restitution=1, initial_height=1)
    assert float(one["time(max(height)) from 0.8"]) == pytest.approx(float(fall[1, 1]) * 1.7, rel=1e-6)
    section = ds.saltus.section("impact")
    assert section.sizes["event"] == ds.sizes["event"] and set(section.coords) == {"time", "instance"}
    np.testing.assert_array_equal(section["velocity"], ds["event_velocity"])
    with pytest.raises(saltus.Error, match="did you mean impact"):
        ds.saltus.section("inpact")


def test_a_file_has_ok_and_says_its_product(kept):
    ds, path = kept
    with xr.open_dataset(path) as stored:
        assert stored["ok"].dtype == bool and bool(stored["ok"].all())
        assert stored.attrs["product_inputs"] == "restitution;initial_height"
        assert list(stored.attrs["product_lengths"]) == [2, 3]
        product = stored.saltus.product()
        assert product["final_height"].dims == ("restitution", "initial_height")
        for name in ds.variables:
            xr.testing.assert_equal(product[name].variable, ds[name].variable)
        assert set(product.coords) == set(ds.coords)
        assert ds.saltus.product() is ds
    again = ds.saltus.rerun(4)
    assert float(again["final_height"]) == float(ds["final_height"].values.ravel()[4])


def test_bands_without_rows(ball):
    h = np.linspace(1, 2, 101)
    ds = ball.run(t=(0, 0.4), height=h, samples=[0.1, 0.3], rows=False, bands={"quantiles": [0.1, 0.5, 0.9]})
    assert ds["quantiles_height"].dims == ("time", "quantile") and "height" not in ds
    np.testing.assert_allclose(ds["quantiles_height"].sel(quantile=0.9, time=0.3), 1.9 - G / 2 * 0.09, rtol=1e-6)
    np.testing.assert_allclose(ds["statistics_height"].sel(statistic="mean"), 1.5 - G / 2 * ds["time"]**2, rtol=1e-6)
    np.testing.assert_allclose(ds["statistics_height"].sel(statistic="standard_deviation"), np.std(h, ddof=1), rtol=1e-6)
    drawn = ds.saltus.plot.bands("height")
    assert "quantiles 0.1, 0.5 and 0.9 of 101 instances" in drawn[0].get_title(loc="left") + drawn[0].get_title()
