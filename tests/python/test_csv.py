"""CSV files of results: pandas reads the numbers of the dataset, and what reads NetCDF files says that pandas reads them."""

import os

import numpy as np
import pytest

import saltus
from saltus import _commands

pandas = pytest.importorskip("pandas")

OPTIONS = dict(count=300, seed=3, restitution={"uniform": [0.3, 0.9]}, t=(0, 3.0), max_events=10,
               reduce=["median(height)", "quantile(height, 0.25)", "value(height at 1.5)", "first(impact)", "max(height) from 1 to 2"])


@pytest.fixture(scope="module")
def made(ball, tmp_path_factory):
    file = tmp_path_factory.mktemp("csv") / "balls.csv"
    with pytest.warns(saltus.IncompleteWarning, match="event_budget"):
        return file, ball.run(file=file, title='Balls, "soft"', **OPTIONS)


def test_pandas_reads_what_the_dataset_has(made):
    file, ds = made
    exact = {"float_precision": "round_trip"} if int(pandas.__version__.split(".")[0]) < 3 else {}
    rows = pandas.read_csv(file, index_col="instance", **exact)
    assert (rows.index == np.arange(300)).all()
    assert set(rows.columns) == {str(name) for name, v in ds.variables.items() if v.dims == ("sample",)} - {"sample", "instance"}
    assert {"quantile(height, 0.25)", "max(height) from 1 to 2", "restitution"} <= set(rows.columns)
    for name in rows.columns:
        there, here = rows[name].to_numpy(), ds[name]
        if "flag_values" in here.attrs:
            meanings = dict(zip(here.attrs["flag_values"].tolist(), here.attrs["flag_meanings"].split()))
            assert [meanings[int(n)] for n in here.values] == there.tolist(), name
        else:
            assert there.dtype == (bool if name == "ok" else here.dtype), name
            np.testing.assert_array_equal(there, here.values.astype(there.dtype), name)
    assert set(rows["status"]) == {"finished", "stopped", "event_budget"} and ds.attrs["title"] == 'Balls, "soft"'


@pytest.mark.parametrize("command", [["plot"], ["report"]])
def test_commands_say_what_reads_it(made, capsys, monkeypatch, command):
    file, _ = made
    monkeypatch.chdir(file.parent)
    assert _commands.main([*command, "balls.csv"]) == 1
    assert capsys.readouterr().err == (
        f'saltus {command[0]}: balls.csv is a CSV file: in Python, pandas.read_csv("balls.csv") reads it; '
        "here NetCDF files are read, FILE.nc\n")
    assert os.listdir() == ["balls.csv"]


def test_functions_say_what_reads_it(made, ball, tmp_path):
    file, _ = made
    with pytest.raises(saltus.Error, match="pandas.read_csv"):
        saltus.to_zarr(file)
    with pytest.raises(saltus.Error, match="it exists"):
        ball.run(file=file, **OPTIONS)
    with pytest.raises(saltus.SpecError, match="output.samples: must be left out: a CSV file has one line for each instance"):
        ball.run(file=tmp_path / "a.csv", samples=5, **OPTIONS)
    pytest.importorskip("distributed")
    from saltus import dask

    with pytest.raises(saltus.SpecError, match="must be a NetCDF file or a Zarr store"):
        dask.run(None, ball, file=tmp_path / "a.csv", **OPTIONS)
    assert os.listdir(tmp_path) == []
