"""The studies of the gallery run and print the right numbers: the numbers beside them are closed forms or references, as the
script says. A study with a model that only it compiles is a long test."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = DOCS / "examples"

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture
def study(tmp_path, monkeypatch, capsys):
    """Runs a study in a separate folder with the examples; returns its variables and its printed numbers."""
    import matplotlib.pyplot as plt

    def run(name):
        for header in EXAMPLES.glob("*.hpp"):
            (tmp_path / header.name).write_text(header.read_text())
        monkeypatch.chdir(tmp_path)
        variables = runpy.run_path(str(EXAMPLES / f"{name}.py"))
        plt.close("all")
        return variables, [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", capsys.readouterr().out)]

    return run


def drawn(*names):
    return all(Path(f"{name}.png").stat().st_size > 5000 for name in names)


def test_a_root_search_over_an_ensemble(study):
    pytest.importorskip("scipy")
    _, (found, exact) = study("rebound")
    assert found == pytest.approx(exact, abs=2e-7)


@pytest.mark.long
def test_oscillators_fall_into_step(study):
    pytest.importorskip("scipy")
    variables, (error,) = study("kuramoto")
    assert error < 1e-7
    order = variables["ds"]["mean(order) from 100 to 200"].values
    infinitely_many = np.sqrt(1 - 2 / np.linspace(2.5, 6, 71))
    np.testing.assert_allclose(order[50:], infinitely_many, atol=0.03)
    assert order[:40].max() < 0.3 and drawn("kuramoto")


@pytest.mark.long
def test_spikes_on_their_way(study):
    _, (spikes, error) = study("neurons")
    assert spikes > 300 and error < 1e-9 and drawn("neurons")


@pytest.mark.long
def test_two_controllers(study):
    pytest.importorskip("scipy")
    _, (error, far) = study("cart_pole")
    assert error < 1e-9 and far < 0.1 and drawn("cart_pole")


@pytest.mark.long
def test_a_hopper(study):
    pytest.importorskip("scipy")
    variables, (error,) = study("hopper")
    hops, angle = variables["ds"]["final_hops"].values, variables["ds"]["angle"].values
    assert error < 1e-8 and (hops[abs(angle - 66.5) < 0.2] == 50).all() and hops[angle > 70].max() < 10 and drawn("hopper")


@pytest.mark.long
def test_a_quadcopter_in_gusts(study):
    pytest.importorskip("scipy")
    _, (found, theory, deviation) = study("quadcopter")
    assert abs(found - theory) < 3 * deviation and deviation < 0.01 * theory and drawn("quadcopter")


@pytest.mark.long
def test_the_longest_fault(study):
    _, (error,) = study("clearing")
    assert error < 1e-9 and drawn("clearing")


def test_one_failure_in_a_million(study):
    _, (linear, deviation, stiffer, _) = study("rare")
    assert deviation < 0.02e-6 and abs(linear - 1e-6) < 3 * deviation and stiffer < linear / 3


def test_a_map_of_impacts(study):
    ds = study("valve_map")[0]["ds"]
    assert dict(ds.sizes) == {"flow": 40, "restitution": 30} and bool(ds["ok"].all())
    impacts = ds["events"].mean("restitution").values
    assert impacts[0] > impacts[-1] > 0  # a lower flow gives more impacts
    assert drawn("valve_map")


def test_sobol_indices_of_a_product(study):
    _, numbers = study("sobol_ball")
    np.testing.assert_allclose(numbers[:3], numbers[3:], atol=2e-4)
    assert drawn("sobol_ball")


def test_elementary_effects(study):
    _, (low, high, exact) = study("morris_ball")
    assert low < exact < high < low + 0.1
    assert drawn("morris_ball")


def test_derivatives_through_impacts(study):
    variables, (error,) = study("gradient")
    assert error < 1e-9 and int(variables["k"].max()) > 1
    assert drawn("gradient")


@pytest.mark.long
def test_an_impact_oscillator(study):
    variables, (found, exact, area) = study("impact_oscillator")
    assert found == pytest.approx(exact, rel=1e-8) and area < 1e-7
    assert drawn("impact_bifurcation", "impact_section", "impact_lyapunov")
    assert variables["growth"].sizes["frequency"] > 90 and float(variables["growth"]["lyapunov"].max()) > 0.1
    last = [variables["ds"].saltus.events(k)["before_velocity"].values[-40:] for k in (0, 399)]
    assert [len(np.unique(speeds.round(6))) for speeds in last] == [1, 1]  # both ends have period one


@pytest.mark.long
def test_limits_of_a_boost_converter(study):
    _, (events, current, voltage) = study("boost_limits")
    assert (events, current, voltage) == (97, pytest.approx(1.44165126585319, rel=1e-8), pytest.approx(15.4629724800224, rel=1e-8))
    assert drawn("boost_limits")


@pytest.mark.long
def test_a_year_of_weather(study):
    variables, (error,) = study("house")
    assert error < 1e-8 and bool(variables["year"]["ok"].all())
    assert int(variables["year"]["events"].min()) > 500
    assert drawn("house", "house_week")


@pytest.mark.long
def test_doses_in_a_population(study):
    _, (error,) = study("doses")
    assert error < 1e-8
    assert drawn("doses")


def test_patients_with_their_own_records(study):
    variables, (error,) = study("patients")
    assert error < 1e-7 and bool(variables["ds"]["ok"].all())
    assert int(variables["ds"]["events"].min()) < int(variables["ds"]["events"].max()) <= 8 and drawn("patients")


def test_infusions_of_which_no_row_is_kept(study):
    variables, (error,) = study("infusions")
    assert error < variables["ds"]["quantiles_concentration"].attrs["relative_error"]
    assert "concentration" not in variables["ds"] and drawn("infusions")


@pytest.mark.long
def test_robertsons_reactions(study):
    variables, (*_, y1) = study("robertson")
    assert y1 == pytest.approx(2.083340149701294e-08, rel=1e-8)
    assert np.isfinite(variables["ds"]["switched"]).all()  # all instances became stiff
    assert drawn("robertson")


@pytest.mark.long
def test_constraints(study):
    pytest.importorskip("scipy")
    variables, (error, i1) = study("constrained")
    assert error < 1e-8 and len(variables["first"]) == 15
    assert i1 == pytest.approx(15.3728723144885, rel=1e-8)
    assert drawn("rectifier", "pendulum")


def test_the_gallery_is_made_of_the_examples():
    gallery = runpy.run_path(str(DOCS.parent / "scripts" / "gallery"))
    assert (DOCS / "gallery.md").read_text() == gallery["text"](), "run scripts/gallery"
    pictures = {picture for _, _, shown in gallery["STUDIES"] for picture in shown}
    assert {path.stem for path in (DOCS / "gallery").iterdir()} == pictures
    assert all(path.stat().st_size < 100_000 for path in (DOCS / "gallery").iterdir())
    assert {name for _, name, _ in gallery["STUDIES"]} == {path.stem for path in EXAMPLES.glob("*.py")}
