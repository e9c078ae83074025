"""Records from Python: DataFrames, lists of arrays, ids of a sweep, one instance again. The numbers are sums of exponentials."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import saltus

MODEL = Path(__file__).resolve().parents[2] / "docs" / "examples" / "patients.hpp"
DOSES = [[(0, 100), (8, 50)], [], [(3.5, 10), (3.5, 20), (9, 5)]]


@pytest.fixture(scope="module")
def patients():
    return saltus.model(MODEL)


def blood(doses, t, ka=1.2, ke=0.15):
    return sum(d * ka / (ka - ke) * (math.exp(-ke * (t - s)) - math.exp(-ka * (t - s))) for s, d in doses if s <= t)


def frame(ids=(0, 1, 2)):
    return pd.DataFrame([(ids[k], t, d) for k, rows in enumerate(DOSES) for t, d in rows], columns=["id", "time", "amount"])


def test_a_model_says_what_its_rows_have(patients):
    assert patients.time_events["dose"].columns == ("amount",)


def test_rows_come_from_frames_arrays_and_files(patients, tmp_path):
    wanted = [blood(rows, 20) for rows in DOSES]
    options = {"t": (0, 20), "rtol": 1e-10, "count": 3, "sample": {"volume": {"uniform": [39, 41]}}}
    frame().to_csv(tmp_path / "doses.csv", index=False)
    results = [patients.run(records={"dose": one}, **options)["final_blood"].values
               for one in (frame(), [np.reshape(rows, (-1, 2)) for rows in DOSES], DOSES, str(tmp_path / "doses.csv"))]
    np.testing.assert_allclose(results[0], wanted, atol=1e-7)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def test_ids_of_a_sweep_find_their_rows(patients):
    people = pd.DataFrame({"id": [30, 10, 20, 30], "elimination": [0.1, 0.2, 0.3, 0.4]}, index=["a", "b", "c", "d"])
    ds = patients.run(records={"dose": frame((10, 20, 30))}, sweep=people, t=(0, 20), rtol=1e-10)
    wanted = [blood(DOSES[2], 20, ke=0.1), blood(DOSES[0], 20, ke=0.2), 0.0, blood(DOSES[2], 20, ke=0.4)]
    np.testing.assert_allclose(ds["final_blood"], wanted, atol=1e-7)
    np.testing.assert_array_equal(ds["record_id"], people["id"])
    assert list(ds["row"].values) == ["a", "b", "c", "d"]


def test_columns_of_pharmacometrics(patients):
    trial = pd.DataFrame({"ID": [0, 0, 1], "TIME": [0, 1, 2.0], "AMT": [100, np.nan, 30], "EVID": [1, 0, 1],
                          "II": [6, np.nan, 0], "ADDL": [2, np.nan, 0], "NAME": ["x", "y", "z"]})
    with pytest.warns(UserWarning, match="rows with EVID 0, observations, which are skipped: 1"):
        ds = patients.run(records={"dose": trial}, t=(0, 20), rtol=1e-10, volume=[40.0, 41.0])
    wanted = [blood([(0, 100), (6, 100), (12, 100)], 20), blood([(2, 30)], 20)]
    np.testing.assert_allclose(ds["final_blood"], wanted, atol=1e-7)


def test_one_instance_again_has_its_rows(patients, tmp_path):
    ds = patients.run(records={"dose": frame((10, 20, 30))}, sweep=pd.DataFrame({"id": [30, 10], "elimination": [0.1, 0.2]}),
                      file=tmp_path / "a.nc")
    for k in range(2):
        assert float(ds.saltus.rerun(k)["final_blood"]) == float(ds["final_blood"][k])
    with xr.open_dataset(tmp_path / "a.nc") as file:
        np.testing.assert_array_equal(file["record_dose_amount"], [d for rows in DOSES for _, d in rows])
        assert float(file.saltus.rerun(1)["final_blood"]) == float(ds["final_blood"][1])


@pytest.mark.parametrize("rows, message", [
    ({"id": [0.0], "time": [1.0]}, "records.dose: has no column amount"),
    ({"id": [0.0], "time": [-1.0], "amount": [1.0]}, "number 0 of records.dose.time: time = -1: must not be before the start, 0"),
    ({"id": [0.0, 0.0], "time": [2.0, 1.0], "amount": [1.0, 1.0]}, "number 1 of records.dose.time: time = 1: must not be before 2"),
    ({"id": [0.0], "time": [np.nan], "amount": [1.0]}, "number 0 of records.dose.time: time = nan: must be a finite number"),
    ({"id": [0.0, 1.0], "time": [2.0], "amount": [1.0, 1.0]}, "records.dose: time has 1 numbers, and amount has 2"),
    ({"id": ["ann"], "time": [2.0], "amount": [1.0]}, "records.dose.id: must have numbers"),
    ([[(1.0, 2.0, 3.0)]], r"the rows of instance 0 must be \(time, amount\), an array of shape \(rows, 2\)"),
])
def test_wrong_rows_are_refused(patients, rows, message):
    with pytest.raises(saltus.SpecError, match=message):
        patients.run(records={"dose": rows})


def test_rows_are_given_for_every_instance(patients):
    with pytest.raises(saltus.SpecError, match="records.dose: has 1 arrays of rows, and the run has 3 instances: an empty array stands"):
        patients.run(records={"dose": [[(0.0, 1.0)]]}, elimination=[0.1, 0.2, 0.3])
    ds = patients.run(records={"dose": [[(0.0, 1.0)], [], [(0.5, 1.0)]]}, t=2.0, elimination=[0.1, 0.2, 0.3])
    assert (ds["final_gut"].values + ds["final_blood"].values > 0).tolist() == [True, False, True]


def test_rows_must_be_given(patients):
    with pytest.raises(saltus.SpecError, match="records.dose is missing"):
        patients.run()
    with pytest.raises(saltus.SpecError, match="did you mean dose"):
        patients.run(records={"doze": frame()})
