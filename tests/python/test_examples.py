"""The examples of the documents run, and say what they must."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def run(name):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def test_a_root_search_over_an_ensemble(capsys):
    pytest.importorskip("scipy")
    run("rebound")
    _, found, *_, exact = capsys.readouterr().out.replace(";", "").split()
    assert float(found) == pytest.approx(float(exact), abs=2e-7)


def test_a_map_of_impacts(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    ds = run("valve_map")["ds"]
    assert dict(ds.sizes) == {"flow": 40, "restitution": 30} and bool(ds["ok"].all())
    impacts = ds["events"].mean("restitution").values
    assert impacts[0] > impacts[-1] > 0  # the lower the flow, the more impacts
    assert (tmp_path / "valve_map.png").exists()
