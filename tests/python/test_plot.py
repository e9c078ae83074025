"""Pictures show the contents of the result."""

import numpy as np
import pytest
import xarray as xr

import saltus

pytest.importorskip("matplotlib").use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def ds(ball):
    return ball.run(t=(0, 1.0), restitution=[0.5, 0.7], height=[1.0, 2.0, 3.0], samples=[0.25, 0.5, 1.0], events=True, chunk=2)


@pytest.fixture(scope="module")
def stored(ball, tmp_path_factory):
    """The same result as a file, in which the sweep is no grid of dimensions."""
    pytest.importorskip("netCDF4")
    path = tmp_path_factory.mktemp("plot") / "balls.nc"
    ball.run(t=(0, 1.0), restitution=[0.5, 0.7], height=[1.0, 2.0, 3.0], samples=[0.25, 0.5, 1.0], events=True, file=path)
    with xr.open_dataset(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def random(ball):
    return ball.run(t=(0, 3.0), restitution={"uniform": [0.5, 0.9]}, height={"uniform": [1, 2]}, count=60, seed=3, max_events=9, samples=5)


def texts(legends):
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def test_trajectories_and_marks_of_events(ds):
    axes = ds.saltus.plot("height", instances=[1, 4], events=False)
    np.testing.assert_array_equal(axes[0].get_lines()[0].get_ydata(), ds["height"].values[0, 1])
    np.testing.assert_array_equal(axes[0].get_lines()[0].get_xdata(), ds["time"])
    axes = ds.saltus.plot(["height", "velocity"], instances=[1, 4])
    lines = axes[1].get_lines()
    log = ds.saltus.events(1)
    t, v = lines[0].get_data()
    assert set(ds["time"].values) <= set(t) and np.all(np.diff(t) >= 0)
    at = np.flatnonzero(t == log["event_time"].values[0])  # the jump is a vertical line from before to after
    np.testing.assert_array_equal(v[at], [log["before_velocity"].values[0], log["event_velocity"].values[0]])
    marks = [line for line in lines if line.get_marker() == "o"]
    assert sum(len(line.get_xdata()) for line in marks) == int(ds["event_row_size"].values[[0, 1], [1, 1]].sum())
    assert axes[0].get_ylabel() == "height / m"
    assert texts(axes[0].figure.legends) == ["restitution 0.5, initial_height 2", "restitution 0.7, initial_height 2", "impact"]


def test_phase_raster_and_outcome(ds, stored):
    for result in (ds, stored):
        ax = result.saltus.plot.phase("height", "velocity", instances=0)
        assert set(ds["height"].values[0, 0]) <= set(ax.get_lines()[0].get_xdata())
        ax = result.saltus.plot.raster()
        assert sum(len(line.get_xdata()) for line in ax.get_lines()) == ds.sizes["event"]
        assert texts(ax.figure.legends) == ["impact"]
    ax = ds.saltus.plot.outcome("final_height")
    np.testing.assert_array_equal(ax.collections[0].get_array().reshape(2, 3), ds["final_height"])
    ax = stored.saltus.plot.outcome("final_height", over=["initial_height", "restitution"])
    np.testing.assert_array_equal(ax.collections[0].get_array().reshape(2, 3), ds["final_height"])
    ax = ds.saltus.plot.outcome("final_height", over="restitution")
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), ds["final_height"].mean("initial_height"), rtol=1e-14)


def test_outcomes_of_random_samples_are_points_and_failed_ones_are_left_out(random):
    ax = random.saltus.plot.outcome("events")
    points = ax.collections[0].get_offsets()
    assert len(points) == 60 and "did not end well" in ax.get_title(loc="left")
    np.testing.assert_array_equal(np.isfinite(np.ma.filled(ax.collections[0].get_array().astype(float), np.nan)), random["ok"])
    ax = random.saltus.plot.histogram("events")
    assert sum(bar.get_height() for bar in ax.patches) == int(random["ok"].sum())


def test_bands_are_the_percentiles(random):
    low, middle, high = np.nanpercentile(random["height"].values[random["ok"].values], [5, 50, 95], axis=0)
    ax = random.saltus.plot.bands("height")[0]
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), middle)
    outline = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert {*low, *high} <= set(outline)
    assert "4 values" not in ax.get_title(loc="left")
    with pytest.raises(saltus.SpecError, match="can show up to 6"):
        random.saltus.plot.bands("height", by="restitution")


def test_a_histogram_that_the_run_has_counted(ball):
    h = np.linspace(1, 2, 11)
    ds = ball.run(t=(0, 0.1), height=h, rows=False, histogram={"final_height": {"from": 1.0, "to": 1.5, "bins": 5}})
    ax = ds.saltus.plot.histogram()
    counts, _ = np.histogram(h - 9.81 / 2 * 0.01, np.linspace(1.0, 1.5, 6))
    np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], counts)
    assert ax.get_xlabel() == "final_height / m" and "1 below, 5 above" in ax.get_title(loc="left")
    with pytest.raises(saltus.SpecError, match="rows=False"):
        ds.saltus.plot.outcome("final_height")


def test_a_bifurcation_diagram_has_the_last_events_of_each_instance(ds, stored):
    # e sqrt(2 g h) after the first impact, e^2 after the second.
    for result in (ds, stored):
        ax = result.saltus.plot.bifurcation("velocity", "impact", over="restitution", last=1)
        e, v = ax.get_lines()[0].get_data()
        bounces = ds["event_row_size"].values.reshape(-1)
        at = np.flatnonzero(bounces)
        height = np.tile([1.0, 2.0, 3.0], 2)[at]
        np.testing.assert_array_equal(e, np.repeat([0.5, 0.7], 3)[at])
        np.testing.assert_allclose(v, e ** bounces[at] * np.sqrt(2 * 9.81 * height), rtol=1e-5)
        ax = result.saltus.plot.section("time", "velocity", skip=1)
        assert len(ax.get_lines()[0].get_xdata()) == np.maximum(bounces - 1, 0).sum()


def test_indices(ball):
    inputs = {"restitution": {"uniform": [0.5, 0.9]}, "height": {"uniform": [1, 2]}}
    ds = ball.run(t=(0, 0.1), count=32, design="saltelli", indices=["final_height"], **inputs)
    bars = ds.saltus.plot.sobol()[0].patches
    # before the first impact the height depends only on the initial height
    np.testing.assert_allclose([bar.get_height() for bar in bars], ds["sensitivity_first_order"].values[0].tolist() +
                               ds["sensitivity_total_order"].values[0].tolist())
    assert bars[2].get_height() == 0 and 0.8 < bars[3].get_height() < 1.2
    ax = ds.saltus.plot.tornado("final_height")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["restitution", "height"]  # from bottom to top
    with pytest.raises(saltus.SpecError, match="design='morris'"):
        ds.saltus.plot.morris()
    ds = ball.run(t=(0, 0.1), count=8, design="morris", indices=["final_height"], **inputs)
    points = [container.lines[0].get_xydata()[0] for container in ds.saltus.plot.morris()[0].containers]
    np.testing.assert_array_equal(points, np.stack([ds["sensitivity_mu_star"][0], ds["sensitivity_sigma"][0]], 1))
    assert points[0][0] == 0 and points[1][0] == pytest.approx(1.0)  # h - g t^2 / 2, over a span of 1 m


def test_what_was_not_kept_cannot_be_drawn(ball, ds):
    bare = ball.run(t=(0, 0.1))
    for draw, words in [(bare.saltus.plot, "samples=200"), (bare.saltus.plot.raster, "events=True"),
                        (lambda: bare.saltus.plot.outcome("events"), "varied are none"), (bare.saltus.plot.sobol, "'saltelli'"),
                        (lambda: ds.saltus.plot.outcome("hight"), "not in the result"),
                        (lambda: ds.saltus.plot.outcome("events", over="gravity"), "is not varied"),
                        (lambda: ds.saltus.plot.bifurcation("velocity", "bounce", over="restitution"), "guard=bounce"),
                        (lambda: ds.saltus.plot.section("height", "speed"), "no state in the event log")]:
        with pytest.raises(saltus.SpecError, match=words):
            draw()
