"""Models written with SymPy have the results of the equivalent built-in ones."""

import re

import numpy as np
import pandas as pd
import pytest
import sympy as sp
import xarray as xr

import saltus


def as_builtin(model, kind, like, names):
    return [getattr(model, kind)(name, row.value, row.unit, row.about)
            for name, row in ((name, getattr(like, kind + "s")[name]) for name in names)]


def relief_valve(like):
    b = saltus.Symbolic("valve_from_python", title="Relief valve", span=like.span)
    x, v, p = as_builtin(b, "state", like, ["lift", "velocity", "pressure"])
    damping, preload, flow, compressibility, e = as_builtin(b, "parameter", like, list(like.parameters))
    (seated,) = as_builtin(b, "discrete", like, ["seated"])
    b.equation(x, v)
    b.equation(v, sp.Piecewise((0, sp.Eq(seated, 1)), (p - damping * v - (x + preload), True)))
    b.equation(p, compressibility * (flow - x * sp.sqrt(p)))
    impact = b.guard("impact", x, "falling", "unilateral")
    lift_off = b.guard("lift_off", sp.Piecewise((p - preload, sp.Eq(seated, 1)), (-1, True)), "rising")
    b.on(impact, {v: -e * v})
    b.on(lift_off, {seated: 0})
    b.rest({x: 0, v: 0})
    b.rest({seated: 1}, when=p < preload)
    return b


def pulsed_dose(like):
    b = saltus.Symbolic("doses_from_python", span=like.span)
    gut, blood = as_builtin(b, "state", like, ["gut", "blood"])
    absorption, elimination, volume, amount, loading, interval, t_first, t_loading = \
        as_builtin(b, "parameter", like, list(like.parameters))
    b.equation(gut, -absorption * gut)
    b.equation(blood, absorption * gut - elimination * blood)
    b.on(b.time_event("dose", every=interval, first=t_first), {gut: gut + amount})
    b.on(b.time_event("loading_dose", at=t_loading), {gut: gut + loading})
    b.output("concentration", blood / volume, "mg/L")
    return b


def bouncing_ball(like):
    b = saltus.Symbolic("ball_from_python", span=like.span)
    h, v = as_builtin(b, "state", like, ["height", "velocity"])
    gravity, e, v_min = as_builtin(b, "parameter", like, list(like.parameters))
    b.equation(h, v)
    b.equation(v, -gravity)
    b.on(b.guard("impact", h, "falling", "unilateral"), {v: -e * v}, stop=v < v_min)
    return b


@pytest.mark.parametrize("write, name, options", [
    (relief_valve, "relief_valve", {"flow": [2.0, 4.0], "t": (0, 20), "rtol": 1e-10}),
    (pulsed_dose, "pulsed_dose", {"interval": [6.0, 8.0], "rtol": 1e-10}),
    (bouncing_ball, "bouncing_ball", {"restitution": [0.5, 0.7]}),
])
def test_a_model_in_sympy_is_the_built_in_one(write, name, options):
    like = saltus.builtin(name)
    written = write(like)
    assert written.source == write(like).source
    ours, theirs = (m.run(events=True, samples=7, **options) for m in (written.model(), like))
    assert theirs.sizes["event"] > 2
    np.testing.assert_array_equal(ours["event_guard"], theirs["event_guard"])
    np.testing.assert_allclose(ours["event_time"], theirs["event_time"], rtol=1e-7)
    for column in [*like.states, *like.outputs]:
        np.testing.assert_allclose(ours[column], theirs[column], rtol=1e-6, atol=1e-7)
        assert ours[column].attrs["units"] == theirs[column].attrs["units"]
    np.testing.assert_array_equal(ours["status"], theirs["status"])


def test_expressions_become_code_of_models():
    b = saltus.Symbolic("m")
    x, y = b.state("x", 1.0), b.state("y", 1.0)
    k, on = b.parameter("k", 0.1), b.discrete("on", 0)
    g = b.guard("up", x, "rising")
    code = lambda e: b._code("at", e)  # noqa: E731
    assert code(x**2) == "((at[x])*(at[x]))"
    assert code(sp.Rational(1, 3)) == "(1.0/3.0)"
    assert code(sp.Float(0.1)) == "0.1" and float(code(sp.pi)) == np.pi
    assert code(sp.sqrt(x)) == "sqrt(at[x])" and code(1 / sp.sqrt(x)) == "(1.0/sqrt(at[x]))"
    assert code(sp.Piecewise((x, sp.Eq(on, 0)), (y, True))) == "select((at[on] == 0.0), at[x], at[y])"
    assert code(sp.Piecewise((x, b.above(g)), (-x, True))) == "select(at.above(up), at[x], -at[x])"
    assert code(sp.Max(x, y, k)).count("max(") == 2
    assert code(b.t) == "at.t"
    for unknown, why in ((sp.gamma(x), "no function gamma"), (sp.zoo * x, "no ComplexInfinity"), (sp.I * x, "no ImaginaryUnit"),
                         (sp.Integral(sp.exp(-x**2), x), "no Integral"), (sp.Contains(x, sp.Interval(0, 1)), "no Contains")):
        with pytest.raises(saltus.ModelError, match=why):
            code(unknown)
    for no_number in (True, x > 0):
        with pytest.raises(saltus.ModelError, match="is a condition, where a number must be"):
            b.equation(x, no_number)
    with pytest.raises(saltus.ModelError, match="needs a last branch for all else"):
        b.equation(x, sp.Piecewise((1, x > 0)))
    with pytest.raises(saltus.ModelError, match="is no state"):
        code(x + sp.Symbol("z"))


def test_a_gear_is_told_by_its_number():
    b = saltus.Symbolic("gears", span=(0, 1))
    gear = b.discrete("gear", 1)
    x, y, z = b.state("x", 0.0), b.state("y", 0.0), b.state("z", 0.0)
    b.equation(x, sp.Piecewise((1, sp.Eq(gear, 1)), (10, sp.Eq(gear, 2)), (100, True)))
    b.equation(y, sp.Piecewise((1, sp.Ne(gear, 0)), (2, True)))
    b.equation(z, 0)
    half = b.time_event("half", at=sp.Rational(1, 2))
    b.time_event("never", at=sp.oo)
    b.on(half, {z: 5}, when=sp.Eq(gear, 0))
    gears = [-1, 0, 0.7, 1, 2, 3]
    ds = b.model().run(sweep={"initial.gear": gears}, progress=False)
    np.testing.assert_allclose(ds["final_x"], [100, 100, 100, 1, 10, 100], rtol=1e-12)
    np.testing.assert_allclose(ds["final_y"], [1, 2, 1, 1, 1, 1], rtol=1e-12)
    np.testing.assert_array_equal(ds["final_z"], [0, 5, 0, 0, 0, 0])


def test_names_of_the_header_leave_those_of_the_model_alone():
    b = saltus.Symbolic("shadows", span=(0, 1))
    x, part = b.state("x", 1.0), b.state("part_0", 2.0)
    new = b.discrete("new_x", 3)
    b.equation(x, sp.sin(x * part) + part), b.equation(part, sp.sin(x * part) - part)
    b.on(b.time_event("half", at=0.5), {x: x + new, new: x})
    ds = b.model().run(progress=False)
    assert float(ds["final_new_x"]) > 1 and not ds["status"].any()


def test_new_values_and_draws_have_names_of_their_own():
    m = saltus.Symbolic("renamed", span=(0, 1.5))
    x, x_, new_x = (m.state(name, 0.0) for name in ("x", "x_", "new_x"))
    noise, draw_0 = m.stream("noise"), m.discrete("draw_0", 7.0)
    for state in (x, x_, new_x):
        m.equation(state, 1.0)
    reaches = m.guard("reaches", x - 1, direction="rising")
    m.on(reaches, {x: x_ + 1, x_: new_x + 2, new_x: x + 3 + 0 * m.uniform(noise), draw_0: draw_0 + 1})
    ds = m.model().run(method="dp5")
    assert [round(float(ds[f"final_{name}"]), 9) for name in ("x", "x_", "new_x")] == [2.5, 3.5, 4.5]
    assert float(ds.final_draw_0) == 8


def test_a_table_by_an_index_of_times_is_refused():
    m = saltus.Symbolic("heated", span=(0, 10), time_unit="s")
    x, u = m.state("x", 0.0), m.table("u")
    m.equation(x, u)
    model, seconds, values = m.model(), pd.to_timedelta([0, 10], unit="s"), np.array([0.0, 10.0])
    assert float(model.run(method="dp5", tables={"u": (seconds / np.timedelta64(1, "s"), values)}).final_x) == pytest.approx(50)
    for table in (pd.Series(values, index=seconds), xr.DataArray(values, dims="time", coords={"time": seconds}),
                  pd.Series(values, index=pd.to_datetime([0, 10], unit="s"))):
        with pytest.raises(saltus.SpecError, match="numbers in the unit of the model"):
            model.run(method="dp5", tables={"u": table})


def test_what_begins_is_set_from_the_old_values():
    b = saltus.Symbolic("begins", span=(0, 1))
    p = b.parameter("p", 2.0)
    x, y = b.state("x", 3 * p), b.state("y", sp.sin(3 * p))
    one, two = b.discrete("one", 1), b.discrete("two", 2)
    b.equation(x, 0), b.equation(y, 0)
    later = b.scheduled("later", carries=1)
    b.begin({one: two, two: one + 10}, after={later: (one / 4, two)})
    b.on(later, {x: b.carried(later)})
    ds = b.model().run(samples=4, progress=False)
    assert (float(ds["final_one"]), float(ds["final_two"])) == (2, 11)
    np.testing.assert_array_equal(ds["x"].values.ravel(), [6, 2, 2, 2])
    assert float(ds["final_y"]) == pytest.approx(np.sin(6), abs=1e-15)
    b.state("z", sp.cos(x + 1))
    b.equation(sp.Symbol("z", real=True), 0)
    with pytest.raises(saltus.ModelError, match="z begins at .*, but x is no parameter"):
        b.source  # noqa: B018


@pytest.mark.parametrize("name, why", [("exp", "function"), ("x", "there already"), ("a b", "no name"), ("int", "C\\+\\+"),
                                       ("delete", "C\\+\\+"), ("m", "name of the model"), ("state_list", "word of models")])
def test_names_that_a_header_cannot_have(name, why):
    b = saltus.Symbolic("m")
    b.state("x", 1.0)
    with pytest.raises(saltus.ModelError, match=why):
        b.parameter(name, 1.0)


def test_a_state_without_an_equation():
    b = saltus.Symbolic("m")
    b.state("x", 1.0)
    with pytest.raises(saltus.ModelError, match="no equation of x"):
        b.model()


@pytest.mark.long
def test_tables_of_its_own_and_given_ones():
    b = saltus.Symbolic("heated", span=(0, 4))
    level, warmth = b.state("level", 0.0, "m"), b.state("warmth", 0.0, "J")
    inflow = b.table("inflow", "m/s", "what flows in", "step")
    power = b.table("power", "W", "of the heater", "linear", "periodic", ([0.0, 1.0, 2.0], [0.0, 3.0, 0.0]))
    b.equation(level, inflow)
    b.equation(warmth, power)
    m = b.model()
    assert m.tables["power"].knots == 3 and m.tables["inflow"].knots == 0 and m.tables["inflow"].unit == "m/s"
    ds = m.run(tables={"inflow": ([0.0, 1.5, 4.0], [2.0, 1.0, 0.0])}, rtol=1e-3)
    assert float(ds["final_level"]) == pytest.approx(1.5 * 2 + 2.5 * 1, rel=1e-14)
    assert float(ds["final_warmth"]) == pytest.approx(2 * 3.0, rel=1e-14)  # two triangles
    with pytest.raises(saltus.ModelError, match="did you mean pchip"):
        b.table("other", interpolation="pchp")


@pytest.mark.long
def test_tables_whose_curve_a_parameter_chooses(tmp_path):
    b = saltus.Symbolic("loaded", span=(0, 2))
    x, curve = b.state("x", 0.0), b.parameter("curve", 0.0)
    b.equation(x, b.table("load", "N", "on it", "linear", chosen_by=curve))
    with pytest.raises(saltus.ModelError, match="must be a parameter of loaded"):
        b.table("other", chosen_by=x)
    m = b.model()
    assert m.tables["load"].chosen_by == "curve"
    times, loads = [0.0, 1.0, 2.0], np.array([[0.0, 2.0, 2.0], [1.0, 1.0, 3.0], [4.0, 0.0, 0.0]])
    areas, options = [3.0, 3.0, 2.0], {"curve": [0, 1, 2], "rtol": 1e-3}
    for given in ((times, loads), pd.DataFrame(loads.T, index=times, columns=["a", "b", "c"])):
        ds = m.run(tables={"load": given}, **options)
        np.testing.assert_allclose(ds["final_x"], areas, rtol=1e-14)
        assert ds["table_load"].dims == ("curve_load", "knot_load") and (ds["table_load"] == loads).all()
    again = ds.saltus.rerun(2, trust=True)
    assert float(again["final_x"]) == float(ds["final_x"][2])
    m.run(tables={"load": (times, loads)}, file=tmp_path / "x.nc", **options)
    with xr.open_dataset(tmp_path / "x.nc") as kept:
        assert (kept["table_load"] == loads).all()
    with pytest.raises(saltus.SpecError, match="as many values as times for each curve"):
        m.run(tables={"load": (times, loads[:, :2])}, **options)
    whole = saltus.Symbolic("whole", span=(0, 2))
    whole.add("p", b)
    ds = whole.model().run(tables={"p_load": (times, loads)}, p_curve=[0, 1, 2], rtol=1e-3)
    np.testing.assert_allclose(ds["final_p_x"], areas, rtol=1e-14)


@pytest.mark.long
def test_a_condition_on_a_state_is_an_event():
    # x' = 1 up to x = 0.1, and 0.5 from there: x = 0.1 + 0.5 (t - 0.1). A step across the switch would have an error of some 1e-4.
    b = saltus.Symbolic("two_rates", span=(0, 0.2))
    x, high = b.state("x", 0.0), b.parameter("high", 0.1)
    b.equation(x, sp.Piecewise((1, x < high), (0.5, True)))
    b.output("fast", sp.Piecewise((1, x < high), (0, True)))
    assert b.source == b.source
    m = b.model()
    assert list(m.guards) == ["condition_1"] and m.guards["condition_1"].about in ("x < high", "high > x")
    ds = m.run(rtol=1e-6, events=True, reduce=["mean(fast)"])
    assert float(ds["final_x"]) == pytest.approx(0.15, rel=1e-12)
    assert float(ds["event_time"][0]) == pytest.approx(0.1, rel=1e-12)
    assert float(ds["mean(fast)"]) == pytest.approx(0.5, rel=1e-9)


def test_conditions_that_make_events():
    b = saltus.Symbolic("m")
    x, y = b.state("x", 1.0), b.state("y", 1.0)
    k, on = b.parameter("k", 0.1), b.discrete("on", 0)
    b.parameter("condition_1", 0.0)
    b.equation(x, sp.Piecewise((1, sp.And(x > 1, y > k)), (2, x <= 1), (3, True)))
    b.equation(y, sp.Piecewise((1, sp.Eq(on, 1)), (2, k > 3), (3, b.t < 2), (4, True)))
    lines = [line.strip() for line in b.source.splitlines()]
    assert "enum guard { condition_1_, condition_2, condition_3 };" in lines, "of x, of y, and of the time; not of constants"
    assert {"g[condition_1_] = 1.0 - at[x];", "g[condition_3] = at.t - 2.0;"} <= set(lines)
    b.equation(x, 1)
    assert "enum guard { condition_1_ };" in b.source, "what is no longer there makes no event"
    b.equation(y, sp.Piecewise((1, sp.Eq(x, 1)), (2, True)))
    with pytest.raises(saltus.ModelError, match="equal to another at single points alone"):
        b.source  # noqa: B018


def test_formulas_in_text_are_read_and_never_run(tmp_path):
    b = saltus.Symbolic("m")
    x, k = b.state("x", "1 / 4"), b.parameter("k", 0.1)
    b.equation(x, "-k * x^2 + select(t < 1, sin(x), max(x, k)) + pi")
    assert b._rates[x] == -k * x**2 + sp.Piecewise((sp.sin(x), b.t < 1), (sp.Max(x, k), True)) + sp.pi
    assert "{x, 0.25," in b.source
    spoilt = tmp_path / "spoilt"
    for attack in (f"__import__('os').system('touch {spoilt}')", f"open('{spoilt}', 'w')", f"exec(\"open('{spoilt}', 'w')\")", "x.__class__",
                   "(lambda: 1)()", "[x for x in (1, 2)]", "x if x else x", "'text'", "f'{x}'", "x[0]", "x := 1", "x; y", "sin(x, evaluate=False)",
                   "Symbol('y')", "lambdify(x, x)", "x" + "+x" * 10_000, "(" * 5_000 + "x" + ")" * 5_000, "sin()", "x y"):
        with pytest.raises(saltus.ModelError):
            b.equation(x, attack)
    assert not spoilt.exists()
    b.equation(x, "log10(x) + log2(x) + hypot(x, 1) + expm1(x) + copysign(1, x) + round(x)")
    assert all(f"{name}(" in b.source for name in ("log10", "log2", "hypot", "expm1", "copysign", "round"))
    with pytest.raises(saltus.ModelError, match="did you mean sinh|did you mean sin"):
        b.equation(x, "sinn(x)")
    with pytest.raises(saltus.ModelError, match="finite number of double"):
        b.equation(x, "9^9^9^9 * x")
        b.source  # noqa: B018
    with pytest.raises(saltus.ModelError, match="must be an expression of SymPy"):
        b.equation(x, object())


NASTY = ['end"; } static int a = 1; //', "a\nint b = 1;", "a\rint b = 1;", "a\u2028int b = 1;", "a \\", "a??/", "a ??/\nint b;", "*/ int b; /*",
         "\x00\x1b[2J", "\\n\\x41\\u0041", "%s%n{}", "\u202eint b", "\ud800"]


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_text_stays_text(text):
    b = saltus.Symbolic("m", title=text, source=text)
    x = b.state("x", 1.0, text, text)
    b.equation(x, 1)
    b.on(b.guard("up", x - 2, "rising", about=text), {})
    b.output("o", x, text, text)
    plain = saltus.Symbolic("m", title="t", source="t")
    y = plain.state("x", 1.0, "t", "t")
    plain.equation(y, 1)
    plain.on(plain.guard("up", y - 2, "rising", about="t"), {})
    plain.output("o", y, "t", "t")
    # The same lines with other text between quotation marks and after //.
    lines = b.source.splitlines()
    assert len(lines) == len(plain.source.splitlines()) and lines == b.source.encode(errors="strict").decode().split("\n")[:-1]
    outside = [re.sub(r'"(?:[^"\\]|\\.)*"', '""', re.sub(r"^//.*[^\\]$", "//", line)) for line in lines]
    assert outside == [re.sub(r'"[^"]*"', '""', re.sub("^//.*", "//", line)) for line in plain.source.splitlines()]
    assert not any(line.endswith("\\") or "??/" in line for line in lines)


@pytest.mark.long
def test_text_that_a_compiler_has_read_is_what_was_written():
    b = saltus.Symbolic("nasty", title='"; } \\ ??/', source="a\\n?")
    b.equation(b.state("x", 1.0, "m\\s", 'a "b" ??= \\0'), 1)
    m = b.model()
    assert m.title == '"; } \\ ? ?/'.replace("? ?", "??") and m.states["x"].about == 'a "b" ??= \\0' and m.reference == "a\\n?"


def test_names_are_identifiers_alone():
    b = saltus.Symbolic("m")
    for name in ("x; int y", "x\n", "x, y", "é", "", "1x", "x}"):
        with pytest.raises(saltus.ModelError):
            b.state(name, 1.0)
        with pytest.raises(saltus.ModelError):
            saltus.Symbolic(name)
    x = b.state("x", 1.0)
    with pytest.raises(saltus.ModelError, match="is no state"):
        b.equation(x, sp.Symbol("part_0; int y"))
        b.source  # noqa: B018


def test_events_schedule_others_and_carry_numbers(tmp_path):
    b = saltus.Symbolic("belt", span=(0, 10))
    level, = [b.state("level", 0.0)]
    count, lost = b.discrete("count", 0), b.discrete("lost", 0)
    ride = b.parameter("ride", 2.5)
    put, clear = b.time_event("put", every=1, first=0.5), b.time_event("clear", at=6.25)
    arrive = b.scheduled("arrive", capacity=4, carries=2, about="a part arrives")
    b.equation(level, 0)
    b.on(put, {count: count + 1}, after={arrive: (ride, count, 2 * count)})  # 0, 1, 2, ... at 3.0, 4.0, ...
    b.on(arrive, {level: level + b.carried(arrive, 0)}, when=b.carried(arrive, 1) > 1.0)
    b.on(clear, {lost: count}, cancel=arrive)  # parts 4 and 5, of 4.5 and 5.5, are on the belt: 3 arrived at 6.0
    b.begin(after={arrive: (0.25, 100, 5)})
    ds = b.model().run(samples=[0.2, 0.3, 3.1, 4.1, 5.1, 6.1, 8.9, 9.1], events=True)
    assert int(ds["status"]) == 0
    assert ds["level"].values.tolist() == [0, 100, 100, 101, 103, 106, 106, 112]
    assert float(ds["final_lost"]) == 6
    with pytest.raises(saltus.ModelError, match="carries 2 numbers; there is no number 2"):
        b.carried(arrive, 2)
    with pytest.raises(saltus.ModelError, match="is carried by arrive, and known in its rules alone"):
        b.on(put, {count: b.carried(arrive, 0)})
    with pytest.raises(saltus.ModelError, match="put: is no scheduled time event of belt"):
        b.on(clear, after={put: 1})
    with pytest.raises(saltus.ModelError, match="carries 2 numbers, and is given 3"):
        b.on(put, after={arrive: (1, 2, 3, 4)})


def test_random_numbers_at_events(tmp_path):
    b = saltus.Symbolic("poisson", span=(0, 50))
    jumps, drift, last = b.state("jumps", 0.0), b.state("drift", 0.0), b.discrete("last", 0)
    rate = b.parameter("rate", 2.0)
    waits, sizes = b.stream("waits", "times between jumps"), b.stream("sizes")
    jump = b.scheduled("jump", capacity=1)
    size = b.normal(sizes)
    b.equation(jumps, 0)
    b.equation(drift, 0)
    b.output("seen", last)
    b.begin(after={jump: -sp.log(b.uniform(waits)) / rate})
    b.on(jump, {jumps: jumps + 1, drift: drift + size, last: size}, after={jump: -sp.log(b.uniform(waits)) / rate})
    model = b.model()
    ds = model.run(count=2000, seed=4, rows=True)
    n, sums = ds["final_jumps"].values, ds["final_drift"].values
    assert abs(n.mean() - 100) < 3 * 10 / np.sqrt(2000) and abs(n.var() / 100 - 1) < 0.15
    assert abs(sums.mean()) < 3 * 10 / np.sqrt(2000) and abs(sums.var() / 100 - 1) < 0.15
    np.testing.assert_array_equal(model.run(count=2000, seed=4, lanes=1, chunk=17)["final_drift"], sums)
    one = model.run(t=(0, 5), events={"outputs": True})
    np.testing.assert_allclose(one["event_drift"] - one["before_drift"], one["event_seen"], atol=1e-14)  # drawn once for both
    with pytest.raises(saltus.ModelError, match="known at events alone, not in rhs"):
        b.equation(drift, size)
        b.source
    with pytest.raises(saltus.ModelError, match="jump: is no stream of poisson"):
        b.uniform(jump)


def test_delays_of_states(tmp_path):
    b = saltus.Symbolic("late", span=(0, 2))
    y, lag = b.state("y", 1.0), b.parameter("lag", 0.5)
    b.equation(y, -b.delayed(y, b.delay("tau", 2 * lag)))
    b.history(y, 1 - b.t)
    ds = b.model().run(t=(0, 1), rtol=1e-10, lag=[0.5, 1.0])
    # y' = -(1 - (t - tau)) up to tau
    np.testing.assert_allclose(ds["final_y"], [1 - 1 - 1 + 0.5, 1 - 1 - 2 + 0.5], rtol=1e-9)
    with pytest.raises(saltus.ModelError, match="lag: is no delay of late"):
        b.delayed(y, lag)
