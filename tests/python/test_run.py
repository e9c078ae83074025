"""Runs from Python: numbers against closed forms, dimensions, attributes, errors."""

import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import saltus

G = 9.81


def test_a_model_says_what_it_has(valve):
    assert list(valve.states) == ["lift", "velocity", "pressure"]
    assert valve.parameters["flow"].value == 4.0
    assert valve.parameters["flow"].about == "flow rate into the chamber"
    assert valve.guards["impact"].direction == "falling" and valve.guards["impact"].sidedness == "unilateral"
    assert "relief_valve" in saltus.list()
    assert "struct relief_valve" in valve.source and "Champneys" in valve.reference


def test_one_instance_has_no_dimensions_and_the_numbers_of_free_fall(ball):
    ds = ball.run(t=(0, 0.3), height=2.0, rtol=1e-10)
    assert ds["final_height"].dims == ()
    assert float(ds["final_height"]) == pytest.approx(2 - G / 2 * 0.3**2, abs=1e-12)
    assert ds["final_height"].attrs["units"] == "m"
    assert ds["final_height"].attrs["long_name"].startswith("height of the ball above the floor")
    assert bool(ds["ok"]) and int(ds["status"]) == 0


def test_a_product_is_kept_as_dimensions(ball):
    e, h = np.array([0.5, 0.7]), np.array([1.0, 2.0, 3.0])
    ds = ball.run(t=(0, 1.0), restitution=e, height=h, samples=[0.25, 0.5, 1.0], events=True, threads=2, chunk=2)
    assert ds["final_height"].dims == ("restitution", "initial_height")
    assert ds["height"].dims == ("restitution", "initial_height", "time")
    np.testing.assert_array_equal(ds["restitution"], e)
    np.testing.assert_array_equal(ds["initial_height"], h)
    np.testing.assert_array_equal(ds["instance"], np.arange(6).reshape(2, 3))
    np.testing.assert_allclose(ds["height"].sel(time=0.25), np.broadcast_to(h - G / 2 * 0.25**2, (2, 3)), rtol=1e-6)
    # every ball's first bounce, and its speed after it
    for i, instance in np.ndenumerate(ds["instance"].values):
        first = ds.saltus.events(instance).isel(event=0)
        assert float(first["event_time"]) == pytest.approx(math.sqrt(2 * h[i[1]] / G), rel=1e-6)
        assert float(first["event_velocity"]) == pytest.approx(e[i[0]] * math.sqrt(2 * G * h[i[1]]), rel=1e-6)
    assert np.all(np.diff(ds["event_instance"]) >= 0)
    assert int(ds["event_row_size"].sum()) == ds.sizes["event"]


def test_arrays_keep_their_bits(ball):
    h = np.random.default_rng(1).uniform(1, 2, 7)
    ds = ball.run(t=(0, 0.1), height=h)
    assert ds["initial_height"].values.tobytes() == h.tobytes()


def test_masked_values_are_missing(ball):
    speeds = np.ma.masked_array([1.0, 2.0, 999.0], mask=[False, False, True])
    for given in ({"restitution": speeds}, {"zip": {"restitution": speeds}}):
        with pytest.raises(saltus.SpecError, match="must have finite numbers; number 2 is nan"):
            ball.run(**given)
    with pytest.raises(saltus.SpecError, match="None: must be a number"):
        ball.run(samples=np.ma.masked_array([0.1, 0.2], mask=[False, True]))
    whole = ball.run(restitution=np.ma.masked_array([0.5, 0.6]))
    assert whole.restitution.values.tolist() == [0.5, 0.6]


def test_times_with_a_unit_are_refused(ball):
    for given in ({"restitution": pd.to_timedelta([1, 2], unit="s")}, {"samples": pd.to_timedelta([1, 2], unit="s")}):
        with pytest.raises(saltus.SpecError, match="numbers in the unit of the model"):
            ball.run(**given)


def test_rows_of_a_table_are_instances(ball):
    rows = pd.DataFrame({"height": [1.0, 2.0, 4.0], "restitution": [0.5, 0.6, 0.7]})
    for given in (rows, {"zip": dict(rows)}):
        ds = ball.run(t=(0, 0.2), sweep=given)
        assert ds["final_height"].dims == ("row",)
        np.testing.assert_allclose(ds["final_height"], rows["height"] - G / 2 * 0.2**2, rtol=1e-6)
        np.testing.assert_array_equal(ds["restitution"], rows["restitution"])


def test_the_index_of_a_table_is_kept_and_its_text_is_named(ball):
    rows = pd.DataFrame({"height": [1.0, 2.0], "restitution": [0.5, 0.6]}, index=["heavy", "light"])
    ds = ball.run(t=0.2, sweep=rows)
    assert float(ds["final_height"].sel(row="light")) == pytest.approx(2 - G / 2 * 0.2**2, rel=1e-6)
    levels = ball.run(t=0.2, sweep=rows.set_index(pd.MultiIndex.from_tuples([("a", 1), ("a", 2)], names=["who", None])))
    assert list(levels["who"].values) == ["a", "a"] and list(levels["row_1"].values) == [1, 2]
    assert "row" not in ball.run(t=0.2, sweep=rows.reset_index(drop=True)).coords
    with pytest.raises(saltus.SpecError, match="^label: must have numbers; number 1 is 'b'"):
        ball.run(t=0.2, sweep=rows.assign(label=[1.0, "b"]))


def test_a_setting_that_is_a_quantity_too_has_a_long_form(tmp_path):
    (tmp_path / "seeds.hpp").write_text(
        """#include <saltus.hpp>
struct seeds {
  static constexpr auto title = "Growth of seeds", source = "";
  static constexpr double span[] = {0.0, 1.0};
  enum state { mass };
  static constexpr saltus::variable<state> state_list[] = {{mass, 0.0, "kg", "of all plants"}};
  enum parameter { seed, rtol };
  static constexpr saltus::variable<parameter> parameter_list[] = {{seed, 1.0, "1", "number of seeds"}, {rtol, 1.0, "kg/d", "of each"}};
  static void rhs(const auto& at, auto& dy) { dy[mass] = at[seed] * at[rtol]; }
};
""")
    seeds = saltus.model(tmp_path / "seeds.hpp")
    with pytest.raises(saltus.SpecError, match="sample={'parameters': {'seed': ...}} for the quantity, and sample={'seed': ...} for the setting"):
        seeds.run(seed=3)
    with pytest.raises(saltus.SpecError, match="settings={'rtol': ...} for the setting"):
        seeds.run(rtol=2.0)
    with pytest.raises(saltus.SpecError, match=r"seed is a key of \[sample\]; the quantity of that name is given in \[sample.parameters\]"):
        seeds.run(sample={"seed": {"uniform": [1.0, 2.0]}, "count": 3})
    ds = seeds.run(sample={"parameters": {"seed": {"uniform": [1.0, 2.0]}}, "count": 5, "seed": 7}, settings={"rtol": 1e-9},
                   sweep={"parameters": {"rtol": [1.0, 2.0]}})
    assert ds["final_mass"].shape == (2, 5) and ds.attrs["seed"] == 7
    np.testing.assert_allclose(ds["final_mass"], ds["seed"] * ds["rtol"], rtol=1e-12)  # constant rate for 1 d
    assert 1 <= float(ds["seed"].min()) < float(ds["seed"].max()) <= 2


def test_short_forms_are_those_of_the_long_ones(ball):
    short = ball.run(t=1.0, samples=5, events=["impact"], reduce="max(height)")
    long = ball.run(t=(0, 1.0), samples={"count": 5}, events={"guards": ["impact"]}, reduce=["max(height)"])
    xr.testing.assert_equal(short, long)
    xr.testing.assert_equal(short, ball.run(t=1.0, samples=5, events="impact", reduce=["max(height)"]))
    assert ball.run(t=1.0, samples=[0.25, 0.5])["time"].values.tolist() == [0.25, 0.5]


def test_a_reduction_of_a_discrete_variable_says_what_to_write(valve):
    with pytest.raises(saltus.SpecError, match=r"seated is a discrete variable.*out\[seated_now\] = at\[seated\]"):
        valve.run(reduce="max(seated)")


@pytest.mark.long
def test_progress_says_what_is_compiled(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SALTUS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    saltus.builtin("lorenz").run(t=0.1, samples=3, reduce="max(x)", progress=True)
    assert "compiling lorenz with dp5, samples, 1 reduction" in capsys.readouterr().err


def test_a_run_of_the_same_instances_is_remarked_on(ball):
    with pytest.warns(UserWarning, match="all 3 instances are the same"):
        ball.run(t=0.1, count=3)


def test_a_model_in_a_notebook(ball):
    text = ball._repr_html_()
    assert "<td>restitution</td><td>0.7</td>" in text and "height of the ball above the floor" in text


def test_the_module_is_the_program():
    for command, words in ((["list"], "bouncing_ball"), (["plot", "--help"], "FILE.nc")):
        told = subprocess.run([sys.executable, "-m", "saltus", *command], capture_output=True, text=True)
        assert told.returncode == 0 and words in told.stdout, told.stderr


def test_random_samples(ball):
    ds = ball.run(t=(0, 0.1), height=[1.0, 2.0], restitution={"uniform": [0.5, 0.9]}, count=50, seed=7)
    assert ds["final_height"].dims == ds["restitution"].dims == ("initial_height", "sample")
    assert 0.5 <= float(ds["restitution"].min()) < float(ds["restitution"].max()) <= 0.9
    again = ball.run(t=(0, 0.1), height=[1.0, 2.0], restitution={"uniform": [0.5, 0.9]}, count=50, seed=7, threads=1)
    xr.testing.assert_equal(ds.drop_vars("ok"), again.drop_vars("ok"))


def test_statistics_without_rows(ball):
    h = np.linspace(1, 2, 11)
    ds = ball.run(t=(0, 0.1), height=h, rows=False)
    fall = h - G / 2 * 0.01
    assert "status" not in ds and "instance" not in ds.coords
    assert float(ds["statistics_final_height"].sel(statistic="mean")) == pytest.approx(fall.mean(), rel=1e-9)
    assert float(ds["statistics_final_height"].sel(statistic="standard_deviation")) == pytest.approx(fall.std(ddof=1), rel=1e-9)


def test_a_problem_of_salib_is_understood(ball):
    problem = {"num_vars": 3, "names": ["restitution", "height", "gravity"], "bounds": [[0.5, 0.9], [0.8, 1.2, 0.25], [9.8, 0.1]],
               "dists": ["unif", "triang", "norm"]}
    given = {"t": (0, 0.1), "count": 16, "design": "sobol"}
    ds = ball.run(problem=problem, **given)
    own = ball.run(restitution={"uniform": [0.5, 0.9]}, height={"triangular": [0.8, 0.9, 1.2]}, gravity={"normal": [9.8, 0.1]}, **given)
    for name in ("restitution", "initial_height", "gravity"):
        assert ds[name].values.tobytes() == own[name].values.tobytes()
    for wrong, words in ((dict(problem, dists=["unif", "triang", "nrom"]), "did you mean norm?"),
                         (dict(problem, groups=["a", "a", "b"]), "groups of inputs"),
                         (dict(problem, bounds=[[0.5, 0.9], [0.8, 1.2], [9.8, 0.1]]), "triang must have 3 numbers, and has 2"),
                         (dict(problem, num_vars=2), "must be as many"), ({"names": ["height"]}, "names and bounds")):
        with pytest.raises(saltus.SpecError, match=words.replace("?", "[?]")):
            ball.run(problem=wrong, **given)


def test_samples_are_added_until_indices_are_known_well_enough(ball):
    told = []
    options = {"t": (0, 0.55), "problem": {"names": ["restitution", "height"], "bounds": [[0.5, 0.9], [0.8, 1.2]]}, "rows": False,
               "design": "saltelli", "reduce": ["max(velocity)"], "indices": ["max(velocity)"]}
    ds = ball.run(until={"half_width": 0.02}, progress=lambda done, of: told.append((done, of)), **options)
    count = int(ds.attrs["design_count"])
    assert count > 2048 and told[-1] == (4 * count, 4 * count)
    assert float((ds["sensitivity_first_order_high"] - ds["sensitivity_first_order_low"]).max()) <= 0.04
    plain = ball.run(count=count, **options)
    for name in ("sensitivity_first_order", "sensitivity_total_order_high", "statistics_max(velocity)"):
        assert ds[name].values.tobytes() == plain[name].values.tobytes()


def test_instances_that_fail_are_a_mask(ball):
    # Bounces until 0.5^k 4.43 m/s is below 0.1 m/s: 6. With 0.7 there are 11, with 0.9 there are 4 within 3 s.
    options = {"t": (0, 3.0), "restitution": [0.5, 0.7, 0.9], "max_events": 8}
    with pytest.warns(saltus.IncompleteWarning) as told:
        ds = ball.run(**options)
    assert len(told) == 1 and told[0].filename == __file__
    assert str(told[0].message).startswith("1 of 3 instances failed, 0 % allowed (run.allowed_failed): 1 event_budget; they are False in `ok`")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ball.run(allowed_failed=0.34, **options)
        warnings.simplefilter("ignore", saltus.IncompleteWarning)
        ball.run(**options)
    with pytest.warns(saltus.IncompleteWarning, match="1 of 3 instances failed.*1 event_budget$"):
        ball.run(rows=False, **options)
    assert ds["ok"].values.tolist() == [True, False, True]
    names = ds["status"].attrs["flag_meanings"].split()
    assert [names[list(ds["status"].attrs["flag_values"]).index(s)] for s in ds["status"].values] == \
        ["stopped", "event_budget", "finished"]


@pytest.mark.parametrize("options, words", [
    ({"restituton": 0.5}, "restituton: unknown key; did you mean restitution?"),
    ({"rtol": -1}, "rtol = -1: must be a positive number"),
    ({"method": "dp6"}, "did you mean dp5?"),
    ({"height": [1.0, math.nan]}, "must have finite numbers; number 1 is nan"),
    ({"title": 3}, "title = 3: must be a text in quotes"),
    ({"reduce": ["max(hight)"]}, "did you mean height?"),
    ({"height": np.ones((2, 2))}, "must have one dimension"),
    ({"t": (1, 1)}, "must be [begin, end]"),
])
def test_errors_have_the_words_of_the_command_line(ball, options, words):
    with pytest.raises(saltus.SpecError) as raised:
        ball.run(**options)
    assert words in str(raised.value)
    assert not str(raised.value).startswith("--set") and raised.value.exit_code == 2


def test_families_are_given_and_read_as_a_whole(tmp_path):
    path = tmp_path / "runners.hpp"
    path.write_text("""#include <saltus.hpp>
    struct runners {
      static constexpr double span[] = {0.0, 2.0};
      enum state { place };
      static constexpr saltus::variable<state> state_list[] = {saltus::variable<state>{place, 0.0, "m", "p"}.of(3)};
      enum parameter { speed, extra = speed + 3 };
      static constexpr saltus::variable<parameter> parameter_list[] = {
          saltus::variable<parameter>{speed, 1.0, "m/s", "s"}.of(3), {extra, 0.0, "m/s", "e"}};
      static void rhs(const auto& at, auto& dy) {
        for (int i = 0; i < 3; ++i) dy(place, i) = at(speed, i) + at[extra];
      }
    };
    """)
    runners = saltus.model(path)
    ds = runners.run(place=[1.0, 2.0, 4.0], speed=0.5, samples=[0.0, 2.0])
    np.testing.assert_allclose(ds.saltus.family("final_place"), [2, 3, 5], rtol=1e-14)
    assert ds.saltus.family("place").dims == ("time", "member") and ds.saltus.family("place").shape == (2, 3)
    ds = runners.run(speed=np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), initial={"place": 1.0}, extra=[0.0, 1.0])
    np.testing.assert_allclose(ds.saltus.family("final_place").values.reshape(4, 3),
                               [[3, 5, 7], [5, 7, 9], [7, 5, 3], [9, 7, 5]], rtol=1e-14)
    together = runners.run(zip={"speed": np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), "extra": [0.0, 1.0]})
    np.testing.assert_allclose(together.saltus.family("final_place"), [[2, 4, 6], [8, 6, 4]], rtol=1e-14)
    drawn = runners.run(speed={"normal": [0, 1]}, count=5, seed=3)
    one_by_one = runners.run(speed_0={"normal": [0, 1]}, speed_1={"normal": [0, 1]}, speed_2={"normal": [0, 1]}, count=5, seed=3)
    np.testing.assert_array_equal(drawn.saltus.family("final_place"), one_by_one.saltus.family("final_place"))
    assert len(np.unique(drawn.saltus.family("final_place"))) == 15
    (tmp_path / "speeds.csv").write_text("s\n1.5\n2.5\n3.5\n")
    from_file = runners.run(speed={"csv": str(tmp_path / "speeds.csv"), "column": "s"})
    np.testing.assert_allclose(from_file.saltus.family("final_place"), [3, 5, 7], rtol=1e-14)
    whole = runners.run(zip={"speed": np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), "extra": [0.0, 1.0]}, samples=5,
                        reduce=["max(place_0)", "max(place_1)", "max(place_2)", "mean(place_1)"])
    families = whole.saltus.families()
    assert families["place"].dims == ("row", "time", "member_of_place") and families["place"].attrs["units"] == "m"
    assert families["speed"].dims == ("row", "member_of_speed") and "speed" in families.coords
    np.testing.assert_allclose(families["final_place"], [[2, 4, 6], [8, 6, 4]], rtol=1e-14)
    np.testing.assert_allclose(families["max(place)"].sel(member_of_place=2), [6, 4], rtol=1e-14)
    assert not {"place_0", "final_place_2", "max(place_1)"} & {*families.variables} and "mean(place_1)" in families
    xr.testing.assert_equal(families.saltus._ds, whole)
    again = families.saltus.rerun(1)
    assert [float(again[f"final_place_{k}"]) for k in range(3)] == list(families["final_place"].values[1])
    assert [float(again[f"speed_{k}"]) for k in range(3)] == [3, 2, 1]
    with pytest.raises(saltus.SpecError, match="must be a number, or 3 numbers, one for each of speed_0 to speed_2; there are 2"):
        runners.run(speed=[1.0, 2.0])
    for width in (2, 4):
        with pytest.raises(saltus.SpecError, match=r"speed: must have shape \(rows, 3\), a column for each member"):
            runners.run(speed=np.ones((3, width)))
        with pytest.raises(saltus.SpecError, match=r"place: must have shape \(rows, 3\), a column for each member"):
            runners.run(zip={"place": np.ones((3, width))})
    with pytest.raises(saltus.SpecError, match="speed_1 must have one value, but has another"):
        runners.run(speed=2.0, speed_1=3.0)
    with pytest.raises(saltus.SpecError, match="not a parameter or state of runners"):
        saltus.run(f'model = "{path}"\n[sweep]\nspeed = [1.0, 2.0]\n') if False else runners.run(sweep={"speed": [1.0, 2.0]})
    with pytest.raises(saltus.SpecError, match="no variables extra_0"):
        ds.saltus.family("extra")


def test_families_that_differ_stay_single():
    ds = xr.Dataset({**{f"x_{k}": (("instance", "time"), np.full((2, 3), k), {"units": "m", "long_name": "x"}) for k in range(12)},
                     **{f"event_x_{k}": ("event", np.full(4, k)) for k in range(12)}, "max(x_0)": ("instance", [1, 2]),
                     "max(x_1)": ("instance", [3, 4]), "y_0": ("instance", [1, 2]), "y_1": 3.0, "z_0": 1, "z_2": 2, "u_1": 1, "u_2": 2},
                    {"w_0": ("instance", [1, 2]), "w_1": ("instance", [5, 6]), "time": [0.0, 1.0, 2.0]}, {"title": "t"})
    families = ds.saltus.families()
    assert families["x"].dims == ("instance", "time", "member_of_x") and families["event_x"].dims == ("event", "member_of_x")
    np.testing.assert_array_equal(families["x"][0, 0], range(12))
    assert families["x"].attrs == {"units": "m", "long_name": "x"} and families.attrs == ds.attrs
    assert {"max(x_0)", "y_0", "z_0", "u_1"} <= {*families.variables} and families["w"].dims == ("instance", "member_of_w")
    assert "w" in families.coords and "x_3" not in families
    xr.testing.assert_identical(families.saltus._ds, ds)
    plain = xr.Dataset({"x": 1})
    assert plain.saltus.families() is plain


def test_no_such_model_and_no_model(tmp_path):
    with pytest.raises(saltus.SpecError, match="did you mean bouncing_ball"):
        saltus.builtin("bouncing_bal")
    with pytest.raises(saltus.SpecError, match="no such file"):
        saltus.model(tmp_path / "house.hpp")
    (tmp_path / "empty.hpp").write_text("#include <saltus.hpp>\n")
    with pytest.raises(saltus.ModelError, match="defines no struct empty") as raised:
        saltus.model(tmp_path / "empty.hpp")
    assert raised.value.exit_code == 4


def test_a_spec_and_what_takes_the_place_of_its_keys(tmp_path):
    spec = tmp_path / "balls.toml"
    spec.write_text('model = "bouncing_ball"\nt = [0.0, 0.2]\n[sweep]\nheight = { from = 1.0, to = 3.0, count = 5 }\n'
                    '[output]\nfile = "balls.nc"\n')
    ds = saltus.run(spec)
    np.testing.assert_allclose(ds["final_height"], np.linspace(1, 3, 5) - G / 2 * 0.04, rtol=1e-6)
    assert not list(tmp_path.glob("*.nc"))
    ds = saltus.run(spec, t=(0, 0.1), height=np.array([1.5]))
    np.testing.assert_allclose(ds["final_height"], [1.5 - G / 2 * 0.01], rtol=1e-6)


def test_a_file_only_if_asked_for(ball, tmp_path):
    path = tmp_path / "a.nc"
    ds = ball.run(t=(0, 1), height=[1.0, 2.0], samples=5, events=True, file=path, title="Two balls")
    assert path.exists()
    with pytest.raises(saltus.Error, match="exists"):
        ball.run(t=(0, 1), file=path)
    pytest.importorskip("netCDF4")
    with xr.open_dataset(path) as stored:
        for name in ("final_height", "height", "event_time", "steps", "status"):
            assert stored[name].values.tobytes() == ds[name].values.tobytes(), name
            assert stored[name].attrs["long_name"] == ds[name].attrs["long_name"]
        assert stored.attrs["title"] == ds.attrs["title"] == "Two balls"
        assert stored.attrs["model_hash"] == ds.attrs["model_hash"] and stored.attrs["spec"] == ds.attrs["spec"]
        again = stored.saltus.rerun(1)
        assert float(again["final_height"]) == float(ds["final_height"][1])


def test_one_instance_again_has_the_same_bits(valve):
    ds = valve.run(t=(0, 5), flow=np.linspace(2, 6, 5), restitution={"normal": [0.8, 0.05]}, count=3, seed=1, events=True,
                   rtol=1e-9, samples=3)
    again = ds.saltus.rerun(7, samples=101)
    one = ds.saltus.instance(7)
    assert again.sizes["time"] == 101
    for name in ("final_lift", "final_velocity", "final_pressure", "steps", "restitution", "flow"):
        assert again[name].values.tobytes() == one[name].values.tobytes(), name
    assert again["event_time"].values.tobytes() == ds.saltus.events(7)["event_time"].values.tobytes()
    assert again["lift"].values[[0, 50, 100]].tobytes() == one["lift"].values.tobytes()
    with pytest.raises(saltus.SpecError, match="not in the result"):
        ds.saltus.rerun(15)


def test_a_model_of_a_stranger_is_run_if_it_is_trusted(ball):
    ds = ball.run(t=(0, 0.3), height=[1.0, 2.0], rtol=1e-10)
    text = ds.attrs["model_text"] + f"// of a stranger, {time.time()}\n"
    strange = ds.assign_attrs(model_hash="0" * 32, model_text=text, model_file="/nowhere/ball.hpp")
    with pytest.raises(saltus.SpecError, match="trust=True") as refusal:
        strange.saltus.rerun(1)
    assert "headers" in str(refusal.value), "where it can be read"
    with pytest.raises(saltus.SpecError):
        strange.saltus.model  # noqa: B018
    again = strange.saltus.rerun(1, trust=True)
    assert float(again["final_height"]) == float(ds["final_height"][1])
    assert float(strange.saltus.rerun(0)["final_height"]) == float(ds["final_height"][0]), "it has been run by now"
    with pytest.raises(saltus.SpecError, match="no name of a model"):
        strange.assign_attrs(model="../../evil").saltus.rerun(1, trust=True)


def test_settings_of_a_stranger_write_no_file_and_read_none(ball, tmp_path):
    ds = ball.run(t=(0, 0.3), height=[1.0, 2.0], rtol=1e-10)
    written, read = tmp_path / "written.nc", tmp_path / "read.csv"
    read.write_text("height\n5.0\n")
    told = ds.attrs["settings"].replace("# file: none", f'file = "{written}"')
    assert str(written) in told
    told = f'sweep = {{ table = "{read}" }}\ninitial = {{ from = "{written}" }}\n' + told
    again = ds.assign_attrs(settings=told).saltus.rerun(1)
    assert not written.exists()
    assert float(again["final_height"]) == float(ds["final_height"][1])


def test_ctrl_c_ends_a_run(valve):
    valve.run(t=(0, 0.1))  # compiles
    begun = time.monotonic()
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        valve.run(flow=np.linspace(2, 6, 200_000), rtol=1e-12)
    assert time.monotonic() - begun < 10
    assert bool(valve.run(t=(0, 0.1))["ok"])


def test_others_run_meanwhile_and_progress_is_told(valve):
    told, ticks = [], []
    ended = threading.Event()

    def tick():
        while not ended.wait(0.01):
            ticks.append(1)

    other = threading.Thread(target=tick)
    other.start()
    ds = valve.run(flow=np.linspace(2, 6, 400), rtol=1e-9, progress=lambda done, of: told.append((done, of)))
    ended.set()
    other.join()
    assert told[-1] == (400, 400) and told == sorted(told)
    assert len(ticks) > 0 and bool(ds["ok"].all())


def test_several_threads_may_run_one_model_at_once(ball):
    runs = [None] * 4

    def run(k):
        runs[k] = ball.run(t=(0, 1.0), height=1.0 + k + np.arange(50) / 50)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, ds in enumerate(runs):
        alone = ball.run(t=(0, 1.0), height=1.0 + k + np.arange(50) / 50)
        assert ds["final_height"].values.tobytes() == alone["final_height"].values.tobytes()


def test_results_are_ordinary_datasets(ball):
    ds = ball.run(t=(0, 0.1), height=[1.0, 2.0], samples=3, progress=True)
    xr.testing.assert_identical(pickle.loads(pickle.dumps(ds)), ds)
    assert ds.attrs["state"] == "complete" and ds.attrs["count_ok"] == 2
    ds["final_height"][:] = 0.0
    assert float(ds["final_height"].sum()) == 0


def test_tables_are_given_as_series_or_columns(tmp_path):
    house = saltus.builtin("house")
    assert house.tables["outdoor"].interpolation == "linear" and house.tables["outdoor"].at_ends == "periodic"
    times, values = np.array([0.0, 7.0, 15.0, 24.0]), np.array([2.0, -3.0, 6.0, 2.0])
    options = {"t": (0, 48), "resistance": [4.0, 6.0], "events": True, "reduce": ["min(outside)", "mean(outside)"]}
    ds = house.run(tables={"outdoor": (times, values)}, **options)
    assert ds["min(outside)"].values.tolist() == [-3.0, -3.0]
    np.testing.assert_allclose(ds["mean(outside)"], (-3.5 + 12.0 + 36.0) / 24, rtol=1e-12)
    assert ds["table_outdoor"].values.tolist() == values.tolist() and ds["knot_outdoor"].values.tolist() == times.tolist()
    series = house.run(tables={"outdoor": xr.DataArray(values, dims="hour", coords={"hour": times})}, **options)
    assert series["final_temperature"].values.tobytes() == ds["final_temperature"].values.tobytes()
    own = house.run(**options)
    assert own["final_temperature"].values.tobytes() != ds["final_temperature"].values.tobytes()
    again = ds.saltus.rerun(1)
    assert float(again["final_temperature"]) == float(ds["final_temperature"][1])
    house.run(tables={"outdoor": (times, values)}, file=tmp_path / "house.nc", **options)
    with xr.open_dataset(tmp_path / "house.nc", decode_times=False) as stored:
        assert float(stored.saltus.rerun(0)["final_temperature"]) == float(ds["final_temperature"][0])
    with pytest.raises(saltus.SpecError, match="tables.outdoor"):
        house.run(tables={"outdoor": [1.0, 2.0, 3.0]})
    with pytest.raises(saltus.SpecError, match="must end with the value"):
        house.run(tables={"outdoor": (times, times)})


def test_discrete_variables_begin_as_they_are_given(valve):
    # A valve that rests on its seat waits until the pressure, which grows by 20 x 4, has reached the spring's 10.
    ds = valve.run(t=(0, 0.25), lift=0.0, seated=[0, 1], rtol=1e-10, events=True)
    assert list(ds["initial_seated"].values) == [0, 1]
    log = ds.saltus.events(1)
    assert float(log["event_time"][0]) == pytest.approx(0.125, rel=1e-12)
    with pytest.raises(saltus.SpecError, match="instance 2: is not in the result; it has 2"):
        ds.saltus.events(2)
    again = ds.saltus.rerun(1)
    for name in ("final_lift", "final_pressure", "final_seated", "steps"):
        assert float(again[name]) == float(ds[name][1])


def test_a_run_goes_on_from_a_file(valve, tmp_path):
    first = valve.run(t=(0, 2), flow=np.linspace(2, 6, 5), file=tmp_path / "a.nc")
    on = valve.run(initial={"from": str(tmp_path / "a.nc")}, t=3)
    assert float(on["t_begin"]) == 2.0
    for name in ("lift", "velocity", "pressure", "seated"):
        assert np.array_equal(on[f"initial_{name}"].values.ravel(), first[f"final_{name}"].values)
    assert np.array_equal(on["flow"].values.ravel(), first["flow"].values)


@pytest.mark.parametrize("method", ["dp5", "dop853", "radau5"])
def test_an_event_at_the_end_of_a_run_is_in_it_or_in_the_next(method, tmp_path):
    """A guard that passes its root at the end, to rounding: some instances have the event in the first run, some in the second, all have one."""
    m = saltus.Symbolic("passing", span=(0, 1.25))
    rate, level = m.parameter("rate", 1.0), m.parameter("level", 1.25)
    x, passed = m.state("x", 0.0), m.discrete("passed", 0)
    m.equation(x, rate)
    m.on(m.guard("passes", x - level, "both"), {passed: passed + 1})
    rates = np.random.default_rng(1).uniform(0.1, 3, 400)
    first = m.model().run(zip={"rate": rates, "level": np.nextafter(rates * 1.25, [0, 9] * 200)}, method=method, file=tmp_path / "a.nc")
    assert first["ok"].all() and 0 < first["final_passed"].sum() < 400
    then = m.model().run(initial={"from": str(tmp_path / "a.nc")}, t=3, method=method)
    assert then["ok"].all() and (then["final_passed"] == 1).all()


def test_lyapunov_exponents_have_a_dimension_of_their_own():
    lorenz = saltus.builtin("lorenz")
    ds = lorenz.lyapunov(t=(0, 60), start=10, rho=np.array([14.0, 28.0]))
    assert ds["lyapunov"].dims == ("rho", "exponent") and list(ds["exponent"]) == [1, 2, 3]
    # divergence of the flow, and chaos only at 28
    np.testing.assert_allclose(ds["lyapunov"].sum("exponent"), -(10 + 1 + 8 / 3), rtol=1e-4)
    assert ds["lyapunov"].sel(exponent=1)[0] < 0 < ds["lyapunov"].sel(exponent=1)[1]
    assert bool((ds["lyapunov_error"] < 1).all()) and bool(ds["ok"].all())
    one = lorenz.lyapunov(t=(0, 5), exponents=1)
    assert one["lyapunov"].dims == ("exponent",) and one.sizes["exponent"] == 1
