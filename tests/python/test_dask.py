"""Ensembles on a Dask cluster of this machine: the same bits as in one process, also if a worker is killed during the run."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import xarray as xr

import saltus

pytest.importorskip("distributed")
import saltus.dask  # noqa: E402

pytestmark = pytest.mark.long

OPTIONS = dict(count=4000, seed=3, restitution={"uniform": [0.3, 0.9]}, t=(0, 3.0), samples=5, events=True, chunk=50)


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as one:
        yield one


@pytest.fixture(scope="module")
def whole(ball, tmp_path_factory):
    file = tmp_path_factory.mktemp("one") / "one.nc"
    ball.run(file=file, **OPTIONS)
    return xr.open_dataset(file).load()


def test_has_the_bits_of_one_process_and_is_read_when_asked_for(client, ball, whole, tmp_path):
    ds = saltus.dask.run(client, ball, file=tmp_path / "many.nc", **OPTIONS)
    assert ds["final_height"].chunks is not None
    assert whole.drop_attrs().identical(ds.load().drop_attrs())
    assert sorted(os.listdir(tmp_path)) == ["many.nc"]
    with pytest.raises(saltus.SpecError, match="it exists"):
        saltus.dask.run(client, ball, file=tmp_path / "many.nc", **OPTIONS)
    with pytest.raises(saltus.SpecError, match="restituton"):
        saltus.dask.run(client, ball, file=tmp_path / "other.nc", restituton=0.5)


def test_swept_arrays_may_be_large(client, ball, tmp_path):
    heights = np.linspace(1.0, 2.0, 30_001)  # 240 kB; distributed makes keys of data above 100 kB
    with pytest.warns(saltus.IncompleteWarning, match="30001 of 30001 instances failed.*step_budget"):
        ds = saltus.dask.run(client, ball, file=tmp_path / "swept.nc", t=(0, 0.1), height=heights, parts=3, max_steps=1)
    np.testing.assert_array_equal(ds["initial_height"], heights)


def test_goes_on_when_a_worker_is_killed(client, ball, whole, tmp_path):
    file, journal = tmp_path / "many.nc", tmp_path / "many.nc.journal"
    workers = list(client.run(os.getpid).values())
    killed = threading.Event()

    def kill():
        while not killed.is_set():
            if journal.exists() and sum(1 for name in os.listdir(journal) if name.startswith("chunks")) >= 3:
                os.kill(workers[0], signal.SIGKILL)
                killed.set()
            time.sleep(0.001)

    killer = threading.Thread(target=kill)
    killer.start()
    ds = saltus.dask.run(client, ball, file=file, parts=40, **OPTIONS)
    was_killed = killed.is_set()
    killed.set()
    killer.join()
    assert was_killed
    assert whole.drop_attrs().identical(ds.load().drop_attrs())


def test_what_has_ended_can_be_read_at_once(ball, whole, tmp_path):
    plan = ball._plan("model", str(ball.header), OPTIONS, tmp_path / "many.nc")
    kept = saltus._core.run_part(plan, "1/2")
    assert 1900 < kept < 2100
    some = saltus.so_far(tmp_path / "many.nc.journal")
    ended = (some["status"] == whole["status"]).values
    assert ended.sum() == kept
    assert some["final_height"][ended].equals(whole["final_height"][ended])
    assert set(some["status"].values[~ended]) == {9}  # not_run
    with pytest.raises(saltus.Error, match="no journal"):
        saltus.so_far(tmp_path)


def test_makes_a_zarr_store_whose_chunks_are_the_parts_own(client, ball, whole, tmp_path):
    pytest.importorskip("zarr", minversion="3")
    ds = saltus.dask.run(client, ball, file=tmp_path / "many.zarr", store_chunk=300, **OPTIONS)
    assert ds["final_height"].chunks[0][0] == 300
    there = ds.merge(saltus.events(tmp_path / "many.zarr")).load()
    assert whole.drop_attrs().identical(there.drop_attrs())
    assert os.listdir(tmp_path) == ["many.zarr"]
