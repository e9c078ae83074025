"""Models as parts of a model in Python. A part's names get the name of the part before them; inputs and outputs are replaced by the
expressions that stand for them, so that the whole has one flat header.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from . import _core
from ._errors import ModelError

#: A saltus.Symbolic, whose module uses this one.
Symbolic = Any

_BY_SYMBOL = ("_guards", "_rates", "_initial", "_history", "_defined")  # what holds expressions, by the symbol that has them
_RULES = ("_rules", "_rests", "_begins")
_WHOLE = (*_BY_SYMBOL, *_RULES, "_delays", "_schedule", "_max_steps", "_lists", "_knots")


class Part:
    """A part of a model. Its attributes are its states, parameters, discrete variables, tables, inputs, outputs, events and parts by the
    names that they have in the part, for use in the whole."""

    def __init__(self, whole: Symbolic, name: str):
        self._whole, self._name = whole, name

    def _found(self) -> "dict[str, Any]":
        start = f"{self._name}_"
        parts = {name: Part(self._whole, name) for name in self._whole._parts}
        all_ = {**{symbol.name: symbol for symbol in self._whole._kinds}, **parts}
        return {name.removeprefix(start): one for name, one in all_.items() if name.startswith(start)}

    def __getattr__(self, name: str) -> Any:
        found = self._found()
        if name not in found:
            raise AttributeError(f"{self._name}: has no {name}; {_core.suggest(name, list(found))}")
        return found[name]

    def __dir__(self) -> "list[str]":
        return [*super().__dir__(), *self._found()]

    def __repr__(self) -> str:
        return f"<part {self._name} of {self._whole.name}: {', '.join(self._found())}>"


def add(whole: Symbolic, name: str, part: Symbolic, values: Mapping[str, Any]) -> Part:
    """Symbolic.add."""
    whole._checked_name(name)
    if part is whole:
        raise ModelError(f"{whole.name}: {name}: a model is no part of itself")
    if part.time_unit and whole.time_unit and part.time_unit != whole.time_unit:
        raise ModelError(f"{whole.name}: {name}: counts time in {part.time_unit}, and {whole.name} in {whole.time_unit}")
    own = part._taken
    renamed = _renaming(name, own)
    for one in own:
        whole._checked_name(f"{name}_{one}")
    symbols = {s: _symbol(s, renamed) for s in (*part._kinds, *part._names, *part._of_events) if s != part.t}

    def symbol(s: Any) -> Any:
        return symbols.get(s, s)

    def expression(e: Any) -> Any:
        return None if e is None else e.xreplace(symbols)

    for kind, rows in part._lists.items():
        whole._lists.setdefault(kind, []).extend(row._replace(name=f"{name}_{row.name}", about=f"{name}: {row.about}", method=renamed(row.method))
                                                    for row in rows)
    whole._knots.update({f"{name}_{table}": knots for table, knots in part._knots.items()})
    whole._delays.update({f"{name}_{delay}": expression(e) for delay, e in part._delays.items()})
    for of in ("_kinds", "_units", "_carries"):
        getattr(whole, of).update({symbol(s): one for s, one in getattr(part, of).items()})
    for of in ("_names", "_of_events"):
        getattr(whole, of).update({symbol(s): renamed(code) for s, code in getattr(part, of).items() if s not in part._sides})
    whole._above.update({symbol(guard): symbol(side) for guard, side in part._above.items()})
    whole._schedule += [(f"{name}_{event}", how, tuple(map(expression, times))) for event, how, times in part._schedule]
    whole._max_steps += map(expression, part._max_steps)
    for of in _BY_SYMBOL:
        getattr(whole, of).update({symbol(s): expression(e) for s, e in getattr(part, of).items()})
    guards = tuple(part._guards)
    for of in _RULES:
        rules = [rule._replace(event=rule.event or guards) for rule in part._rests] if of == "_rests" else getattr(part, of)
        getattr(whole, of).extend(rule.mapped(symbol, expression) for rule in rules)
    if part._rests and not guards:
        raise ModelError(f"{whole.name}: {name}: {part.name} has a rest, and no guard whose events could accumulate")
    whole.time_unit = whole.time_unit or part.time_unit
    whole._parts.update({f"{name}_{inner}": kept for inner, kept in part._parts.items()})
    whole._parts[name] = part, _content(part)
    for one, value in values.items():
        _give(whole, name, one, value)
    return Part(whole, name)


def of_unit(whole: Symbolic, to: Any, value: Any) -> Any:
    """The value for an input, if the units agree."""
    import sympy

    for term in sympy.Add.make_args(value):
        quantity = -term if term.could_extract_minus_sign() else term
        ours, theirs = (" ".join(whole._units.get(s, "").split()) for s in (to, quantity))
        if not {ours, theirs} & {"", "1"} and ours != theirs:
            raise ModelError(f"{whole.name}: {to} is in {ours}, and {quantity} in {theirs}: the units of a connection must be the same")
    return value


def connected(model: Symbolic) -> Symbolic:
    """The model with expressions instead of inputs and outputs."""
    _check_unchanged(model)
    lacking = [s.name for s, e in model._defined.items() if e is None]
    if lacking:
        raise ModelError(f"{model.name}: without a connection: {', '.join(lacking)}; connect gives an input its value")
    values: dict[Any, Any] = {}
    for s in model._defined:
        _resolve(model, s, values, [])

    def expression(e: Any) -> Any:
        return e.xreplace(values)

    flat = copy.copy(model)
    flat._names, flat._levels, flat._sides = {**model._names}, {**model._levels}, {**model._sides}
    flat._delays = {name: expression(e) for name, e in model._delays.items()}
    flat._schedule = [(event, how, tuple(map(expression, times))) for event, how, times in model._schedule]
    flat._max_steps = [expression(e) for e in model._max_steps]
    for of in _BY_SYMBOL:
        setattr(flat, of, {s: expression(e) for s, e in getattr(model, of).items()})
    for of in _RULES:
        setattr(flat, of, [rule.mapped(lambda s: s, expression) for rule in getattr(model, of)])
    return flat


def _renaming(name: str, own: "set[str]") -> "Callable[[str], str]":
    """Puts the name of a part before each of the part's own names in a text."""
    return lambda text: re.sub(r"(?<![.\w])[A-Za-z_]\w*", lambda word: f"{name}_{word[0]}" if word[0] in own else word[0], text)


def _symbol(s: Any, renamed: "Callable[[str], str]") -> Any:
    import sympy

    return sympy.Symbol(renamed(s.name), real=True) if s.is_real else sympy.Symbol(renamed(s.name))


def _give(whole: Symbolic, part: str, name: str, value: Any) -> None:
    """Gives a parameter, discrete variable or state of a part another value."""
    found = {s.name: s for s, kind in whole._kinds.items() if kind in ("parameter", "discrete", "state")}
    symbol = found.get(f"{part}_{name}")
    if symbol is None:
        allowed = [n.removeprefix(f"{part}_") for n in found if n.startswith(f"{part}_")]
        raise ModelError(f"{whole.name}: {part}: has no parameter, discrete variable or state {name}; {_core.suggest(name, allowed)}")
    kind, expression = whole._kinds[symbol], whole._expression(value)
    rows = whole._lists[kind]
    at = next(k for k, row in enumerate(rows) if row.name == symbol.name)
    whole._initial.pop(symbol, None)
    if not expression.free_symbols:
        if not math.isfinite(float(expression)):
            raise ModelError(f"{whole.name}: {symbol} = {value}: must be a finite number")
        rows[at] = rows[at]._replace(value=float(expression))
    elif kind == "parameter":
        if any(f".chosen_by({symbol})" in row.method for row in whole._lists.get("table", [])):
            raise ModelError(f"{whole.name}: {symbol} = {value}: chooses the curve of a table, so it is given as a number")
        del rows[at], whole._names[symbol]
        if not rows:
            del whole._lists[kind]
        whole._kinds[symbol], whole._defined[symbol] = "input", of_unit(whole, symbol, expression)
    elif kind == "state":
        whole._initial[symbol] = of_unit(whole, symbol, expression)
    else:
        raise ModelError(f"{whole.name}: {symbol} = {value}: a discrete variable begins with a number; begin() sets it to an expression")


def _resolve(model: Symbolic, symbol: Any, values: "dict[Any, Any]", path: "list[Any]") -> Any:
    """What stands for an input or output, without inputs and outputs."""
    if symbol in path:
        loop = ", ".join(s.name for s in (*path[path.index(symbol):], symbol))
        raise ModelError(f"{model.name}: {loop}: each is computed from the next; a state or discrete variable must stand between")
    if symbol not in values:
        e = model._defined[symbol]
        inner = sorted(e.free_symbols & model._defined.keys(), key=lambda s: s.name)
        values[symbol] = e.xreplace({s: _resolve(model, s, values, [*path, symbol]) for s in inner})
    return values[symbol]


def _content(part: Symbolic) -> str:
    return repr([getattr(part, of) for of in _WHOLE])


def _check_unchanged(model: Symbolic) -> None:
    for name, (part, content) in model._parts.items():
        if _content(part) != content:
            raise ModelError(f"{model.name}: {name}: {part.name} has changed since it was added; add it when it is complete")
