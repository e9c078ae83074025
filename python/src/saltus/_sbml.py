"""SBML: a reaction network with rules and events becomes a model, written with Symbolic. libsbml reads and checks the file.

Elements of a network that a model cannot have (fast reactions, delays that change, ...) are refused by name.
"""

from __future__ import annotations

import functools
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Optional, Union

from . import _core
from ._errors import Error, ModelError
from ._formula import bounded, power
from ._sbml_events import MOST_CARRIED, Event, EventModel
from ._symbolic import FUNCTIONS, KEYWORDS, OWN, Symbolic

if TYPE_CHECKING:
    import sympy

SPAN = (0.0, 100.0)
#: Packages for drawing or sorting a network, without effect on its mathematics. Files of Level 2, and some of Level 3, mark them as
#: required all the same. l3v2extendedmath is part of the language.
WITHOUT_MATHEMATICS = ("layout", "render", "groups", "l3v2extendedmath")


def sbml(path: Union[str, os.PathLike], name: Optional[str] = None) -> Symbolic:
    """The model in an SBML file, as a Symbolic: `.source` is its header, `.model()` loads it.

    Species are states, in concentrations unless the file says that they have only substance units; parameters and compartments are
    parameters. A quantity that only events change is a state that is constant between them; the target of an assignment rule is an output.
    Raises saltus.ModelError with the name of the element that cannot be imported.
    """
    return _Network(Path(path), name).model


def _libsbml() -> Any:
    try:
        import libsbml
    except ImportError:
        raise Error("reading SBML needs libsbml: pip install python-libsbml") from None
    return libsbml


class _Network:
    """The network of one file, and the model that is made from it."""

    def __init__(self, path: Path, name: Optional[str]):
        self.lib = _libsbml()
        self.path = path
        if not path.is_file():
            raise ModelError(f"{path}: no such file")
        self.document = self.lib.readSBMLFromFile(str(path))
        self._check_document()
        self.net = self.document.getModel()
        self._check_contents()
        title = self.net.getName() or self.net.getId() or path.stem
        self._taken = {*KEYWORDS, *OWN, *FUNCTIONS, *_core.reserved_names()}  # names of a result, such as time, are reserved
        self._called: dict[str, str] = {}
        self.model = EventModel(self._name(name or path.stem, own=True), title, f"SBML, {path.name}", SPAN, self._time_unit())
        self._values: dict[str, Any] = {}  # expressions by id
        #: States of species in compartments whose size changes: their amounts.
        self._amounts: dict[str, Any] = {}
        self._delays: dict[Any, Any] = {}  # by their expressions
        self._open: list[str] = []  # ids whose expressions are under construction
        self._at_start = False
        self._write()

    def refuse(self, what: str, why: str) -> NoReturn:
        raise ModelError(f"{self.path}: {what}: {why}")

    # ---- what is there

    def _check_document(self) -> None:
        lib, document = self.lib, self.document
        document.setConsistencyChecks(lib.LIBSBML_CAT_UNITS_CONSISTENCY, False)
        document.setConsistencyChecks(lib.LIBSBML_CAT_MODELING_PRACTICE, False)
        document.checkConsistency()
        for k in range(document.getNumErrors()):
            found = document.getError(k)
            if found.getSeverity() >= lib.LIBSBML_SEV_ERROR:
                raise ModelError(f"{self.path}:{found.getLine()}: {' '.join(found.getMessage().split())}")
        if document.getModel() is None:
            raise ModelError(f"{self.path}: has no model")
        packages = [document.getPlugin(k).getPackageName() for k in range(document.getNumPlugins())]
        for package in packages:
            if package not in (*WITHOUT_MATHEMATICS, "comp") and document.getPackageRequired(package):
                self.refuse(f"the package {package}", "is not imported")
        conversions = ["promoteLocalParameters", "expandFunctionDefinitions"]
        for conversion in ["flatten comp"] * ("comp" in packages) + conversions:
            options = lib.ConversionProperties()
            options.addOption(conversion, True)
            if document.convert(options) != lib.LIBSBML_OPERATION_SUCCESS:
                raise ModelError(f"{self.path}: libsbml cannot do {conversion}")

    def _all(self, what: str) -> list:
        return [getattr(self.net, f"get{what}")(k) for k in range(getattr(self.net, f"getNum{what}s")())]

    def _check_contents(self) -> None:
        net = self.net
        self.species = {one.getId(): one for one in [net.getSpecies(k) for k in range(net.getNumSpecies())]}
        self.parameters = {p.getId(): p for p in self._all("Parameter")}
        self.compartments = {c.getId(): c for c in self._all("Compartment")}
        self.reactions = {r.getId(): r for r in self._all("Reaction")}
        self.assigned, self.rates, self.algebraic = {}, {}, []
        for rule in self._all("Rule"):
            if rule.getMath() is None:  # a rule without a formula has no effect (Level 3 Version 2, 3.4.1)
                continue
            if rule.isAlgebraic():
                self.algebraic.append(rule.getMath())
            else:
                (self.assigned if rule.isAssignment() else self.rates)[rule.getVariable()] = rule.getMath()
        self.started = {a.getSymbol(): a.getMath() for a in self._all("InitialAssignment") if a.getMath() is not None}
        # An event without a trigger, or a formula of it, never happens, and an assignment without a formula has no effect.
        self.events = [e for e in self._all("Event") if e.isSetTrigger() and e.getTrigger().getMath() is not None]
        self.set_by_events: set[str] = set()
        for event in self.events:
            self.set_by_events |= {one.getVariable() for one in self._assignments(event)}
        for reaction in self.reactions.values():
            self._check_reaction(reaction)
        laws = [reaction.getKineticLaw().getMath() for reaction in self.reactions.values()]
        in_events = [part.getMath() for event in self.events
                     for part in (event.getTrigger(), event.getDelay(), event.getPriority(), *self._assignments(event)) if part is not None]
        used = set(self.set_by_events).union(self.assigned, self.rates, self.started, *(
            self._names_in(f) for f in (*self.assigned.values(), *self.rates.values(), *self.started.values(), *self.algebraic, *laws, *in_events)))
        #: Stoichiometries that have a name, and are computed or in formulas.
        self.stoichiometries = {part.getId(): part for r in self.reactions.values() for part in self._parts(r) if part.getId() in used}
        self.quantities = {**self.compartments, **self.parameters, **self.stoichiometries, **self.species}
        for id_ in (*self.assigned, *self.rates, *self.started, *self.set_by_events):
            if id_ not in self.quantities:
                self.refuse(id_, "is no quantity that a rule, an event or an initial assignment can set")
        if net.getNumConstraints() > 0:
            self.refuse("the constraints", "are not imported: write terminal guards in the header for them")

    def _names_in(self, formula: Any) -> "set[str]":
        if formula is None:
            return set()
        own = {formula.getName()} if formula.getType() == self.lib.AST_NAME else set()
        return own.union(*(self._names_in(formula.getChild(k)) for k in range(formula.getNumChildren())))

    @staticmethod
    def _assignments(event: Any) -> list:
        all_ = [event.getEventAssignment(k) for k in range(event.getNumEventAssignments())]
        return [one for one in all_ if one.getMath() is not None]

    @staticmethod
    def _event_name(event: Any, number: int = 0) -> str:
        return event.getId() or event.getName() or f"event_{number}"

    def _check_reaction(self, reaction: Any) -> None:
        what = f"reaction {reaction.getId()}"
        if reaction.isSetFast() and reaction.getFast():
            self.refuse(what, "fast reactions are not imported")
        if not reaction.isSetKineticLaw() or reaction.getKineticLaw().getMath() is None:
            self.refuse(what, "has no kinetic law")

    @staticmethod
    def _parts(reaction: Any) -> list:
        return [reaction.getReactant(k) for k in range(reaction.getNumReactants())] + \
               [reaction.getProduct(k) for k in range(reaction.getNumProducts())]

    # ---- names

    def _name(self, id_: str, own: bool = False) -> str:
        """The name in the header: neither a word of C++ nor a function of models."""
        if id_ in self._called and not own:
            return self._called[id_]
        name = re.sub(r"\W", "_", id_, flags=re.ASCII)
        name = name if re.match(r"[A-Za-z]", name) else f"x{name}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        if not own:
            self._called[id_] = name
        return name

    def _time_unit(self) -> str:
        id_ = self.net.getTimeUnits() if self.net.getLevel() > 2 else "time"
        definition = self.net.getUnitDefinition(id_) if id_ else None
        return self._text_of(definition) if definition is not None else {"time": "second"}.get(id_, id_)

    def _unit(self, part: Any) -> str:
        return self._text_of(part.getDerivedUnitDefinition())

    def _text_of(self, definition: Any) -> str:
        if definition is None or definition.getNumUnits() == 0:
            return "1"
        words = []
        for k in range(definition.getNumUnits()):
            unit = definition.getUnit(k)
            kind, power = self.lib.UnitKind_toString(unit.getKind()), unit.getExponentAsDouble()
            factor = unit.getMultiplier() * 10.0 ** unit.getScale()
            if kind == "dimensionless":
                continue
            text = kind if factor == 1 else f"({factor:g} {kind})"
            words.append(text if power == 1 else f"{text}^{power:g}")
        text = " ".join(words)
        return text if text and len(text) <= 32 else "1"

    # ---- the model

    def _is_amount(self, species: Any) -> bool:
        return species.getHasOnlySubstanceUnits() or self.compartments[species.getCompartment()].getSpatialDimensions() == 0

    def _write(self) -> None:
        self._changed = self._changed_by_reactions()
        self._solve_algebraic_rules()
        for id_, one in self.quantities.items():  # initial values of species may depend on what stands before
            if id_ not in self.assigned and not self._is_derived(id_) and not self._has_no_size(id_):
                self._quantity(id_, one)
        for id_ in self.started:
            if self._kind(id_) == "state" and id_ not in self._amounts:
                self._start(id_)
        for id_ in self.quantities:
            if id_ not in self.assigned and (self._kind(id_) == "state" or id_ in self._amounts):
                self.model.equation(self._amounts.get(id_, self._values[id_]), self._rate(id_))
        if not self.model._rates:  # the network has only rules, at most of the time
            clock = self.model.state(self._name("clock"), 0.0, "1", "counts the time: the network has no state of its own")
            self.model.equation(clock, 1)
        self._write_events()
        derived = [id_ for id_ in self.quantities if self._is_derived(id_) and id_ not in self.assigned
                   and str(self.value(id_)) != self._name(id_)]  # not a parameter of its own
        for id_ in (*self._amounts, *self.assigned, *derived):
            one = self.quantities[id_]
            self.model.output(self._name(id_), self.value(id_), self._unit(one), one.getName() or id_)

    def _rate(self, id_: str) -> Any:
        """The time derivative of a state."""
        if id_ not in self.rates:
            return self._reaction_rate(id_) if id_ in self._changed else 0
        rate = self.expression(self.rates[id_])
        if id_ not in self._amounts:
            return rate
        size = self.species[id_].getCompartment()  # the rule is for the concentration
        return rate * self.value(size) + self._values[id_] * (self.expression(self.rates[size]) if size in self.rates else 0)

    def _changed_by_reactions(self) -> "set[str]":
        all_ = {part.getSpecies() for r in self.reactions.values() for part in self._parts(r)}
        return {id_ for id_ in all_ if not self.species[id_].getBoundaryCondition() and not self.species[id_].getConstant()}

    def _kind(self, id_: str) -> str:
        return "state" if id_ in self.rates or id_ in self._changed or id_ in self.set_by_events else "parameter"

    def _is_derived(self, id_: str) -> bool:
        """Is the id a constant that is computed from other constants? It stands for its expression."""
        return id_ not in self.species and id_ in self.started and id_ not in self.rates and id_ not in self.set_by_events

    def _has_no_size(self, id_: str) -> bool:
        if id_ not in self.compartments or self.compartments[id_].isSetSize() or id_ in self.started or self._kind(id_) == "state":
            return False
        if self.compartments[id_].getSpatialDimensions() != 0:
            self.refuse(f"compartment {id_}", "has no size")
        return True

    def _quantity(self, id_: str, one: Any) -> None:
        kind, about = self._kind(id_), one.getName() or id_
        unit = "1" if id_ in self.stoichiometries else self._unit(one)
        compartment = one.getCompartment() if id_ in self.species else ""
        varies = compartment in self.assigned or bool(compartment) and self._kind(compartment) == "state"
        if varies and not self._is_amount(one) and not (id_ in self.rates and compartment in self.assigned):
            start = self._number_at_start(id_) * self._number_at_start(compartment)
            amount = self.model.state(self._name(f"{id_}_amount", own=True), start, "1", f"amount of {about}")
            self._amounts[id_] = amount
            self._values[id_] = amount / self.value(compartment)
            return
        value: Any = self._number_at_start(id_)
        if kind == "state" and compartment and id_ not in self.started and one.isSetInitialAmount() and not self._is_amount(one) \
                and not varies:
            value = one.getInitialAmount() / self.value(compartment)
        self._values[id_] = getattr(self.model, kind)(self._name(id_), value, unit, about)

    # ---- algebraic rules

    def _solve_algebraic_rules(self) -> None:
        """Each algebraic rule becomes an assignment rule of what it determines."""
        import sympy

        if not self.algebraic:
            return
        free = [id_ for id_, one in self.quantities.items() if not one.getConstant() and id_ not in self.assigned and id_ not in self.rates
                and id_ not in self._changed and id_ not in self.set_by_events]
        symbols = {id_: sympy.Symbol(f"@{id_}", real=True) for id_ in free}
        kept, self._values, self._at_start = self._values, _Symbols(symbols), True
        try:
            rules = [self.expression(formula) for formula in self.algebraic]
        finally:
            self._values, self._at_start = kept, False
        text = " and ".join(f"0 = {self.lib.formulaToL3String(formula)}" for formula in self.algebraic)
        unknown = [symbols[id_] for id_ in free if any(symbols[id_] in rule.free_symbols for rule in rules)]
        if len(unknown) != len(rules):
            self.refuse(f"the algebraic rule {text}", f"must determine {len(rules)} of " + (", ".join(s.name[1:] for s in unknown) or "no quantity"))
        if any(rule.has(sympy.Piecewise) for rule in rules):
            self.refuse(f"the algebraic rule {text}", "has conditions, which is not imported")
        try:
            solutions = sympy.solve(rules, unknown, dict=True)
        except NotImplementedError:
            solutions = []
        if len(solutions) != 1 or len(solutions[0]) != len(unknown):
            self.refuse(f"the algebraic rule {text}", "has no solution in closed form, or several, which is not imported")
        for symbol, solution in solutions[0].items():
            self.assigned[symbol.name[1:]] = self.lib.parseL3Formula(_l3_text(solution, self.model.t))

    def _start(self, id_: str) -> None:
        """The initial assignment of a state, in parameters and initial values of other states."""
        self._at_start = True
        start = self.expression(self.started[id_])
        for _ in range(len(self.started)):  # initial values may depend on others, which are substituted in turn
            start = start.subs({self._values[other]: self.expression(self.started[other])
                                for other in self.started if self._values.get(other) in start.free_symbols})
        self._at_start = False
        if start.free_symbols:
            self.model._initial[self._values[id_]] = start

    def _number_at_start(self, id_: str) -> float:
        """The initial value of a quantity, as a number."""
        if id_ in self._open:
            self.refuse(id_, "begins with what is made of itself")
        self._open.append(id_)
        try:
            return self._made_at_start(id_)
        finally:
            self._open.pop()

    def _made_at_start(self, id_: str) -> float:
        made = self.started.get(id_) or self.assigned.get(id_)
        if made is not None:
            return self._evaluated(made)
        if id_ in self.reactions:
            return self._evaluated(self.reactions[id_].getKineticLaw().getMath())
        if id_ in self.compartments:
            return float(self.compartments[id_].getSize())
        if id_ in self.stoichiometries:
            return self._set_stoichiometry(self.stoichiometries[id_])
        if id_ in self.parameters:
            if not self.parameters[id_].isSetValue():
                self.refuse(f"parameter {id_}", "has no value")
            return float(self.parameters[id_].getValue())
        species = self.species[id_]
        size = self._number_at_start(species.getCompartment()) if not self._is_amount(species) else 1.0
        if species.isSetInitialAmount():
            return float(species.getInitialAmount()) / size
        if species.isSetInitialConcentration():
            whole = self._is_amount(species) and self.compartments[species.getCompartment()].isSetSize()
            return float(species.getInitialConcentration()) * (self._number_at_start(species.getCompartment()) if whole else 1.0)
        self.refuse(f"species {id_}", "has no initial value")

    def _evaluated(self, formula: Any) -> float:
        """A formula at the start, as a number."""
        import sympy

        before, self._at_start = self._at_start, True
        kept, self._values = self._values, _Numbers(self)
        try:
            return float(sympy.sympify(self.expression(formula)).subs(self.model.t, 0.0))
        except TypeError:
            self.refuse(self.lib.formulaToL3String(formula), "has no value at the start")
        finally:
            self._at_start, self._values = before, kept

    def _reaction_rate(self, species: str) -> "sympy.Expr":
        """The time derivative of a species by all reactions together."""
        import sympy

        rate = sympy.Integer(0)
        one = self.species[species]
        size = 1 if self._is_amount(one) or species in self._amounts else self.value(one.getCompartment())
        factor = one.getConversionFactor() or self.net.getConversionFactor()
        for id_, reaction in self.reactions.items():
            for k, part in enumerate(self._parts(reaction)):
                if part.getSpecies() == species:
                    sign = -1 if k < reaction.getNumReactants() else 1
                    rate += sign * self._stoichiometry(part) * self.value(id_) / size
        return rate * self.value(factor) if factor else rate

    def _stoichiometry(self, part: Any) -> Any:
        import sympy

        if part.getId() in self.stoichiometries:
            return self.value(part.getId())
        if part.isSetStoichiometryMath():
            return self.expression(part.getStoichiometryMath().getMath())
        number = self._set_stoichiometry(part)
        return sympy.Integer(int(number)) if number == int(number) else sympy.Float(number)

    def _set_stoichiometry(self, part: Any) -> float:
        number = float(part.getStoichiometry())
        if math.isnan(number):
            self.refuse(f"the stoichiometry of {part.getSpecies()}", "has no value")
        return number

    # ---- events

    def _write_events(self) -> None:
        events = [(self._event_name(event, number), event) for number, event in enumerate(self.events)]
        if any(self._is_queued(event) for _, event in events):
            self.model.queue(self._queued(id_, event) for id_, event in events)
            return
        for id_, event in events:
            self._event(id_, event)

    def _is_queued(self, event: Any) -> bool:
        """Does the event need more than a transition at the root of its trigger?"""
        return (event.isSetDelay() or event.isSetPriority() or self._fires_at_start(event)
                or (event.getUseValuesFromTriggerTime() is False and len(self.events) > 1)
                or (event.getTrigger().isSetPersistent() and not event.getTrigger().getPersistent())
                or any(kind in self._kinds_in(event.getTrigger().getMath()) for kind in (self.lib.AST_LOGICAL_XOR, self.lib.AST_LOGICAL_IMPLIES)))

    def _fires_at_start(self, event: Any) -> bool:
        trigger = event.getTrigger()
        return trigger.isSetInitialValue() and not trigger.getInitialValue()

    def _kinds_in(self, formula: Any) -> "set[int]":
        return {formula.getType()}.union(*(self._kinds_in(formula.getChild(k)) for k in range(formula.getNumChildren())))

    def _queued(self, id_: str, event: Any) -> Event:
        trigger = event.getTrigger().getMath()
        formula = lambda part: None if part is None or part.getMath() is None else self.expression(part.getMath())
        changes = self._changes(event)
        keeps = event.getUseValuesFromTriggerTime() is not False
        if keeps and len(changes) > MOST_CARRIED:
            self.refuse(f"event {id_}", f"more than {MOST_CARRIED} assignments in a network with delays or priorities are not imported")
        self._at_start = True
        at_start = self.condition(trigger)
        self._at_start = False
        return Event(self._name(id_), event.getName() or self.lib.formulaToL3String(trigger), self.condition(trigger), changes,
                     formula(event.getDelay()), formula(event.getPriority()),
                     not event.getTrigger().isSetPersistent() or event.getTrigger().getPersistent(), keeps,
                     not self._fires_at_start(event), at_start)

    def _changes(self, event: Any) -> "dict[Any, Any]":
        """The states that an event changes, with their new values."""
        import sympy

        formulas = {one.getVariable(): sympy.sympify(self.expression(one.getMath())) for one in self._assignments(event)}
        changes = {}
        for id_, value in formulas.items():
            if id_ in self._amounts:  # in the compartment as it was before the event
                value *= self.value(self.species[id_].getCompartment())
            changes[self._amounts.get(id_, self._values[id_])] = value
        return changes

    def _event(self, id_: str, event: Any) -> None:
        trigger = event.getTrigger().getMath()
        about = event.getName() or self.lib.formulaToL3String(trigger)
        moment = self._moment(trigger)
        name = self._name(id_)
        if moment is not None:
            due = self.model.time_event(name, about, at=moment)
        else:
            due = self.model.guard(name, self._level(trigger, id_), "rising", "bilateral", about)
        changes = self._changes(event)
        if changes:
            self.model.on(due, changes)

    def _moment(self, trigger: Any) -> Any:
        """The constant of a trigger time >= constant, a time event; None for other triggers."""
        lib, kind = self.lib, trigger.getType()
        if trigger.getNumChildren() != 2:
            return None
        left, right = trigger.getChild(0), trigger.getChild(1)
        if kind in (lib.AST_RELATIONAL_LT, lib.AST_RELATIONAL_LEQ):
            left, right = right, left
        elif kind not in (lib.AST_RELATIONAL_GT, lib.AST_RELATIONAL_GEQ):
            return None
        if left.getType() != lib.AST_NAME_TIME:
            return None
        at = self.expression(right)
        constants = {symbol for symbol, of in self.model._kinds.items() if of == "parameter"}
        free = getattr(at, "free_symbols", set())
        return at if free <= constants and self._evaluated(right) > 0 else None

    def _level(self, trigger: Any, event: str) -> Any:
        """A function that is positive where the trigger is true: the minimum for and, the maximum for or, the negative for not."""
        import sympy

        lib, kind = self.lib, trigger.getType()
        parts = [trigger.getChild(k) for k in range(trigger.getNumChildren())]
        if kind in (lib.AST_RELATIONAL_GT, lib.AST_RELATIONAL_GEQ) and len(parts) == 2:
            return self.expression(parts[0]) - self.expression(parts[1])
        if kind in (lib.AST_RELATIONAL_LT, lib.AST_RELATIONAL_LEQ) and len(parts) == 2:
            return self.expression(parts[1]) - self.expression(parts[0])
        if kind in (lib.AST_LOGICAL_AND, lib.AST_LOGICAL_OR) and parts:
            many = sympy.Min if kind == lib.AST_LOGICAL_AND else sympy.Max
            return many(*(self._level(p, event) for p in parts))
        if kind == lib.AST_LOGICAL_NOT:
            return -self._level(parts[0], event)
        self.refuse(f"event {event}", f"the trigger {lib.formulaToL3String(trigger)} is not one of <, <=, >, >=, and, or, not")

    # ---- formulas

    def value(self, id_: str) -> Any:
        """The expression of an id in formulas."""
        if id_ in self._values:
            return self._values[id_]
        formula = self.assigned.get(id_) or (self.started.get(id_) if self._is_derived(id_) else None)
        if formula is None and id_ in self.reactions:
            formula = self.reactions[id_].getKineticLaw().getMath()
        if formula is None:
            self.refuse(id_, "is not known in a formula")
        if id_ in self._open:
            self.refuse(id_, "is made of itself")
        self._open.append(id_)
        made = self.expression(formula)
        self._open.pop()
        if self._is_derived(id_) and any(self.model._kinds.get(s) != "parameter" for s in made.free_symbols):
            # A constant that depends on initial values of states.
            one = self.quantities[id_]
            unit = "1" if id_ in self.stoichiometries else self._unit(one)
            made = self.model.parameter(self._name(id_), self._number_at_start(id_), unit, one.getName() or id_)
        if not self._at_start:
            self._values[id_] = made
        return made

    def condition(self, formula: Any) -> Any:
        """A condition in a formula: the side of a guard, which is constant within a step and changes at an event."""
        import sympy

        lib, kind = self.lib, formula.getType()
        parts = [formula.getChild(k) for k in range(formula.getNumChildren())]
        if kind in (lib.AST_CONSTANT_TRUE, lib.AST_CONSTANT_FALSE):
            return sympy.true if kind == lib.AST_CONSTANT_TRUE else sympy.false
        if kind == lib.AST_LOGICAL_AND:
            return sympy.And(*(self.condition(p) for p in parts))
        if kind == lib.AST_LOGICAL_OR:
            return sympy.Or(*(self.condition(p) for p in parts))
        if kind == lib.AST_LOGICAL_NOT:
            return sympy.Not(self.condition(parts[0]))
        if kind == lib.AST_LOGICAL_IMPLIES:
            return sympy.Or(sympy.Not(self.condition(parts[0])), self.condition(parts[1]))
        if kind == lib.AST_LOGICAL_XOR:  # xor of several: an odd number of them is true
            return functools.reduce(lambda a, b: sympy.Or(sympy.And(a, sympy.Not(b)), sympy.And(b, sympy.Not(a))),
                                    (self.condition(p) for p in parts), sympy.false)
        if formula.isNumber():
            return sympy.true if formula.getValue() != 0 else sympy.false
        if kind in (lib.AST_RELATIONAL_EQ, lib.AST_RELATIONAL_NEQ):
            return self._equal(formula, [sympy.sympify(self.expression(p)) for p in parts])
        order = {lib.AST_RELATIONAL_GT: 1, lib.AST_RELATIONAL_GEQ: 1, lib.AST_RELATIONAL_LT: -1, lib.AST_RELATIONAL_LEQ: -1}
        if kind not in order:
            self.refuse(lib.formulaToL3String(formula), "is not one of <, <=, >, >=, and, or, xor, not, as a condition")
        values = [sympy.sympify(self.expression(p)) for p in parts]
        text = lib.formulaToL3String(formula)
        return sympy.And(*(self._compared(order[kind] * (a - b), kind, text) for a, b in zip(values, values[1:])))

    def _equal(self, formula: Any, values: list) -> Any:
        """Are constants equal? What varies is equal to another at single points alone."""
        import sympy

        if any(symbol == self.model.t or self.model._kinds.get(symbol) == "state" for e in values for symbol in e.free_symbols):
            self.refuse(self.lib.formulaToL3String(formula), "asks whether a quantity that varies is equal to another, which is not imported")
        alike = sympy.And(*(sympy.Eq(a, b) for a, b in zip(values, values[1:])))
        return alike if formula.getType() == self.lib.AST_RELATIONAL_EQ else sympy.Not(alike)

    def _compared(self, level: Any, kind: int, text: str) -> Any:
        """Is a level positive, or zero if that counts?"""
        import sympy

        lib = self.lib
        strict = kind in (lib.AST_RELATIONAL_GT, lib.AST_RELATIONAL_LT)
        if self._at_start:
            return level > 0 if strict else level >= 0
        if level.is_number:
            return sympy.true if (level > 0 if strict else level >= 0) else sympy.false
        return self.model._side(level, strict, text)

    def _rate_of(self, id_: str) -> Any:
        """The time derivative of an id."""
        import sympy

        if id_ in self.assigned or id_ in self._amounts:
            self.refuse(f"rateOf({id_})", "the rate of what an assignment rule gives, or of a concentration where the size of the "
                        "compartment changes, is not imported")
        if f"rateOf({id_})" in self._open:
            self.refuse(f"rateOf({id_})", "is made of itself")
        self._open.append(f"rateOf({id_})")
        made = self.expression(self.rates[id_]) if id_ in self.rates else self._reaction_rate(id_) if id_ in self._changed else 0
        self._open.pop()
        return sympy.sympify(made)

    def expression(self, formula: Any) -> Any:
        """A formula of the file as a SymPy expression."""
        import sympy

        lib, kind = self.lib, formula.getType()
        if formula.isBoolean() and kind != lib.AST_FUNCTION_PIECEWISE:
            return sympy.Piecewise((1, self.condition(formula)), (0, True))
        if kind == lib.AST_FUNCTION_PIECEWISE:
            return self._piecewise(formula)
        if kind == lib.AST_NAME:
            return self.value(formula.getName())
        if kind == lib.AST_FUNCTION_RATE_OF:
            return self._rate_of(formula.getChild(0).getName())
        if kind == lib.AST_NAME_TIME:
            return self.model.t
        if kind == lib.AST_CONSTANT_PI:
            return sympy.pi
        if kind == lib.AST_CONSTANT_E:
            return sympy.E
        if kind == lib.AST_NAME_AVOGADRO:
            return sympy.Float(formula.getReal())
        if kind == lib.AST_INTEGER:
            return sympy.Integer(formula.getInteger())
        if kind == lib.AST_RATIONAL:
            return sympy.Rational(formula.getNumerator(), formula.getDenominator())
        if formula.isNumber():
            return sympy.Float(formula.getReal())
        parts = [self.expression(formula.getChild(k)) for k in range(formula.getNumChildren())]
        if kind == lib.AST_FUNCTION_DELAY:
            return self._delayed(formula, *map(sympy.sympify, parts))
        made = bounded(self._operation(kind, parts))
        if made is None:
            self.refuse(lib.formulaToL3String(formula), "this function is not imported")
        return made

    def _delayed(self, formula: Any, value: Any, delay: Any) -> Any:
        """An expression as it was a delay ago."""
        model, text, what = self.model, self.lib.formulaToL3String(formula), formula.getChild(0)
        starts = [self.started[id_] for id_ in self._names_in(what) if id_ in self.started]
        if self.lib.AST_FUNCTION_RATE_OF in self._kinds_in(what) or any(self.lib.AST_NAME_TIME in self._kinds_in(f) for f in starts):
            self.refuse(text, "a delayed rate, or a quantity with a history of its own before the start, is not imported")
        if self._at_start or not value.free_symbols:
            return value  # before the start all is as at the start
        if any(model._kinds.get(symbol) != "parameter" for symbol in delay.free_symbols):
            self.refuse(text, "a delay that changes is not imported")
        if any(symbol in model._sides for symbol in value.free_symbols):
            self.refuse(text, "a delayed condition is not imported")
        if delay not in self._delays:
            self._delays[delay] = model.delay(self._name(f"delay_{len(self._delays)}", own=True), delay, str(delay))
        states = {symbol: model.delayed(symbol, self._delays[delay]) for symbol in value.free_symbols if model._kinds.get(symbol) == "state"}
        return value.subs({**states, model.t: model.t - delay}, simultaneous=True)

    def _operation(self, kind: int, parts: list) -> Any:
        import sympy

        lib = self.lib
        many = {lib.AST_PLUS: sympy.Add, lib.AST_TIMES: sympy.Mul, lib.AST_FUNCTION_MIN: sympy.Min, lib.AST_FUNCTION_MAX: sympy.Max}
        if kind in many:
            return many[kind](*parts)
        if kind == lib.AST_MINUS:
            return -parts[0] if len(parts) == 1 else parts[0] - parts[1]
        if kind == lib.AST_DIVIDE:
            return parts[0] / parts[1]
        if kind in (lib.AST_POWER, lib.AST_FUNCTION_POWER):
            return power(parts[0], parts[1])
        if kind == lib.AST_FUNCTION_ROOT:  # its degree comes first
            return sympy.sqrt(parts[0]) if len(parts) == 1 else power(parts[1], 1 / parts[0])
        if kind == lib.AST_FUNCTION_LOG:  # its base comes first
            return sympy.log(parts[-1]) / (sympy.log(parts[0]) if len(parts) == 2 else sympy.log(10))
        one = {"ABS": sympy.Abs, "EXP": sympy.exp, "LN": sympy.log, "FLOOR": sympy.floor, "CEILING": sympy.ceiling,
               "SIN": sympy.sin, "COS": sympy.cos, "TAN": sympy.tan, "SINH": sympy.sinh, "COSH": sympy.cosh, "TANH": sympy.tanh,
               "ARCSIN": sympy.asin, "ARCCOS": sympy.acos, "ARCTAN": sympy.atan}
        for name, function in one.items():
            if kind == getattr(lib, f"AST_FUNCTION_{name}") and len(parts) == 1:
                return function(parts[0])
        for name, function in (("SEC", sympy.cos), ("CSC", sympy.sin), ("COT", sympy.tan), ("SECH", sympy.cosh),
                               ("CSCH", sympy.sinh), ("COTH", sympy.tanh)):
            if kind == getattr(lib, f"AST_FUNCTION_{name}") and len(parts) == 1:
                return 1 / function(parts[0])
        if kind in (lib.AST_FUNCTION_QUOTIENT, lib.AST_FUNCTION_REM) and all(part.is_number for part in map(sympy.sympify, parts)):
            whole = sympy.sympify(parts[0] / parts[1])
            whole = sympy.floor(whole) if whole >= 0 else sympy.ceiling(whole)
            return whole if kind == lib.AST_FUNCTION_QUOTIENT else parts[0] - parts[1] * whole
        for name, function, inverse in (("SINH", _asinh, "CSCH"), ("COSH", _acosh, "SECH"), ("TANH", _atanh, "COTH")):
            if kind == getattr(lib, f"AST_FUNCTION_ARC{name}") and len(parts) == 1:
                return function(parts[0])
            if kind == getattr(lib, f"AST_FUNCTION_ARC{inverse}") and len(parts) == 1:
                return function(1 / parts[0])
        for name, function in (("SEC", sympy.acos), ("CSC", sympy.asin), ("COT", sympy.atan)):
            if kind == getattr(lib, f"AST_FUNCTION_ARC{name}") and len(parts) == 1:
                return function(1 / parts[0])
        return None

    def _piecewise(self, formula: Any) -> Any:
        import sympy

        count = formula.getNumChildren()
        if count % 2 == 0 and formula.getChild(count - 1).getType() == self.lib.AST_CONSTANT_TRUE:
            count -= 1  # the last branch is for all else
        if count % 2 == 0:
            self.refuse(self.lib.formulaToL3String(formula), "a piecewise without a last branch for all else is not imported")
        pairs = [(self.expression(formula.getChild(k)), self.condition(formula.getChild(k + 1))) for k in range(0, count - 1, 2)]
        return sympy.Piecewise(*pairs, (self.expression(formula.getChild(count - 1)), True))


class _Numbers(dict):
    """A mapping from symbols to their values at the start, computed on access."""

    def __init__(self, network: _Network):
        super().__init__()
        self._network = network

    def __contains__(self, id_: object) -> bool:
        n = self._network
        return id_ in n.quantities or id_ in n.reactions

    def __missing__(self, id_: str) -> float:
        self[id_] = self._network._number_at_start(id_)
        return self[id_]


def _asinh(x: Any) -> Any:
    import sympy

    return sympy.sign(x) * sympy.log(sympy.Abs(x) + sympy.sqrt(x * x + 1))


def _acosh(x: Any) -> Any:
    import sympy

    return sympy.log(x + sympy.sqrt(x * x - 1))


def _atanh(x: Any) -> Any:
    import sympy

    return sympy.log((1 + x) / (1 - x)) / 2


class _Symbols(dict):
    """A mapping from every id to a symbol of its own."""

    def __init__(self, symbols: "dict[str, Any]"):
        super().__init__(symbols)

    def __contains__(self, id_: object) -> bool:
        return True

    def __missing__(self, id_: str) -> Any:
        import sympy

        return self.setdefault(id_, sympy.Symbol(f"@{id_}", real=True))


def _l3_text(expression: Any, time: Any) -> str:
    """An expression in the infix notation of libsbml; the names of its symbols begin with @."""
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):
        def _print_Symbol(self, e: Any) -> str:
            return "time" if e == time else e.name[1:]

        def _print_Pow(self, e: Any, rational: bool = False) -> str:
            return f"({self._print(e.base)})^({self._print(e.exp)})"

        def _print_Float(self, e: Any) -> str:
            return repr(float(e))

        def _print_log(self, e: Any) -> str:
            return f"ln({self._print(e.args[0])})"

        def _print_Exp1(self, e: Any) -> str:
            return "exponentiale"

        def _print_Abs(self, e: Any) -> str:
            return f"abs({self._print(e.args[0])})"

    return Printer().doprint(expression)
