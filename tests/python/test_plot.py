"""Pictures have in them what the result has."""

import numpy as np
import pytest

import saltus

pytest.importorskip("matplotlib").use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(scope="module")
def ds(ball):
    return ball.run(t=(0, 1.0), restitution=[0.5, 0.7], height=[1.0, 2.0, 3.0], samples=[0.25, 0.5, 1.0], events=True, chunk=2)


def test_trajectories_and_marks_of_events(ds):
    axes = ds.saltus.plot("height", instances=[1, 4])
    lines = axes[0].get_lines()
    np.testing.assert_array_equal(lines[0].get_ydata(), ds["height"].values[0, 1])
    np.testing.assert_array_equal(lines[0].get_xdata(), ds["time"])
    marks = [line for line in lines if line.get_marker() == "o"]
    assert sum(len(line.get_xdata()) for line in marks) == int(ds["event_row_size"].values[[0, 1], [1, 1]].sum())
    assert axes[0].get_ylabel() == "height / m"
    assert axes[0].get_legend().get_texts()[0].get_text() == "restitution 0.5, initial_height 2"
    plt.close("all")


def test_phase_raster_and_outcome(ds, tmp_path):
    ax = ds.saltus.plot.phase("height", "velocity", instances=0)
    np.testing.assert_array_equal(ax.get_lines()[0].get_xdata(), ds["height"].values[0, 0])
    ax = ds.saltus.plot.raster()
    assert sum(len(line.get_xdata()) for line in ax.get_lines()) == ds.sizes["event"]
    assert ax.get_legend().get_texts()[0].get_text() == "impact"
    ax = ds.saltus.plot.outcome("final_height")
    np.testing.assert_array_equal(ax.collections[0].get_array().reshape(2, 3), ds["final_height"])
    ax.figure.savefig(tmp_path / "outcome.png")
    assert (tmp_path / "outcome.png").stat().st_size > 5000
    plt.close("all")


def test_what_was_not_kept_cannot_be_drawn(ball):
    ds = ball.run(t=(0, 0.1))
    with pytest.raises(saltus.SpecError, match="samples=200"):
        ds.saltus.plot()
    with pytest.raises(saltus.SpecError, match="events=True"):
        ds.saltus.plot.raster()
