"""Zarr stores of results: xarray reads the same from a store as from the file, and a store is either complete or absent."""

import os
import warnings

import netCDF4
import pytest
import xarray as xr

import saltus

zarr = pytest.importorskip("zarr", minversion="3")
pytestmark = pytest.mark.long

ENSEMBLE = dict(count=1000, seed=3, restitution={"uniform": [0.3, 0.9]}, t=(0, 3.0))


#: Attributes in which two runs differ; file and store_chunk are among settings and spec.
OF_ONE_RUN = ("created", "history", "wall_time_s", "settings", "spec")


@pytest.fixture(scope="module")
def result(ball, tmp_path_factory):
    file = tmp_path_factory.mktemp("result") / "ball.nc"
    ball.run(file=file, samples=5, events=True, reduce=["max(height)", "last(impact)"], statistics=True, **ENSEMBLE)
    return file


def assert_alike(store, file):
    """A store and its event log have what the file has."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with xr.open_dataset(store) as rows, xr.open_dataset(file) as here:
            there = rows.merge(saltus.events(store), combine_attrs="override") if "event_time" in here else rows
            there, here = there.load(), here.load()
    assert set(there.coords) == set(here.coords)
    assert there.identical(here)


def content(store):
    """The attributes of a store and its arrays with their descriptions."""
    root = zarr.open_group(store, mode="r")
    all = {"": {name: value for name, value in root.attrs.items() if name not in OF_ONE_RUN}}
    for name, array in root.members(max_depth=None):
        if isinstance(array, zarr.Array):
            all[name] = (array.metadata.to_dict(), array[...].tolist() if array.dtype.kind in "OTU" else array[...].tobytes())
    return all


WAYS = {
    "samples, events and reductions": dict(samples=5, events=True, reduce=["max(height)", "last(impact)"]),
    "times of each instance": dict(samples=3, t=None, t_end=[1.0, 2.0, 3.0], count=100),
    "statistics": dict(samples=5, statistics=True, bands=True, histogram={"t_final": {"from": 0, "to": 3, "bins": 5}}),
    "derivatives": dict(samples=3, events=True, reduce=["max(height)"], sensitivity={"parameters": ["restitution"]}),
    "no rows": dict(rows=False, statistics=True, samples=4),
    "indices": dict(problem={"names": ["restitution", "height"], "bounds": [[0.5, 0.9], [0.8, 1.2]]}, design="saltelli", count=16,
                    restitution=None, reduce=["max(velocity)"], indices=["max(velocity)"]),
    "no events": dict(events=True, t=(0, 1e-3)),
}


@pytest.mark.parametrize("chunk", [None, 300])
@pytest.mark.parametrize("way", WAYS)
def test_the_store_of_a_file_is_that_of_its_run(ball, tmp_path, way, chunk):
    options = {key: value for key, value in {**ENSEMBLE, **WAYS[way]}.items() if value is not None}
    ball.run(file=tmp_path / "file.nc", **options)
    ball.run(file=tmp_path / "run.zarr", **options, **({} if chunk is None else {"store_chunk": chunk}))
    assert saltus.to_zarr(tmp_path / "file.nc", chunk=chunk) == tmp_path / "file.zarr"
    here, there = content(tmp_path / "file.zarr"), content(tmp_path / "run.zarr")
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []
    assert_alike(tmp_path / "file.zarr", tmp_path / "file.nc")


def test_chunks_are_read_when_they_are_needed(result, tmp_path):
    for chunk, first in (None, 16), (300, 300):
        store = saltus.to_zarr(result, tmp_path / "a.zarr", chunk=chunk, replace=True)
        with xr.open_dataset(store, chunks={}) as ds:
            assert ds["final_height"].chunks[0][0] == first
        assert saltus.events(store)["event_time"].chunks, "lazy"


def test_of_a_journal_is_what_has_ended(ball, tmp_path):
    plan = ball._plan("model", str(ball.header), dict(ENSEMBLE, samples=5, events=True, chunk=100), tmp_path / "many.nc")
    saltus._core.run_part(plan, "1/2")
    store = saltus.to_zarr(tmp_path / "many.nc.journal", chunk=300)
    assert store == tmp_path / "many.zarr"
    some = saltus.so_far(tmp_path / "many.nc.journal")
    with xr.open_dataset(store, chunks={}) as there:
        assert there["status"].chunks == ((300, 300, 300, 100),)
        assert there.merge(saltus.events(store)).load().drop_attrs().identical(some.drop_attrs())
        assert 400 < (there["status"] != 9).sum() < 600  # 9: not_run
    assert sorted(os.listdir(tmp_path)) == ["many.nc.journal", "many.zarr"]


def test_is_not_there_where_it_is_not_complete(result, tmp_path):
    older = saltus.to_zarr(result, tmp_path / "a.zarr", chunk=500)
    damaged = tmp_path / "damaged.nc"
    damaged.write_bytes(result.read_bytes())
    with netCDF4.Dataset(damaged, "r+") as file:
        file["event_row_size"][-1] += 1
    for to in ("a.zarr", "b.zarr"):
        with pytest.raises(saltus.Error, match="event_row_size does not fit"):
            saltus.to_zarr(damaged, tmp_path / to, replace=True)
    damaged.unlink()
    assert os.listdir(tmp_path) == ["a.zarr"]
    assert_alike(older, result)
    saltus.to_zarr(result, older, chunk=100, replace=True)
    assert os.listdir(tmp_path) == ["a.zarr"]
    with xr.open_dataset(older, chunks={}) as ds:
        assert ds["status"].chunks == ((100,) * 10,)


def test_what_is_there_is_not_written_over(result, tmp_path):
    store = saltus.to_zarr(result, tmp_path / "a.zarr")
    with pytest.raises(saltus.SpecError, match="it exists"):
        saltus.to_zarr(result, store)
    (tmp_path / "b.zarr").mkdir()
    (tmp_path / "b.zarr" / "notes.txt").write_text("mine")
    with pytest.raises(saltus.SpecError, match="is not a result of saltus"):
        saltus.to_zarr(result, tmp_path / "b.zarr", replace=True)
    assert (tmp_path / "b.zarr" / "notes.txt").read_text() == "mine"
    with pytest.raises(saltus.SpecError, match="output.events"):
        saltus.events(tmp_path / "b.zarr")
    with pytest.raises(saltus.SpecError, match="chunk = 0: must be"):
        saltus.to_zarr(result, tmp_path / "c.zarr", chunk=0)
    with pytest.raises(saltus.SpecError, match="ends with .zarr"):
        saltus.to_zarr(result, tmp_path / "c")
    netCDF4.Dataset(tmp_path / "foreign.nc", "w").close()
    with pytest.raises(saltus.Error, match="not a result of saltus"):
        saltus.to_zarr(tmp_path / "foreign.nc")
    with pytest.raises(saltus.Error, match="is a Zarr store"):
        saltus.to_zarr(store, tmp_path / "c.zarr")
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "b.zarr", "foreign.nc"]
