"""Reaction networks in SBML become models whose results equal those of the same equations by hand, by SciPy or in closed form."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import saltus

libsbml = pytest.importorskip("libsbml")


class Net:
    """An SBML file under construction."""

    def __init__(self, level=3, version=2):
        self.document = libsbml.SBMLDocument(level, version)
        self.model = self.document.createModel()
        self.model.setId("net")

    def math(self, formula):
        tree = libsbml.parseL3Formula(formula)
        assert tree is not None, libsbml.getLastParseL3Error()
        return tree

    def compartment(self, name="cell", size=1.0, constant=True):
        one = self.model.createCompartment()
        one.setId(name), one.setSize(size), one.setConstant(constant), one.setSpatialDimensions(3)

    def species(self, name, concentration=None, amount=None, boundary=False, constant=False, amounts=False, compartment="cell"):
        one = self.model.createSpecies()
        one.setId(name), one.setCompartment(compartment), one.setBoundaryCondition(boundary), one.setConstant(constant)
        one.setHasOnlySubstanceUnits(amounts)
        if concentration is not None:
            one.setInitialConcentration(concentration)
        if amount is not None:
            one.setInitialAmount(amount)

    def parameter(self, name, value=None, constant=True):
        one = self.model.createParameter()
        one.setId(name), one.setConstant(constant)
        if value is not None:
            one.setValue(value)

    def reaction(self, name, left, right, rate, local=None, fast=False):
        one = self.model.createReaction()
        one.setId(name), one.setReversible(False)
        if self.document.getLevel() < 3 or self.document.getVersion() < 2:
            one.setFast(fast)
        for make, names in ((one.createReactant, left), (one.createProduct, right)):
            for species, number in names.items():
                part = make()
                part.setSpecies(species), part.setStoichiometry(number), part.setConstant(True)
        law = one.createKineticLaw()
        law.setMath(self.math(rate))
        known = {self.model.getSpecies(k).getId() for k in range(self.model.getNumSpecies())}
        for species in known - {*left, *right}:
            if species in rate.replace("(", " ").replace(")", " ").replace("*", " ").split():
                one.createModifier().setSpecies(species)
        for key, value in (local or {}).items():
            part = law.createLocalParameter() if self.document.getLevel() > 2 else law.createParameter()
            part.setId(key), part.setValue(value)

    def rule(self, kind, name, formula):
        one = getattr(self.model, f"create{kind}Rule")()
        if name:
            one.setVariable(name)
        one.setMath(self.math(formula))

    def start(self, name, formula):
        one = self.model.createInitialAssignment()
        one.setSymbol(name), one.setMath(self.math(formula))

    def function(self, name, text):
        one = self.model.createFunctionDefinition()
        one.setId(name), one.setMath(self.math(text))

    def event(self, name, trigger, changes, delay=None, priority=None, initial=True, persistent=True, from_trigger=True):
        one = self.model.createEvent()
        one.setId(name), one.setUseValuesFromTriggerTime(from_trigger)
        when = one.createTrigger()
        when.setMath(self.math(trigger)), when.setInitialValue(initial), when.setPersistent(persistent)
        for key, formula in changes.items():
            part = one.createEventAssignment()
            part.setVariable(key), part.setMath(self.math(formula))
        for text, make in ((delay, one.createDelay), (priority, one.createPriority)):
            if text:
                make().setMath(self.math(text))

    def file(self, folder, name="net"):
        path = folder / f"{name}.xml"
        assert libsbml.writeSBMLToFile(self.document, str(path))
        return path


def enzyme():
    net = Net()
    net.compartment("cell", 2.0)
    for name, start in (("E", 0.5), ("S", 3.0), ("ES", 0.0), ("P", 0.0)):
        net.species(name, start)
    net.reaction("bind", {"E": 1, "S": 1}, {"ES": 1}, "cell * kon * E * S", {"kon": 4.0})
    net.reaction("leave", {"ES": 1}, {"E": 1, "S": 1}, "cell * koff * ES", {"koff": 0.5})
    net.reaction("make", {"ES": 1}, {"E": 1, "P": 2}, "cell * kcat * ES", {"kcat": 1.5})
    return net


@pytest.mark.long
def test_a_network_has_the_results_of_its_equations(tmp_path):
    model = saltus.sbml(enzyme().file(tmp_path, "enzyme")).model()
    assert [*model.states] == ["E", "S", "ES", "P"] and model.parameters["cell"].value == 2.0
    ds = model.run(t=(0, 5), rtol=1e-10, atol=1e-12, samples=11)

    def f(_, y):
        e, s, es, _ = y
        bind, leave, make = 4.0 * e * s, 0.5 * es, 1.5 * es
        return [leave + make - bind, leave - bind, bind - leave - make, 2 * make]

    there = solve_ivp(f, (0, 5), [0.5, 3, 0, 0], rtol=1e-11, atol=1e-13, t_eval=ds["time"].values).y
    for row, name in zip(there, ("E", "S", "ES", "P")):
        np.testing.assert_allclose(ds[name].values.ravel(), row, rtol=1e-7, atol=1e-9)


def everything():
    """Amounts and concentrations, rules, initial assignments, a function, conditions, and a name that is a word of C++."""
    net = Net()
    net.compartment("cell", 2.0)
    net.parameter("k", 0.3)
    net.parameter("twice_k")
    net.parameter("double", 1.0, constant=False)
    net.parameter("total", constant=False)
    net.species("A", amount=4.0)
    net.species("N", amount=6.0, amounts=True)
    net.species("B", 0.0, boundary=True)
    net.function("law", "lambda(x, y, x * y)")
    net.start("twice_k", "2 * k")
    net.start("B", "A + k")
    net.rule("Assignment", "total", "A + N / cell")
    net.rule("Rate", "double", "-twice_k * double")
    net.reaction("out", {"A": 1}, {"N": 2}, "cell * law(k, A) * piecewise(2, time < 1, 1)")
    return net


@pytest.mark.long
def test_rules_amounts_and_conditions(tmp_path):
    written = saltus.sbml(everything().file(tmp_path, "all_of_it"))
    ds = written.model().run(t=(0, 3), rtol=1e-10, atol=1e-12, events=True)
    a = 2 * np.exp(-0.3 * (2 + 2))  # 4 in a cell of 2; at twice the rate until t = 1
    value = {name: float(ds[f"final_{name}"]) for name in ("A", "N", "double_", "total")}
    assert value["A"] == pytest.approx(a, rel=1e-8)
    assert value["N"] == pytest.approx(6 + 2 * 2 * (2 - a), rel=1e-8), "an amount: two for each of A, of which there are 2 cell"
    assert value["double_"] == pytest.approx(np.exp(-0.6 * 3), rel=1e-8)
    assert value["total"] == pytest.approx(value["A"] + value["N"] / 2, rel=1e-12)
    one = written.model().run(t=(0, 3), k=0.1, rtol=1e-10, atol=1e-12)
    assert float(one["final_double_"]) == pytest.approx(np.exp(-0.2 * 3), rel=1e-8), "2 k goes with k"
    assert "B" in written.model().parameters or float(ds["final_B"]) == pytest.approx(2.3)


@pytest.mark.long
def test_events_are_made_of_the_values_before_them(tmp_path):
    net = Net()
    net.compartment()
    net.parameter("gate", 1.0, constant=False)
    net.species("A", 1.0)
    net.species("B", 0.25)
    net.reaction("decay", {"A": 1}, {}, "cell * gate * A")
    net.reaction("grow", {}, {"B": 1}, "cell * 0.1")
    net.event("low", "A < 0.5 && B < 10", {"gate": "0"})
    # Two simultaneous events that exchange two values: each uses the values before both.
    net.event("first", "time >= 2", {"A": "B"})
    net.event("second", "time >= 2", {"B": "A"})
    ds = saltus.sbml(net.file(tmp_path, "events")).model().run(t=(0, 3), rtol=1e-10, atol=1e-12, events=True)
    np.testing.assert_allclose(ds["event_time"].values, [np.log(2), 2, 2], rtol=1e-9)
    assert float(ds["final_gate"]) == 0.0
    assert float(ds["final_A"]) == pytest.approx(0.25 + 0.2, rel=1e-9)
    assert float(ds["final_B"]) == pytest.approx(0.5 + 0.1, rel=1e-9)


@pytest.mark.long
def test_networks_without_states_and_what_only_events_set(tmp_path):
    net = Net()
    net.parameter("p", 1.0, constant=False)
    net.parameter("twice", constant=False)
    net.rule("Assignment", "twice", "2 * time + p")
    net.event("late", "time >= 1.5", {"p": "10"})
    net.model.setTimeUnits("second")
    net.parameter("status", 3.0)  # a variable of results has this name
    model = saltus.sbml(net.file(tmp_path)).model()
    assert list(model.states) == ["p"] and model.time_unit == "second" and list(model.parameters) == ["status_"]
    ds = model.run(t=3, samples=[0.0, 1.0, 2.0, 3.0], events=True, reduce="mean(p)")
    assert ds["p"].values.tolist() == [1, 1, 10, 10]
    np.testing.assert_allclose(ds["twice"], [1, 3, 14, 16], rtol=1e-12)
    assert float(ds["event_p"][0]) == 10 and float(ds["mean(p)"]) == pytest.approx(5.5, rel=1e-12)
    assert ds["time"].attrs["units"] == ds["event_time"].attrs["units"] == "second"
    rules = Net()
    rules.parameter("x", constant=False)
    rules.rule("Assignment", "x", "time^2")
    ds = saltus.sbml(rules.file(tmp_path, "rules")).model().run(t=3, samples=[1.0, 3.0])
    np.testing.assert_allclose(ds["x"], [1, 9], rtol=1e-12)


def ran(net, folder, t, **options):
    ds = saltus.sbml(net.file(folder)).model().run(t=t, rtol=1e-10, atol=1e-13, **options)
    assert int(ds["status"]) == 0
    return ds


def ramp(**parameters):
    """x grows at rate 1 from 0; the parameters may be set by events."""
    net = Net()
    net.parameter("x", 0.0, constant=False)
    net.rule("Rate", "x", "1")
    for name, value in parameters.items():
        net.parameter(name, value, constant=False)
    return net


@pytest.mark.long
def test_events_wait_for_their_delays(tmp_path):
    net = ramp(a=0.0, b=0.0, c=0.0, n=0.0, d=0.0)
    net.event("kept", "x > 1", {"a": "x"}, delay="0.5")  # the value at the trigger
    net.event("fresh", "x > 1", {"b": "x"}, delay="0.5", from_trigger=False)  # the value at the execution
    net.event("dropped", "x > 1 && x < 1.25", {"c": "1"}, delay="0.5", persistent=False)
    net.event("lasting", "x > 1 && x < 1.25", {"d": "1"}, delay="0.5")
    # Three executions under way at once: triggers at 0.5, 1.5, 2.5, each 2.25 later.
    net.event("often", "sin(2 * 3.141592653589793 * (x - 0.5)) > 0", {"n": "n + 1"}, delay="2.25", from_trigger=False)
    ds = ran(net, tmp_path, (0, 4.5), samples=[1.4, 1.6, 2.74, 2.76, 3.74, 3.76], max_step=0.1)
    np.testing.assert_allclose(ds["a"], [0, 1, 1, 1, 1, 1], rtol=1e-10)
    np.testing.assert_allclose(ds["b"], [0, 1.5, 1.5, 1.5, 1.5, 1.5], rtol=1e-10)
    assert ds["c"].values.tolist() == [0] * 6 and ds["d"].values.tolist() == [0, 1, 1, 1, 1, 1]
    assert ds["n"].values.tolist() == [0, 0, 0, 1, 1, 2]


@pytest.mark.long
def test_events_of_one_time_come_by_their_priorities(tmp_path):
    net = ramp(a=1.0, b=0.0, c=0.0, late=0.0)
    net.event("third", "x >= 1", {"a": "a * 10"}, priority="1", from_trigger=False)
    net.event("first", "x >= 1", {"a": "a + 1"}, priority="b + 3", from_trigger=False)
    net.event("second", "x >= 1", {"a": "a + 5"}, priority="2", from_trigger=False)
    net.event("caused", "a > 6.5", {"b": "a"}, priority="5")  # by the second, so before the third
    net.event("stopped", "x >= 1 && a < 6", {"c": "1"}, priority="0", persistent=False)  # no longer true when its turn comes
    net.event("at_once", "x >= 0", {"late": "late + 1"}, initial=False)
    ds = ran(net, tmp_path, (0, 2))
    assert [float(ds[f"final_{name}"]) for name in ("a", "b", "c", "late")] == [70, 7, 0, 1]
    unequal = saltus.sbml(net.file(tmp_path)).model().run(t=(0, 2.5), rtol=1e-10, x=[-1.0, 0.0, 0.5])
    assert unequal["final_late"].values.tolist() == [1, 1, 1], "at t = 1, or true at the start"
    assert unequal["final_a"].values.tolist() == [70, 70, 70]


@pytest.mark.long
def test_sizes_stoichiometries_and_factors_that_change(tmp_path):
    net = Net()
    net.compartment("cell", 2.0, constant=False)
    net.compartment("tube", 1.0, constant=False)
    net.rule("Rate", "cell", "0.5")
    net.rule("Assignment", "tube", "1 + time")
    net.parameter("factor", 3.0)
    net.parameter("n", 2.0)
    net.species("A", 4.0)
    net.species("B", 1.0, compartment="tube")
    net.species("C", 0.0, compartment="tube")
    net.reaction("leak", {"A": 1}, {"C": 1}, "cell * A")  # amount of A: 8 exp(-t)
    net.model.getSpecies("C").setConversionFactor("factor")
    net.model.getReaction(0).getProduct(0).setId("yield")
    net.model.getReaction(0).getProduct(0).setConstant(False)
    net.rule("Assignment", "yield", "n")
    net.event("swell", "time >= 1", {"cell": "10", "A": "1"})  # at the size before: an amount of 2.5
    model = saltus.sbml(net.file(tmp_path)).model()
    ds = model.run(t=(0, 2), samples=[0.5, 2.0], rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(ds["A"], [8 * np.exp(-0.5) / 2.25, 2.5 * np.exp(-1) / 10.5], rtol=1e-8)
    np.testing.assert_allclose(ds["B"], [1 / 1.5, 1 / 3], rtol=1e-12)
    gone = [8 * (1 - np.exp(-0.5)), 8 * (1 - np.exp(-1)) + 2.5 * (1 - np.exp(-1))]
    np.testing.assert_allclose(ds["C"], [6 * gone[0] / 1.5, 6 * gone[1] / 3], rtol=1e-8)


@pytest.mark.long
def test_algebraic_rules_are_solved(tmp_path):
    net = ramp()
    net.parameter("total", 5.0)
    net.parameter("left", constant=False)
    net.parameter("share", constant=False)
    net.rule("Algebraic", "", "total - x - left * exp(time)")
    net.rule("Algebraic", "", "share * (x + total) - left")
    ds = ran(net, tmp_path, (0, 2), samples=[0.0, 2.0])
    left = np.array([5, 3 * np.exp(-2)])
    np.testing.assert_allclose(ds["left"], left, rtol=1e-10)
    np.testing.assert_allclose(ds["share"], left / [5, 7], rtol=1e-10)


@pytest.mark.long
def test_delayed_values(tmp_path):
    net = ramp(y=1.0)  # x grows from 0 at rate 1
    net.parameter("d", 0.5)
    net.parameter("double_x", constant=False)
    net.rule("Rate", "y", "-delay(y, 1)")
    net.parameter("seen", constant=False)
    net.rule("Assignment", "double_x", "2 * x + time")
    net.rule("Assignment", "seen", "delay(double_x, d)")
    ds = ran(net, tmp_path, (0, 3), samples=[0.25, 1.0, 2.0, 3.0])
    # y' = -y(t - 1), y = 1 before: by the method of steps
    np.testing.assert_allclose(ds["y"][1:], [0, -1 / 2, -1 / 6], atol=1e-9)
    np.testing.assert_allclose(ds["seen"], [-0.25, 1.5, 4.5, 7.5], rtol=1e-9)


@pytest.mark.long
def test_submodels_become_one_network(tmp_path):
    text = """<?xml version="1.0" encoding="UTF-8"?>
        <sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" xmlns:comp="http://www.sbml.org/sbml/level3/version1/comp/version1"
        level="3" version="1" comp:required="true"><model id="outer"><comp:listOfSubmodels><comp:submodel comp:id="left" comp:modelRef="part"/>
        <comp:submodel comp:id="right" comp:modelRef="part"/></comp:listOfSubmodels></model><comp:listOfModelDefinitions>
        <comp:modelDefinition id="part"><listOfParameters><parameter id="x" value="2" constant="false"/></listOfParameters><listOfRules>
        <rateRule variable="x"><math xmlns="http://www.w3.org/1998/Math/MathML"><apply><minus/><ci>x</ci></apply></math></rateRule>
        </listOfRules></comp:modelDefinition></comp:listOfModelDefinitions></sbml>"""
    (tmp_path / "outer.xml").write_text(text)
    ds = saltus.sbml(tmp_path / "outer.xml").model().run(t=(0, 1), rtol=1e-10)
    np.testing.assert_allclose([ds["final_left__x"], ds["final_right__x"]], 2 * np.exp(-1), rtol=1e-8)


def test_rates_chains_and_either_or(tmp_path):
    net = enzyme()
    for name in ("r", "s", "z", "between", "either"):
        net.parameter(name, constant=False)
    net.parameter("k", 0.5)
    net.parameter("twice")
    net.start("twice", "2 * k")
    net.parameter("q", 1.0, constant=False)
    net.rule("Rate", "q", "-3 * q")
    for name, formula in (("r", "rateOf(q)"), ("s", "rateOf(P)"), ("z", "rateOf(k)"), ("between", "piecewise(1, 1 < q < 2, 0)"),
                          ("either", "piecewise(1, xor(q > 1, q > 2), 0)")):
        net.rule("Assignment", name, formula)
    model = saltus.sbml(net.file(tmp_path))
    values = {symbol.name: symbol for symbol in model._names}
    q, es = values["q"], values["ES"]
    out, rates = {s.name: e for s, e in model._defined.items()}, model._rates
    assert out["r"] == rates[q] == -3 * q and out["s"] == rates[values["P"]] and out["z"] == 0
    assert es in out["s"].free_symbols and out["twice"] == 2 * values["k"], "a constant that is made of others is seen, too"
    assert "condition_3" in model.source and "condition_4" not in model.source, "q > 1 is asked twice; q < 2 and q > 2 differ at 2"


def test_what_says_nothing_is_left_out(tmp_path):
    net = enzyme()
    net.parameter("p", 1.0, constant=False)
    plain = saltus.sbml(net.file(tmp_path)).source
    for make in (net.model.createRateRule, net.model.createInitialAssignment):
        one = make()
        (one.setVariable if hasattr(one, "setVariable") else one.setSymbol)("p")
    never = net.model.createEvent()
    never.setUseValuesFromTriggerTime(True)
    when = never.createTrigger()
    when.setInitialValue(True), when.setPersistent(True)
    assert saltus.sbml(net.file(tmp_path)).source == plain


def test_a_drawing_is_left_out(tmp_path):
    net = Net(2, 4)
    net.compartment()
    net.species("A", 1.0)
    net.reaction("decay", {"A": 1}, {}, "cell * A")
    plain = saltus.sbml(net.file(tmp_path)).source
    layout = ('<annotation><listOfLayouts xmlns="http://projects.eml.org/bcb/sbml/level2"><layout id="l"><dimensions width="10" '
              'height="10"/></layout></listOfLayouts></annotation>')
    text = (tmp_path / "net.xml").read_text()
    drawn = tmp_path / "drawn" / "net.xml"
    drawn.parent.mkdir()
    drawn.write_text(re.sub('(<model id="net">)', r"\1" + layout, text))
    document = libsbml.readSBMLFromFile(str(drawn))
    assert document.getPlugin(0).getPackageName() == "layout" and document.getPackageRequired("layout"), "of Level 2 it is"
    assert saltus.sbml(drawn).source == plain


NASTY = ["a\nint b = 1;", "a\rint b;", "\" ; } } int b; //", "*/ int b; /*", "a \\", "a??/", "\u202e\u2028b"]


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_text_of_a_file_stays_text(tmp_path, text):
    def lines(name):
        net = enzyme()
        net.model.setName(name)
        for k in range(net.model.getNumSpecies()):
            net.model.getSpecies(k).setName(name)
        net.event("up", "S > 5", {"S": "0"})
        net.model.getEvent(0).setName(name)
        return saltus.sbml(net.file(tmp_path)).source.split("\n")

    given, plain = lines(text), lines("t")
    without_text = [[re.sub(r'"(?:[^"\\]|\\.)*"', '""', line) for line in some] for some in (given, plain)]
    assert without_text[0][1:] == without_text[1][1:]
    assert given[0].startswith("// ") and not given[0].endswith("\\") and "\r" not in given[0]


def refused(net, folder):
    with pytest.raises(saltus.ModelError) as error:
        saltus.sbml(net.file(folder))
    return str(error.value).removeprefix(f"{folder / 'net.xml'}: ")


def test_what_cannot_be_imported_is_refused_by_its_name(tmp_path):
    def told(change):
        net = enzyme()
        net.parameter("p", 1.0, constant=False)
        change(net)
        return refused(net, tmp_path)

    many = {f"p{k}": "1" for k in range(9)}
    assert told(lambda n: [n.parameter(p, 1.0, constant=False) for p in many] and n.event("late", "S < 1", many, delay="3")) \
        == "event late: more than 8 assignments in a network with delays or priorities are not imported"
    assert told(lambda n: n.event("equal", "S == 1", {"p": "2"})).startswith("event equal: the trigger S == 1 is not one of")
    assert told(lambda n: n.rule("Algebraic", "", "p * p - S")) \
        == "the algebraic rule 0 = p * p - S: has no solution in closed form, or several, which is not imported"
    assert told(lambda n: n.parameter("q", 1.0, constant=False) or n.rule("Algebraic", "", "p + q - S")) \
        == "the algebraic rule 0 = p + q - S: must determine 1 of p, q"
    assert told(lambda n: n.rule("Assignment", "p", "delay(S, P)")) == "delay(S, P): a delay that changes is not imported"
    assert told(lambda n: n.rule("Rate", "p", "factorial(p)")) == "factorial(p): this function is not imported"
    fast = Net(3, 1)
    fast.compartment()
    fast.species("A", 1.0)
    fast.reaction("quick", {"A": 1}, {}, "cell * A", fast=True)
    assert refused(fast, tmp_path) == "reaction quick: fast reactions are not imported"
    (tmp_path / "net.xml").write_text("<sbml>")
    with pytest.raises(saltus.ModelError, match=r"net\.xml:1: "):
        saltus.sbml(tmp_path / "net.xml")


def test_the_command_writes_a_header_and_nothing_over_another(tmp_path, capsys, monkeypatch):
    from saltus._commands import main

    monkeypatch.chdir(tmp_path)
    path = enzyme().file(tmp_path, "enzyme")
    assert main(["import", str(path)]) == 0
    assert capsys.readouterr().out == "enzyme.hpp\n"
    assert (tmp_path / "enzyme.hpp").read_text() == saltus.sbml(path).source
    assert main(["import", str(path)]) == 2
    assert "enzyme.hpp: is there already" in capsys.readouterr().err
    assert main(["import", str(path), "-o", "other.hpp"]) == 0
    assert "struct other {" in (tmp_path / "other.hpp").read_text()
