"""Models made of parts have the solutions of the whole: closed forms, matrix exponentials, and the same model in one piece."""

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import expm
from scipy.optimize import brentq

import saltus
from saltus._sbml_events import EventModel


def motor_model():
    motor = saltus.Symbolic("motor", time_unit="s")
    voltage, load = motor.input("voltage", "V"), motor.input("load", "N m")
    i, w = motor.state("current", 0.0, "A"), motor.state("speed", 0.0, "rad/s")
    k = motor.parameter("k", 0.1, "N m/A")
    motor.equation(i, (voltage - 0.5 * i - k * w) / 0.01)
    motor.equation(w, (k * i - load) / 0.002)
    return motor


def chopper_model():
    chopper = saltus.Symbolic("chopper")
    limit, current = chopper.input("limit", "A"), chopper.input("current", "A")
    on, supply = chopper.discrete("on", 0), chopper.parameter("supply", 24.0, "V")
    chopper.output("voltage", supply * on, "V")
    chopper.on(chopper.time_event("tick", every=0.001), {on: sp.Piecewise((1, current < limit), (0, True))})
    chopper.on(chopper.guard("reached", current - limit, "rising"), {on: 0})
    return chopper


def governor_model():
    governor = saltus.Symbolic("governor")
    speed, wanted = governor.input("speed", "rad/s"), governor.parameter("wanted", 100.0, "rad/s")
    order, total = governor.discrete("order", 0, "A"), governor.discrete("total", 0, "A")
    governor.on(governor.time_event("sample", every=0.01), {order: total + 0.2 * (wanted - speed), total: total + 0.01 * (wanted - speed)})
    return governor


def drive_in_pieces(wanted):
    """The state of the drive after 1 s, and the times at which the chopper switches off: the equations are linear between events."""
    def after(y, volts, time):
        rates = np.array([[-50.0, -10.0, 100.0 * volts], [50.0, 0.0, -25.0], [0.0, 0.0, 0.0]])
        return (expm(rates * time) @ [*y, 1.0])[:2]

    y, order, total, off = np.zeros(2), 0.0, 0.0, []
    for tick in range(1000):
        if tick > 0 and tick % 10 == 0:
            order, total = total + 0.2 * (wanted - y[1]), total + 0.01 * (wanted - y[1])
        is_on, spent = tick > 0 and y[0] < order, 0.0
        if is_on and after(y, 24.0, 1e-3)[0] > order:
            spent = brentq(lambda time: after(y, 24.0, time)[0] - order, 0.0, 1e-3, xtol=1e-17)
            y, is_on = after(y, 24.0, spent), False
            off.append(1e-3 * tick + spent)
        y = after(y, 24.0 if is_on else 0.0, 1e-3 - spent)
    return y, np.array(off)


def test_a_controller_a_converter_and_a_motor():
    drive = saltus.Symbolic("drive", span=(0, 1))
    g, c, m = drive.add("governor", governor_model(), wanted=80), drive.add("chopper", chopper_model()), drive.add("motor", motor_model())
    for to, value in {m.voltage: c.voltage, m.load: 0.05, c.limit: g.order, c.current: m.current, g.speed: m.speed}.items():
        drive.connect(to, value)
    assert drive.time_unit == "s" and "current" in dir(m) and "governor" in repr(g)
    model = drive.model()
    assert model.parameters["governor_wanted"].value == 80 and model.states["motor_speed"].about == "motor: speed"
    ds = model.run(governor_wanted=[80.0, 60.0], rtol=1e-11, events=True, samples=[0.0, 1.0], reduce=["max(motor_current)"])
    for k, wanted in enumerate((80.0, 60.0)):
        end, off = drive_in_pieces(wanted)
        motor = ds.isel(governor_wanted=k).saltus.part("motor")
        np.testing.assert_allclose([motor["final_current"], motor["final_speed"]], end, rtol=1e-9)
        assert float(motor["current"][1]) == float(motor["final_current"]) and float(motor["max(current)"]) > 5
        times = ds.saltus.events(k)["event_time"].values
        assert len(off) > 500 and max(np.abs(times - time).min() for time in off[::20]) < 1e-9


def mass_model():
    mass = saltus.Symbolic("mass")
    force = mass.input("force", "N", "what its neighbours exert")
    x, v = mass.state("x", 0.0, "m"), mass.state("v", 0.0, "m/s")
    m, k = mass.parameter("m", 1.0, "kg"), mass.parameter("k", 1.0, "N/m")
    mass.equation(x, v)
    mass.equation(v, (force - k * x) / m)
    mass.output("push", k * x, "N", "force of its spring")
    return mass


def test_parts_in_parts_are_coupled_oscillators():
    """Two pairs of masses, with one spring of 2 N/m in each pair and one of 0.5 N/m between the pairs: the modes of a matrix."""
    pair = saltus.Symbolic("pair")
    a, b = pair.add("a", mass_model(), x=1.0), pair.add("b", mass_model(), m=2.0)
    outside = pair.input("outside", "N")
    pair.connect(a.force, 2 * (b.x - a.x))
    pair.connect(b.force, 2 * (a.x - b.x) + outside)
    whole = saltus.Symbolic("two_pairs", span=(0, 5))
    stiff = whole.parameter("stiff", 1.5, "N/m")
    left, right = whole.add("left", pair, a_k=stiff), whole.add("right", pair, a_x=stiff / 3)
    whole.connect(left.outside, "(right.b.x - left_b_x) / 2")
    whole.connect(right.outside, (left.b.x - right.b_x) / 2)
    whole.output("spring", left.a.push, "N")
    ds = whole.model().run(rtol=1e-11, samples=[0.0, 5.0])
    assert "left_a_k" not in ds and "left_b_k" in ds
    stiffness = np.array([[3.5, -2, 0, 0], [-2, 3.5, 0, -0.5], [0, 0, 3.0, -2], [0, -0.5, -2, 3.5]])
    rates = np.block([[np.zeros((4, 4)), np.eye(4)], [-stiffness / np.array([[1.0], [2.0], [1.0], [2.0]]), np.zeros((4, 4))]])
    end = expm(5 * rates) @ [1, 0, 0.5, 0, 0, 0, 0, 0]
    np.testing.assert_allclose([ds[f"final_{p}_{one}_{q}"] for q in "xv" for p in ("left", "right") for one in "ab"], end, atol=1e-9)
    np.testing.assert_allclose(ds["spring"], [1.5, 1.5 * end[0]], atol=1e-9)


def test_events_of_a_part_are_its_own():
    """Two balls with different rests, and a third that never rests; the limit of impacts is 9 sqrt(2 h / g) for a restitution of 0.8."""
    ball = saltus.Symbolic("ball")
    h, v = ball.state("height", 1.0, "m"), ball.state("velocity", 0.0, "m/s")
    moving, e = ball.discrete("moving", 1), ball.parameter("restitution", 0.8)
    ball.equation(h, v)
    ball.equation(v, -9.81 * moving)
    ball.on(ball.guard("impact", h, "falling", "unilateral"), {v: -e * v})
    ball.rest({h: 0, v: 0, moving: 0})
    both = saltus.Symbolic("balls", span=(0, 5))
    low, high = both.add("low", ball), both.add("high", ball, height=1.3)
    elastic = both.add("elastic", ball, restitution=1.0, height=2.0)
    hits = both.discrete("hits", 0)
    both.on(low.impact, {hits: hits + 1})
    both.on(high.impact, {hits: hits + 1000})
    both.on(elastic.impact, {hits: hits + 1000000})
    ds = both.model().run(rtol=1e-11, events=["low_impact", "high_impact", "elastic_impact"])
    assert bool(ds["ok"]) and float(ds["final_low_height"]) == float(ds["final_high_height"]) == 0
    fall = np.sqrt(2 * 2.0 / 9.81)
    phase = (5.0 + fall) % (2 * fall) - fall
    np.testing.assert_allclose(ds["final_elastic_height"], 2.0 - 9.81 / 2 * phase**2, rtol=1e-7)
    names = ds["event_guard"].attrs["flag_meanings"].split()
    of = {name: ds["event_time"].values[ds["event_guard"].values == ds["event_guard"].attrs["flag_values"][k]]
          for k, name in enumerate(names)}
    for name, height in (("low_impact", 1.0), ("high_impact", 1.3)):
        first = np.sqrt(2 * height / 9.81)
        expected = first * (1 + 2 * (0.8 - 0.8 ** np.arange(1, 20)) / 0.2)
        np.testing.assert_allclose(of[name][:19], expected, rtol=1e-8)
        assert of[name].max() < 9 * first + 1e-6
    np.testing.assert_allclose(of["elastic_impact"], fall * np.arange(1, 8, 2)[: len(of["elastic_impact"])], rtol=1e-8)
    assert len(of["elastic_impact"]) == 4 and both.rest({hits: 0}, guards=low.impact) is None
    assert "if (now.due(low_impact)) {\n      const auto new_low_height" in both.source


def all_kinds():
    m = saltus.Symbolic("m", span=(0, 4), time_unit="s")
    x, y, z = m.state("x", 1.0), m.state("y", 0.0), m.state("z", 0.0)
    k, limit, count = m.parameter("k", 0.5), m.parameter("limit", 0.4), m.discrete("count", 0)
    tau, wind = m.delay("tau", 1 / (2 * k)), m.table("wind", knots=([0.0, 1.0, 4.0], [0.0, 1.0, -1.0]))
    m.history(x, sp.cos(m.t))
    m.equation(x, -k * m.delayed(x, tau) + wind)
    m.equation(y, sp.Piecewise((1, x > limit), (-0.5, True)))
    low = m.guard("low", x - limit, "falling")
    m.equation(z, sp.Piecewise((1, m.above(low)), (2, True)))
    put = m.scheduled("put", 4, 1)
    m.on(low, {count: count + 1}, after={put: (k / 4, x + 1)})
    m.on(put, {z: z + m.carried(put)})
    m.on(m.time_event("bell", every=1.5), {y: 2 * y}, when=y > 0.1)
    m.begin({count: 3})
    m.max_step(k)
    m.output("sum", x + y + z)
    return m


@pytest.mark.long
def test_parts_have_the_solution_of_the_model_alone():
    """Delays, histories, tables, scheduled events, conditions, bounds of steps, what is set at the start."""
    alone = all_kinds().model().run(rtol=1e-11, samples=9, events=True)
    whole = saltus.Symbolic("whole", span=(0, 4))
    whole.add("left", all_kinds())
    whole.add("right", all_kinds())
    ds = whole.model().run(rtol=1e-11, samples=9)
    assert bool(alone["ok"]) and float(alone["final_count"]) > 3
    for part in ("left", "right"):
        for name in ("x", "y", "z", "sum", "final_count"):
            np.testing.assert_allclose(ds.saltus.part(part)[name], alone[name], rtol=1e-8, atol=1e-9)


@pytest.mark.long
def test_random_streams_of_parts_are_independent():
    part = saltus.Symbolic("noisy")
    x, noise = part.state("x", 0.0), part.stream("noise")
    part.equation(x, 0)
    part.on(part.time_event("kick", every=0.001, first=0.001), {x: x + part.normal(noise)})
    whole = saltus.Symbolic("whole", span=(0, 1))
    whole.add("left", part)
    whole.add("right", part)
    ds = whole.model().run(samples=1000)
    left, right = np.diff(ds["left_x"]), np.diff(ds["right_x"])
    assert abs(np.corrcoef(left, right)[0, 1]) < 0.13 and 0.8 < left.std() < 1.2


def message(act):
    with pytest.raises(saltus.ModelError) as e:
        act()
    return str(e.value)


def test_what_a_connection_may_not_be():
    drive = saltus.Symbolic("drive", time_unit="s")
    m, c = drive.add("motor", motor_model()), drive.add("chopper", chopper_model())
    assert message(lambda: drive.source) == \
        "drive: without a connection: motor_voltage, motor_load, chopper_limit, chopper_current; connect gives an input its value"
    assert message(lambda: drive.connect(m.voltage, m.current)) == \
        "drive: motor_voltage is in V, and motor_current in A: the units of a connection must be the same"
    assert "motor_speed in rad/s" in message(lambda: drive.connect(m.voltage, 2 + c.voltage - m.speed))
    drive.connect(m.voltage, 2 * m.speed - c.voltage)
    assert "connected already, to" in message(lambda: drive.connect(m.voltage, c.voltage))
    assert "is no input of drive" in message(lambda: drive.connect(m.current, 1))
    for to in (m.load, c.limit, c.current):
        drive.connect(to, sp.Symbol("current", real=True) if to == c.limit else 0.5)
    assert "current is no state, parameter, table or discrete variable of drive" in message(lambda: drive.source)
    with pytest.raises(AttributeError, match="motor: has no curent; did you mean"):
        m.curent


def test_inputs_that_depend_on_themselves():
    part = saltus.Symbolic("gain")
    part.output("twice", 2 * part.input("given"))
    whole = saltus.Symbolic("loop")
    a, b = whole.add("a", part), whole.add("b", part)
    whole.connect(a.given, b.twice)
    whole.connect(b.given, a.twice + 1)
    assert message(lambda: whole.source) == ("loop: a_given, b_twice, b_given, a_twice, a_given: each is computed from the next; "
                                             "a state or discrete variable must stand between")


def test_what_a_part_may_not_be():
    part = saltus.Symbolic("part", time_unit="h")
    x, on = part.state("a_x", 1.0), part.discrete("on", 0)
    part.equation(x, -x)
    whole = saltus.Symbolic("whole", time_unit="s")
    assert "left: counts time in h, and whole in s" in message(lambda: whole.add("left", part))
    whole.time_unit = ""
    assert "is none" in message(lambda: whole.add("left", saltus.builtin("bouncing_ball")))
    assert "a network in SBML is none" in message(lambda: whole.add("left", EventModel("network")))
    assert "no part of itself" in message(lambda: whole.add("left", whole))
    assert "has no parameter, discrete variable or state x" in message(lambda: whole.add("left", part, x=1))
    whole = saltus.Symbolic("whole")
    whole.parameter("left_a_x", 1.0)
    assert "'left_a_x' is there already" in message(lambda: whole.add("left", part))
    p = whole.parameter("p", 1.0)
    assert "begins with a number" in message(lambda: whole.add("right", part, on=p))
    assert "finite" in message(lambda: whole.add("other", part, a_x=float("nan")))
    loaded = saltus.Symbolic("loaded")
    loaded.equation(loaded.state("y", 0.0), loaded.table("load", chosen_by=loaded.parameter("curve", 0.0)))
    assert "chooses the curve of a table" in message(lambda: whole.add("loaded", loaded, curve=p))
    resting = saltus.Symbolic("resting")
    y = resting.state("y", 1.0)
    resting.rest({y: 0})
    assert "no guard" in message(lambda: whole.add("resting", resting))
    changed = saltus.Symbolic("changed")
    changed.add("left", part)
    part.equation(x, -2 * x)
    assert message(lambda: changed.source) == "changed: left: part has changed since it was added; add it when it is complete"
