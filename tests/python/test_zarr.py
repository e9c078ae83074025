"""Zarr stores of results: xarray reads the same from a store as from the file, and a store is either complete or absent."""

import os
import warnings

import netCDF4
import pytest
import xarray as xr

import saltus
from saltus import _commands, _zarr

pytest.importorskip("zarr", minversion="3")
pytestmark = pytest.mark.long

ENSEMBLE = dict(count=1000, seed=3, restitution={"uniform": [0.3, 0.9]}, t=(0, 3.0))


@pytest.fixture(scope="module")
def result(ball, tmp_path_factory):
    file = tmp_path_factory.mktemp("result") / "ball.nc"
    ball.run(file=file, samples=5, events=True, reduce=["max(height)", "last(impact)"], statistics=True, **ENSEMBLE)
    return file


def assert_alike(store, file):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with xr.open_dataset(store) as there, xr.open_dataset(file) as here:
            assert set(there.coords) == set(here.coords)
            assert there.load().identical(here.load())


def files_in(folder):
    return sum(len(names) for _, _, names in os.walk(folder))


def test_a_store_has_what_the_file_has(result, tmp_path):
    whole = saltus.to_zarr(result, tmp_path / "whole.zarr")
    assert_alike(whole, result)
    many = saltus.to_zarr(result, tmp_path / "many.zarr", chunk=300)
    assert_alike(many, result)
    assert files_in(many) > files_in(whole) + 30, "four chunks of a variable"
    with xr.open_dataset(many, chunks={}) as ds:
        assert ds["final_height"].chunks == ((300, 300, 300, 100),)
    assert sorted(os.listdir(tmp_path)) == ["many.zarr", "whole.zarr"]


def test_statistics_without_rows_and_single_instances(ball, tmp_path):
    ball.run(file=tmp_path / "a.nc", rows=False, statistics=True, samples=4, **ENSEMBLE)
    assert_alike(saltus.to_zarr(tmp_path / "a.nc"), tmp_path / "a.nc")
    ball.run(file=tmp_path / "b.nc", t=(0, 1e-3), events=True)  # no events
    assert_alike(saltus.to_zarr(tmp_path / "b.nc"), tmp_path / "b.nc")


def test_of_a_journal_is_what_has_ended(ball, tmp_path):
    plan = ball._plan("model", str(ball.header), dict(ENSEMBLE, samples=5, events=True, chunk=100), tmp_path / "many.nc")
    saltus._core.run_part(plan, "1/2")
    store = saltus.to_zarr(tmp_path / "many.nc.journal")
    assert store == tmp_path / "many.zarr"
    some = saltus.so_far(tmp_path / "many.nc.journal")
    with xr.open_dataset(store) as there:
        assert there.drop_attrs().identical(some.drop_attrs())
        assert 400 < (there["status"] != 9).sum() < 600  # 9: not_run
    assert sorted(os.listdir(tmp_path)) == ["many.nc.journal", "many.zarr"]


@pytest.mark.parametrize("fails", ["_copy_variable", "_on_disk"])
def test_is_not_there_where_it_is_not_complete(result, tmp_path, monkeypatch, fails):
    older = saltus.to_zarr(result, tmp_path / "a.zarr", chunk=500)
    real, calls = getattr(_zarr, fails), []

    def fail(*arguments):
        calls.append(1)
        if fails == "_on_disk" or len(calls) == 7:
            raise OSError(28, "No space left on device")
        real(*arguments)

    monkeypatch.setattr(_zarr, fails, fail)
    for to in ("a.zarr", "b.zarr"):
        calls.clear()
        with pytest.raises(OSError, match="No space left"):
            saltus.to_zarr(result, tmp_path / to, replace=True)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["a.zarr"]
    assert_alike(older, result)
    saltus.to_zarr(result, older, chunk=100, replace=True)
    assert os.listdir(tmp_path) == ["a.zarr"]
    with xr.open_dataset(older, chunks={}) as ds:
        assert ds["status"].chunks == ((100,) * 10,)


def test_what_is_there_is_not_written_over(result, tmp_path, monkeypatch):
    store = saltus.to_zarr(result, tmp_path / "a.zarr")
    with pytest.raises(saltus.SpecError, match="it exists"):
        saltus.to_zarr(result, store)
    (tmp_path / "b.zarr").mkdir()
    (tmp_path / "b.zarr" / "notes.txt").write_text("mine")
    with pytest.raises(saltus.SpecError, match="is no Zarr store, and is left as it is"):
        saltus.to_zarr(result, tmp_path / "b.zarr", replace=True)
    assert (tmp_path / "b.zarr" / "notes.txt").read_text() == "mine"
    with pytest.raises(saltus.SpecError, match="chunk = 0: must be"):
        saltus.to_zarr(result, tmp_path / "c.zarr", chunk=0)
    netCDF4.Dataset(tmp_path / "foreign.nc", "w").close()
    with pytest.raises(saltus.SpecError, match="no result of saltus"):
        saltus.to_zarr(tmp_path / "foreign.nc")
    monkeypatch.setitem(__import__("sys").modules, "zarr", None)
    with pytest.raises(saltus.Error, match="pip install 'zarr>=3'"):
        saltus.to_zarr(result, tmp_path / "c.zarr")
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "b.zarr", "foreign.nc"]


def test_from_the_command_line(result, tmp_path, capsys):
    store = tmp_path / "a.zarr"
    assert _commands.main(["zarr", str(result), "-o", str(store), "--chunk", "250"]) == 0
    assert capsys.readouterr().out == f"{store}\n"
    assert_alike(store, result)
    assert _commands.main(["zarr", str(result), "-o", str(store)]) == 2
    assert "--force" in capsys.readouterr().err
    assert _commands.main(["zarr", str(result), "-o", str(store), "--force"]) == 0
    assert _commands.main(["zarr", str(tmp_path / "none.nc")]) == 2


def assert_same_run(store, file):
    """A store and its event log written by a run equal the file of the same run."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with xr.open_dataset(store) as rows, xr.open_dataset(file) as here:
            there = rows.merge(saltus.events(store), combine_attrs="override") if "event_time" in here else rows
            there, here = there.load(), here.load()
    for name in ("created", "history", "wall_time_s", "settings", "spec"):  # file and store_chunk are among the last two
        del there.attrs[name], here.attrs[name]
    assert set(there.coords) == set(here.coords)
    assert there.identical(here)


@pytest.mark.parametrize("chunk", [None, 1000, 300])
def test_a_run_writes_what_the_file_has(ball, result, tmp_path, chunk):
    options = dict(samples=5, events=True, reduce=["max(height)", "last(impact)"], statistics=True, **ENSEMBLE)
    given = {} if chunk is None else {"store_chunk": chunk}
    ds = ball.run(file=tmp_path / "a.zarr", **options, **given)
    assert_same_run(tmp_path / "a.zarr", result)
    assert ds["final_height"].values.tobytes() == xr.open_dataset(tmp_path / "a.zarr")["final_height"].values.tobytes()
    with xr.open_dataset(tmp_path / "a.zarr", chunks={}) as there:
        assert there["status"].chunks[0][0] == (chunk or 16)
        assert saltus.events(tmp_path / "a.zarr")["event_time"].chunks, "lazy"
    with pytest.raises(saltus.SpecError, match="it exists"):
        ball.run(file=tmp_path / "a.zarr", **options)


def test_a_run_without_rows_and_one_instance(ball, tmp_path):
    for file in ("a.nc", "a.zarr"):
        ball.run(file=tmp_path / file, rows=False, statistics=True, samples=4, histogram={"t_final": {"from": 0, "to": 3, "bins": 5}},
                 **ENSEMBLE)
    assert_same_run(tmp_path / "a.zarr", tmp_path / "a.nc")
    for file in ("b.nc", "b.zarr"):
        ball.run(file=tmp_path / file, t=(0, 1e-3), events=True)  # no events
    assert_same_run(tmp_path / "b.zarr", tmp_path / "b.nc")
    with pytest.raises(saltus.SpecError, match="output.events"):
        saltus.events(tmp_path / "a.zarr")
