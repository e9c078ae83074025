"""Models from Python: equations written with SymPy become a header for the compiler.

SymPy does the algebra: `cse` finds common subexpressions, and its C printer prints the code, with the functions and the
`select` of models instead of those of C.
"""

from __future__ import annotations

import math
import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from . import _core, _parts
from ._errors import ModelError
from ._formula import parsed

if TYPE_CHECKING:
    import sympy

    from ._model import Model

#: Functions that models call by their plain names, and SymPy's names where they differ.
FUNCTIONS = ("sqrt cbrt exp expm1 log log2 log10 sin cos tan asin acos atan sinh cosh tanh floor ceil round sign pow atan2 hypot "
             "copysign abs min max fma select").split()
SYMPY_NAMES = {"Abs": "abs", "ceiling": "ceil", "sign": "sign"}
KEYWORDS = ("alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await co_return "
            "co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast "
            "else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq null "
            "nullptr operator or or_eq private protected public register reinterpret_cast requires return short signed sizeof static "
            "static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using "
            "virtual void volatile wchar_t while xor xor_eq").split()
INTERPOLATIONS, ENDS = ["step", "linear", "pchip", "spline"], ["none", "held", "periodic"]
OWN = "time_unit state table parameter discrete guard output time_event stream delay title source span initial rhs guards transition outputs rest "\
      "max_step delays history at now dy g out when due_item t".split()


def keep(name: str, text: str) -> Path:
    """Writes a header with this text to a path that depends on the text alone, so that the cache finds its modules again."""
    return Path(_core.keep_header(name, text))


def number(value: Any) -> str:
    """A number as C++, with the same bits."""
    try:
        made = float(value)
    except (OverflowError, TypeError, ValueError):
        made = math.nan
    if not math.isfinite(made):
        raise ModelError(f"{value}: must be a finite number of double precision")
    return repr(made)


def one_line(text: str) -> str:
    """A text with blanks instead of control characters, ends of lines, and characters that change the direction of reading."""
    return "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in str(text))


def commented(text: str) -> str:
    """A text as a comment of one line. A backslash at its end, or the trigraph of one, would continue it on the next."""
    return "// " + one_line(text).replace("??/", "? ?/").rstrip(" \\") + "\n"


def quoted(text: str) -> str:
    """A text as a literal of C++: nothing in it ends the literal or the line, or begins an escape or a trigraph."""
    return '"' + one_line(text).replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") + '"'


def printer(at: str, names: Mapping[Any, str]) -> Any:
    """Prints expressions as code of a model, whose quantities are those of `at`."""
    import sympy
    from sympy.printing.c import C89CodePrinter
    from sympy.printing.codeprinter import CodePrinter

    class Printer(C89CodePrinter):
        def _print_Symbol(self, e: sympy.Symbol) -> str:
            return names[e].replace("@", at) if e in names else e.name

        def _print_Float(self, e: sympy.Float) -> str:
            return number(e)

        _print_NumberSymbol = _print_Float

        def _print_Infinity(self, e: Any) -> str:
            return "__builtin_huge_val()"

        def _print_NegativeInfinity(self, e: Any) -> str:
            return "(-__builtin_huge_val())"

        def _print_Integer(self, e: sympy.Integer) -> str:
            return number(e)

        _print_One = _print_Zero = _print_NegativeOne = _print_Integer

        def _print_Rational(self, e: sympy.Rational) -> str:
            return f"({number(e.p)}/{number(e.q)})"

        _print_Half = _print_Rational

        def _print_Pow(self, e: sympy.Pow) -> str:
            base, exponent = self.parenthesize(e.base, 1000), e.exp
            if exponent.is_Rational and exponent.is_negative:
                return f"(1.0/{self._print(sympy.Pow(e.base, -exponent, evaluate=False))})"
            if exponent == 1:
                return base
            if exponent == sympy.S.Half:
                return f"sqrt({self._print(e.base)})"
            if exponent == sympy.Rational(3, 2):
                return f"({base}*sqrt({self._print(e.base)}))"
            if exponent.is_Integer and exponent <= 8:
                return "(" + "*".join([base] * int(exponent)) + ")"
            return f"pow({self._print(e.base)}, {self._print(exponent)})"

        def _print_ExpBase(self, e: Any) -> str:
            return f"exp({self._print(e.args[0])})"

        _print_exp = _print_ExpBase

        def _nested(self, name: str, args: Any) -> str:
            return self._print(args[0]) if len(args) == 1 else f"{name}({self._print(args[0])}, {self._nested(name, args[1:])})"

        def _print_Max(self, e: sympy.Max) -> str:
            return self._nested("max", e.args)

        def _print_Min(self, e: sympy.Min) -> str:
            return self._nested("min", e.args)

        def _print_Function(self, e: sympy.Function) -> str:
            name = SYMPY_NAMES.get(type(e).__name__, type(e).__name__)
            if name not in FUNCTIONS:
                raise ModelError(f"{e}: models have no function {type(e).__name__}; {_core.suggest(name, FUNCTIONS)}")
            return f"{name}({', '.join(self._print(a) for a in e.args)})"

        _print_Abs = _print_sign = _print_ceiling = _print_floor = _print_log = _print_Function

        def _print_Piecewise(self, e: sympy.Piecewise) -> str:
            text = None
            for value, condition in reversed(e.args):
                text = self._print(value) if text is None else \
                    f"select({self._print(condition)}, {self._print(value)}, {text})"
            return text or "0.0"

        def _print_Relational(self, e: Any) -> str:
            return f"({self._print(e.lhs)} {e.rel_op} {self._print(e.rhs)})"

        def _print_And(self, e: Any) -> str:
            return "(" + " && ".join(self._print(a) for a in e.args) + ")"

        def _print_Or(self, e: Any) -> str:
            return "(" + " || ".join(self._print(a) for a in e.args) + ")"

        def _print_Not(self, e: Any) -> str:
            return f"!{self._print(e.args[0])}" if e.args[0].is_Symbol else f"!({self._print(e.args[0])})"

        def _print_ITE(self, e: Any) -> str:
            condition, a, b = e.args
            return self._print(sympy.Or(sympy.And(condition, a), sympy.And(sympy.Not(condition), b)))

        def _print_not_supported(self, e: Any) -> str:
            raise ModelError(f"{e}: models have no {type(e).__name__}")

        emptyPrinter = _print_Mod = _print_Derivative = _print_ImaginaryUnit = _print_NaN = _print_not_supported

    for method in dir(Printer):
        if getattr(Printer, method) is CodePrinter._print_not_supported:
            setattr(Printer, method, Printer._print_not_supported)
    return Printer({"math_macros": {}})  # models have no M_PI_2


class _Row(NamedTuple):
    """An entry of a list of the header."""

    name: str
    value: Optional[float]  # a default
    head: str  # what stands before the sentence, and behind it
    about: str
    tail: str = ""
    type: str = ""
    method: str = ""  # called on the entry; "@" is its name

    @property
    def text(self) -> str:
        value = "" if self.value is None else f"{number(self.value)}, "
        return f"{self.type}{{{self.name}, {value}{self.head}{quoted(self.about)}{self.tail}}}{self.method.replace('@', self.name)}"


class _Rule(NamedTuple):
    """What happens at an event."""

    event: Any  # of a rest: the guards whose events accumulate; none: any
    changes: "dict[Any, Any]"
    when: Any = None
    stop: Any = None
    after: "dict[Any, tuple]" = {}  # by scheduled time event: the delay, and the numbers carried
    cancel: "tuple[Any, ...]" = ()

    @property
    def expressions(self) -> list:
        all_ = [*self.changes.values(), self.when, self.stop, *(e for several in self.after.values() for e in several)]
        return [e for e in all_ if hasattr(e, "free_symbols")]

    def mapped(self, symbol: Any, expression: Any) -> "_Rule":
        """The rule with its symbols and expressions changed by these functions."""
        event = tuple(map(symbol, self.event)) if isinstance(self.event, tuple) else self.event and symbol(self.event)
        when, stop = (expression(e) if hasattr(e, "free_symbols") else e for e in (self.when, self.stop))
        return _Rule(event, {symbol(s): expression(e) for s, e in self.changes.items()}, when, stop,
                     {symbol(s): tuple(map(expression, several)) for s, several in self.after.items()}, tuple(map(symbol, self.cancel)))


class Symbolic:
    """A model written in Python.

        ball = saltus.Symbolic("ball", title="Bouncing ball", span=(0, 3))
        h = ball.state("height", 1.0, "m", "height above the floor")
        v = ball.state("velocity", 0.0, "m/s", "velocity, upwards")
        e = ball.parameter("restitution", 0.7, "1", "share of the speed kept at an impact")
        ball.equation(h, v)
        ball.equation(v, -9.81)
        impact = ball.guard("impact", h, "falling", "unilateral", "the ball reaches the floor")
        ball.on(impact, {v: -e * v})
        m = ball.model()

    Names become those of the result. `source` is the header; `t` is the time.
    """

    def __init__(self, name: str, title: str = "", source: str = "", span: "tuple[float, float]" = (0.0, 1.0), time_unit: str = ""):
        import sympy

        self.name, self.title, self.reference, self.span, self.time_unit = name, title or name, source, span, time_unit
        self.t = sympy.Symbol("t", real=True)
        self._lists: dict[str, list[_Row]] = {}
        self._names: dict[Any, str] = {self.t: "@.t"}
        self._kinds: dict[Any, str] = {}
        self._guards: dict[Any, Any] = {}
        self._above: dict[Any, Any] = {}
        self._rates: dict[Any, Any] = {}
        self._initial: dict[Any, Any] = {}
        self._defined: dict[Any, Any] = {}  # inputs and outputs: what stands for them; None: an input without a connection
        self._units: dict[Any, str] = {}
        self._parts: dict[str, tuple[Symbolic, str]] = {}  # the models, and their content when they were added
        self._knots: dict[str, list[tuple[float, float]]] = {}
        self._schedule: list[tuple[str, str, tuple]] = []
        self._rules: list[_Rule] = []
        self._rests: list[_Rule] = []
        self._begins: list[_Rule] = []
        self._delays: dict[str, Any] = {}
        self._history: dict[Any, Any] = {}
        self._carries: dict[Any, int] = {}  # by scheduled time event: the numbers that it carries
        self._of_events: dict[Any, str] = {}  # quantities of events alone: where they come from
        self._max_steps: list[Any] = []
        self._levels: dict[Any, Any] = {}  # levels of guards made from conditions, and the symbols of their sides
        self._sides: dict[Any, tuple[Any, str]] = {}
        self._checked_name(name, "model")

    # ---- names

    def state(self, name: str, initial: Any, unit: str = "1", about: str = "") -> "sympy.Symbol":
        """A state. `initial` may be an expression of parameters."""
        import sympy

        initial = self._number(initial)
        is_number = not initial.free_symbols
        symbol = self._quantity("state", name, initial if is_number else 0.0, unit, about)
        if not is_number:
            self._initial[symbol] = initial
        return symbol

    def parameter(self, name: str, value: float, unit: str = "1", about: str = "") -> "sympy.Symbol":
        """A parameter, constant through an instance."""
        return self._quantity("parameter", name, value, unit, about)

    def discrete(self, name: str, value: float, unit: str = "1", about: str = "") -> "sympy.Symbol":
        """A discrete variable, constant between events. Write sympy.Eq(symbol, 1) for a condition on it."""
        return self._quantity("discrete", name, value, unit, about)

    def table(self, name: str, unit: str = "1", about: str = "", interpolation: str = "linear", at_ends: str = "none",
              knots: Any = None, chosen_by: Any = None) -> "sympy.Symbol":
        """A function of time by values at knots: step, linear, pchip or spline; beyond the ends none, held or periodic. `knots` are a
        Series or (times, values); without them each run must give them by `tables`. `chosen_by`: a parameter, the number of the curve that
        an instance reads, from 0 on, of the several that a run gives."""
        import sympy

        for given, allowed in ((interpolation, INTERPOLATIONS), (at_ends, ENDS)):
            if given not in allowed:
                raise ModelError(f"table {name}: {given}: unknown word; {_core.suggest(given, allowed)}")
        if chosen_by is not None and self._kinds.get(chosen_by) != "parameter":
            raise ModelError(f"table {name}: chosen_by = {chosen_by}: must be a parameter of {self.name}")
        tail = f", saltus::interpolation::{interpolation}, saltus::at_ends::{at_ends}"
        methods = (".with(knots_of_@)" if knots is not None else "") + (f".chosen_by({chosen_by})" if chosen_by is not None else "")
        self._row("table", name, about, f"{quoted(unit)}, ", tail, *(("saltus::tabulated<table>", methods) if methods else ()))
        if knots is not None:
            times, values = (knots.index, knots.values) if hasattr(knots, "index") and hasattr(knots, "values") else knots
            self._knots[name] = [(float(t), float(value)) for t, value in zip(times, values)]
        symbol = sympy.Symbol(name, real=True)
        self._names[symbol] = f"@[{name}]"
        self._kinds[symbol], self._units[symbol] = "table", unit
        return symbol

    def delay(self, name: str, value: Any, about: str = "") -> "sympy.Symbol":
        """A delay, an expression of parameters. `delayed` gives states as they were this long ago."""
        import sympy

        self._row("delay", name, about)
        self._delays[name] = self._number(value)
        symbol = sympy.Symbol(name)
        self._kinds[symbol] = "delay"
        return symbol

    def delayed(self, state: "sympy.Symbol", delay: "sympy.Symbol") -> "sympy.Symbol":
        """The value of a state a delay ago."""
        import sympy

        self._must_be(state, "state")
        self._must_be(delay, "delay")
        symbol = sympy.Symbol(f"{state} before {delay}", real=True)
        self._names[symbol] = f"@.delayed({state}, {delay})"
        self._kinds[symbol] = "delayed"
        return symbol

    def history(self, state: "sympy.Symbol", value: Any) -> None:
        """A state before the start, an expression of `t` and parameters; without it, the initial value."""
        self._must_be(state, "state")
        self._history[state] = self._number(value)

    # ---- equations

    def equation(self, state: "sympy.Symbol", rate: Any) -> None:
        """The time derivative of a state. Another one for the same state takes its place."""
        self._must_be(state, "state")
        self._rates[state] = self._number(rate)

    def output(self, name: str, value: Any, unit: str = "1", about: str = "") -> "sympy.Symbol":
        """An output, computed from the other quantities and never integrated. In expressions the symbol stands for its value."""
        self._row("output", name, about, f"{quoted(unit)}, ")
        return self._define("output", name, self._number(value), unit)

    def max_step(self, value: Any) -> None:
        """Bounds the step size. Several bounds hold together."""
        self._max_steps.append(self._number(value))

    # ---- parts

    def input(self, name: str, unit: str = "1", about: str = "") -> "sympy.Symbol":
        """A quantity that the model needs and does not compute. `connect` gives its value, here or in the model of which this is a
        part. It is no variable of a result; `about` is for the reader of the source."""
        self._checked_name(name)
        return self._define("input", name, None, unit)

    def add(self, name: str, part: "Symbolic", /, **values: Any) -> "_parts.Part":
        """A part: the states, parameters, discrete variables, tables, outputs, events, delays and random streams of another model,
        each with the name of the part and `_` before its own. The answer has them as attributes: `left.x` is `left_x`.

        The part must be complete. `values`: a number becomes the default of a parameter, discrete variable or state; an expression of
        this model takes the place of a parameter, or is the initial value of a state. Rules of parts come in the order of the calls.
        """
        if not isinstance(part, Symbolic) or type(part)._events is not Symbolic._events:
            raise ModelError(f"{self.name}: {name}: a part is a saltus.Symbolic; a header, a built-in model or a network in SBML is none")
        return _parts.add(self, name, part, values)

    def connect(self, to: "sympy.Symbol", value: Any) -> None:
        """Gives an input the value of an expression. Terms that are single quantities must have the unit of the input; the unit 1
        fits any."""
        self._must_be(to, "input")
        if self._defined[to] is not None:
            raise ModelError(f"{self.name}: {to} is connected already, to {self._defined[to]}")
        self._defined[to] = _parts.of_unit(self, to, self._expression(value))

    # ---- events

    def guard(self, name: str, value: Any, direction: str, sidedness: str = "bilateral", about: str = "",
              terminal: bool = False, sliding: bool = False) -> "sympy.Symbol":
        """A function whose roots are events: rising, falling or both; bilateral or unilateral. `above` is its sign."""
        import sympy

        for given, allowed in ((direction, ["rising", "falling", "both"]), (sidedness, ["bilateral", "unilateral"])):
            if given not in allowed:
                raise ModelError(f"guard {name}: {given}: unknown word; {_core.suggest(given, allowed)}")
        self._row("guard", name, about, f"saltus::{direction}, saltus::{sidedness}, ", ", saltus::terminal" if terminal else "",
                  *(("saltus::event_function<guard>", ".sliding()") if sliding else ()))
        symbol = sympy.Symbol(name)
        self._kinds[symbol] = "guard"
        self._guards[symbol] = self._number(value)
        self._above[symbol] = sympy.Symbol(f"above({name})")
        self._names[self._above[symbol]] = f"@.above({name})"
        return symbol

    def above(self, guard: "sympy.Symbol") -> "sympy.Symbol":
        """A condition: is the guard positive? Its side is that after the last event."""
        self._must_be(guard, "guard")
        return self._above[guard]

    def time_event(self, name: str, about: str = "", at: Any = None, every: Any = None, first: Any = None) -> "sympy.Symbol":
        """An event at a known time, or at `first` and then with the period `every`."""
        if (at is None) == (every is None):
            raise ModelError(f"time event {name}: must have one of `at` and `every`")
        self._row("time_event", name, about)
        times = (at,) if at is not None else (every,) if first is None else (every, first)
        self._schedule.append((name, "every" if at is None else "at", tuple(self._expression(one) for one in times)))
        return self._event_symbol(name)

    def scheduled(self, name: str, capacity: int = 8, carries: int = 0, about: str = "") -> "sympy.Symbol":
        """A time event that other events schedule (`after` of `on`), up to `capacity` times at once. Each time it carries numbers to
        where it is due: `carried(event, k)`."""
        self._row("time_event", name, about, "", "", "saltus::timed<time_event>",
                  f".scheduled({int(capacity)})" + (f".carrying({int(carries)})" if carries else ""))
        return self._event_symbol(name, int(carries))

    def _event_symbol(self, name: str, carries: Optional[int] = None) -> "sympy.Symbol":
        import sympy

        symbol = sympy.Symbol(name)
        self._kinds[symbol] = "time_event"
        if carries is not None:
            self._carries[symbol] = carries
        return symbol

    def carried(self, event: "sympy.Symbol", k: int = 0) -> "sympy.Symbol":
        """Number k that a scheduled time event carries, in its own rules."""
        import sympy

        if not 0 <= k < self._carries.get(event, 0):
            raise ModelError(f"{event}: carries {self._carries.get(event, 0)} numbers; there is no number {k}")
        symbol = sympy.Symbol(f"{event}[{k}]", real=True)
        self._names[symbol] = f"due_item[{k}]"
        self._of_events[symbol] = event.name
        return symbol

    def stream(self, name: str, about: str = "") -> "sympy.Symbol":
        """A stream of random numbers, which is independent of all others and has the same bits in any run."""
        import sympy

        self._row("stream", name, about)
        symbol = sympy.Symbol(name)
        self._kinds[symbol] = "stream"
        return symbol

    def uniform(self, stream: "sympy.Symbol") -> "sympy.Symbol":
        """A number between 0 and 1, drawn anew each time at which an event uses it."""
        return self._draw(stream, "uniform")

    def normal(self, stream: "sympy.Symbol") -> "sympy.Symbol":
        """A standard normal number, drawn anew each time at which an event uses it."""
        return self._draw(stream, "normal")

    def _draw(self, stream: "sympy.Symbol", how: str) -> "sympy.Symbol":
        import sympy

        self._must_be(stream, "stream")
        symbol = sympy.Symbol(self._free(f"draw_{len(self._of_events)}"), real=True)
        self._names[symbol] = symbol.name
        self._of_events[symbol] = f"@.{how}({stream})"
        return symbol

    def on(self, event: "sympy.Symbol", changes: Optional[Mapping] = None, when: Any = None, stop: Any = None,
           after: Optional[Mapping] = None, cancel: Any = ()) -> None:
        """The transition when a guard or time event is due: all new values are computed from the old ones. `stop`: True or a condition
        on the new values. `after`: {scheduled: delay}, or {scheduled: (delay, number, ...)} with the numbers that it carries; `cancel`:
        scheduled events to take back. Rules apply in the order of the calls."""
        if self._kinds.get(event) not in ("guard", "time_event"):
            raise ModelError(f"{event}: is no guard or time event of {self.name}")
        self._rules.append(self._rule(event, changes, when, stop, after, cancel))

    def rest(self, changes: Mapping, when: Any = None, guards: Any = ()) -> None:
        """The transition where events accumulate: those of these guards; without `guards`, of any guard of this model and its parts."""
        of = tuple(guards) if isinstance(guards, (tuple, list, set)) else (guards,)
        for guard in of:
            self._must_be(guard, "guard")
        self._rests.append(self._rule(None, changes, when)._replace(event=of))

    def begin(self, changes: Optional[Mapping] = None, after: Optional[Mapping] = None) -> None:
        """What is set or scheduled at the start, as in `on`. Discrete variables and states may begin with random numbers."""
        self._begins.append(self._rule(None, changes, after=after))

    def _rule(self, event: Any, changes: Optional[Mapping], when: Any = None, stop: Any = None, after: Optional[Mapping] = None,
              cancel: Any = ()) -> _Rule:
        when, stop = (one if one is None or isinstance(one, bool) else self._expression(one) for one in (when, stop))
        cancel = tuple(cancel) if isinstance(cancel, (tuple, list, set)) else (cancel,)
        for one in (*(after or {}), *cancel):
            if one not in self._carries:
                raise ModelError(f"{one}: is no scheduled time event of {self.name}")
        scheduled = {}
        for one, given in (after or {}).items():
            scheduled[one] = tuple(self._expression(e) for e in (given if isinstance(given, (tuple, list)) else (given,)))
            if len(scheduled[one]) - 1 > self._carries[one]:
                raise ModelError(f"{one}: carries {self._carries[one]} numbers, and is given {len(scheduled[one]) - 1}")
        rule = _Rule(event, self._changes(changes), when, stop, scheduled, cancel)
        for symbol in {symbol for e in rule.expressions for symbol in e.free_symbols if symbol in self._of_events}:
            if self._names[symbol].startswith("due_item") and (event is None or self._of_events[symbol] != event.name):
                raise ModelError(f"{symbol}: is carried by {self._of_events[symbol]}, and known in its rules alone")
        return rule

    # ---- the header

    @property
    def source(self) -> str:
        """The header."""
        return _parts.connected(self)._header()

    def _header(self) -> str:
        import sympy

        lacking = [s.name for s, kind in self._kinds.items() if kind == "state" and s not in self._rates]
        if lacking:
            raise ModelError(f"{self.name}: has no equation of {', '.join(lacking)}")
        parts = [f"{commented(f'{self.title}. Written by saltus.Symbolic.')}#include <saltus.hpp>\n\nstruct {self.name} {{",
                 f"  static constexpr auto title = {quoted(self.title)};\n"
                 f"  static constexpr auto source = {quoted(self.reference)};\n"
                 + (f"  static constexpr auto time_unit = {quoted(self.time_unit)};\n" if self.time_unit else "") +
                 f"  static constexpr double span[] = {{{number(self.span[0])}, {number(self.span[1])}}};\n"]
        types = {"state": "variable<state>", "parameter": "variable<parameter>", "discrete": "variable<discrete>",
                 "table": "tabulated<table>",
                 "guard": "event_function<guard>", "time_event": "timed<time_event>", "stream": "random_stream<stream>",
                 "delay": "lag<delay>", "output": "derived<output>"}
        for name, knots in self._knots.items():
            parts.append(f"  static constexpr saltus::knot knots_of_{name}[] = {{\n"
                         + "".join(f"      {{{number(t)}, {number(value)}}},\n" for t, value in knots) + "  };\n")
        given = {s.name: e for s, e in self._defined.items() if self._kinds[s] == "output"}
        rates, outputs, levels = ({key: self._held(e) for key, e in of.items()} for of in (self._rates, given, self._guards))
        sides = self._name_sides([*rates.values(), *outputs.values(), *levels.values(), *self._in_events()])
        lists = {**self._lists}
        if sides:
            lists["guard"] = [*lists.get("guard", []), *(_Row(name, None, "saltus::both, saltus::bilateral, ", self._sides[side][1])
                                                         for side, name in sides.items())]
        levels = {**{s.name: e for s, e in levels.items()}, **{name: self._sides[side][0] for side, name in sides.items()}}
        for kind, rows in lists.items():
            parts.append(f"  enum {kind} {{ {', '.join(row.name for row in rows)} }};\n"
                         f"  static constexpr saltus::{types[kind]} {kind}_list[] = {{\n"
                         + "".join(f"      {row.text},\n" for row in rows) + "  };\n")
        functions = [self._start(),
                     self._function("delays", "const auto& at, auto& out", {f"out[{name}]": e for name, e in self._delays.items()}),
                     self._function("history", "const auto& at, auto& out", {f"out[{s.name}]": e for s, e in self._history.items()}),
                     self._function("rhs", "const auto& at, auto& dy", {f"dy[{s.name}]": e for s, e in rates.items()}),
                     self._function("guards", "const auto& at, auto& g", {f"g[{name}]": e for name, e in levels.items()}),
                     self._times(), self._events("transition", self._rules), self._events("rest", self._rests),
                     self._function("outputs", "const auto& at, auto& out",
                                    {f"out[{name}]": e for name, e in outputs.items()})]
        if self._max_steps:
            functions.append(f"  static auto max_step(const auto& at) {{ return {self._code('at', sympy.Min(*self._max_steps))}; }}\n")
        return "\n".join([*parts, "\n".join(f for f in functions if f) + "};\n"])

    def model(self, file: Union[str, os.PathLike, None] = None) -> "Model":
        """The model, loaded from its header; `file` is the path of the header, named like the model."""
        from ._model import Model

        if file is None:
            return Model(keep(self.name, self.source))
        path = Path(file)
        if path.name != f"{self.name}.hpp":
            raise ModelError(f"{path}: the file must be named like the model, {self.name}.hpp")
        path.write_text(self.source)
        return Model(path.resolve())

    # ---- construction

    @property
    def _taken(self) -> "set[str]":
        drawn = {s.name for s, source in self._of_events.items() if source.startswith("@")}
        return {row.name for rows in self._lists.values() for row in rows} | {s.name for s in self._defined} | {*self._parts} | drawn

    def _free(self, name: str, taken: "set[str] | None" = None) -> str:
        """The name, made longer until nothing has it."""
        while name in (self._taken if taken is None else taken):
            name += "_"
        return name

    def _checked_name(self, name: str, what: str = "") -> None:
        why = ("is no name: letters, digits and _ make one" if not (name.isidentifier() and name.isascii()) else
               "is there already" if name in self._taken else
               "is a word of C++" if name in KEYWORDS else
               "is the name of a function that models call" if name in FUNCTIONS else
               "is the name of the model" if name == self.name and what != "model" else
               "is a word of models" if name in OWN or name.endswith("_list") else "")
        if why:
            raise ModelError(f"{self.name}: {name!r} {why}: choose another name")

    def _row(self, kind: str, name: str, about: str, head: str = "", tail: str = "", type_: str = "", method: str = "",
             value: Optional[float] = None) -> None:
        self._checked_name(name)
        self._lists.setdefault(kind, []).append(_Row(name, value, head, about or name, tail, type_, method))

    def _define(self, kind: str, name: str, value: Any, unit: str) -> "sympy.Symbol":
        import sympy

        symbol = sympy.Symbol(name, real=True)
        self._kinds[symbol], self._defined[symbol], self._units[symbol] = kind, value, unit
        return symbol

    def _quantity(self, kind: str, name: str, value: float, unit: str, about: str) -> "sympy.Symbol":
        import sympy

        if not math.isfinite(float(value)):
            raise ModelError(f"{self.name}: {name} = {value}: must be a finite number")
        self._row(kind, name, about, f"{quoted(unit)}, ", value=float(value))
        symbol = sympy.Symbol(name, real=True)
        self._names[symbol] = f"@[{name}]"
        self._kinds[symbol], self._units[symbol] = kind, unit
        return symbol

    def _must_be(self, symbol: Any, kind: str) -> None:
        if self._kinds.get(symbol) != kind:
            raise ModelError(f"{symbol}: is no {kind} of {self.name}")

    def _changes(self, changes: Optional[Mapping]) -> dict:
        for symbol in changes or {}:
            if self._kinds.get(symbol) not in ("state", "discrete"):
                raise ModelError(f"{symbol}: is no state or discrete variable of {self.name}, which events may change")
        return {symbol: self._number(value) for symbol, value in (changes or {}).items()}

    # ---- expressions

    def _expression(self, given: Any) -> Any:
        """The argument as a SymPy expression; a text is parsed as a formula (_formula.py)."""
        import sympy

        try:
            made = parsed(given, {symbol.name: symbol for symbol in (*self._names, *self._defined) if symbol not in self._sides}) \
                if isinstance(given, str) else sympy.sympify(given, strict=True)
        except sympy.SympifyError:
            raise ModelError(f"{given!r}: must be an expression of SymPy, a number, or a formula in text") from None
        for one in made.atoms(sympy.Piecewise):
            if one.args[-1].cond != True:  # noqa: E712
                raise ModelError(f"{one}: a Piecewise needs a last branch for all else: (value, True)")
        return made

    def _number(self, given: Any) -> Any:
        """The same, of an expression that is no condition."""
        import sympy

        made = self._expression(given)
        if not isinstance(made, sympy.Expr):
            raise ModelError(f"{self.name}: {made} is a condition, where a number must be: write Piecewise((1, {made}), (0, True))")
        return made

    def _side(self, level: Any, strict: bool, about: str) -> Any:
        """Is `level` positive (or zero, unless `strict`)? The answer is the side of a guard, held within a step and changed at an event."""
        import sympy

        level = -level if strict else level  # at.above is g >= 0: of a > b the opposite is b - a >= 0
        if level not in self._levels:
            side = sympy.Symbol(f"above condition {len(self._levels) + 1}")
            self._levels[level] = side
            self._sides[side] = (level, about)
        return sympy.Not(self._levels[level]) if strict else self._levels[level]

    def _held(self, expression: Any) -> Any:
        """The expression with the side of a guard instead of each condition that may change within a step."""
        from sympy.core.relational import Relational, StrictGreaterThan, StrictLessThan

        def varies(symbol: Any) -> bool:
            return symbol == self.t or self._kinds.get(symbol) in ("state", "table", "delayed")

        def held(condition: Any) -> Any:
            if not any(varies(s) for s in condition.free_symbols):
                return condition
            if condition.rel_op not in ("<", "<=", ">", ">="):
                raise ModelError(f"{self.name}: {condition}: a quantity that varies is equal to another at single points alone: write "
                                 "<, <=, > or >=, or make an event of it")
            return self._side(condition.gts - condition.lts, isinstance(condition, (StrictGreaterThan, StrictLessThan)), str(condition))

        return expression.replace(lambda e: isinstance(e, Relational), held)

    def _name_sides(self, expressions: Any) -> "dict[Any, str]":
        """Names the guards of conditions in these expressions, and in the levels of these guards in turn."""
        taken = self._taken
        found: dict[Any, str] = {}

        def sides_in(e: Any) -> list:
            return [side for side in self._sides if side in e.free_symbols]

        left = [side for e in expressions for side in sides_in(e)]
        while left:
            side = left.pop(0)
            if side in found:
                continue
            name = self._free(f"condition_{len(found) + 1}", taken)
            taken.add(name)
            found[side] = name
            left += sides_in(self._sides[side][0])
        self._names.update({side: f"@.above({name})" for side, name in found.items()})
        return found

    # ---- the header, part by part

    def _printer(self, at: str) -> Any:
        return printer(at, self._names)

    def _code(self, at: str, expression: Any, parts: "tuple[Any, ...]" = ()) -> str:
        """An expression as code; `parts` are variables defined before it."""
        e = self._expression(expression)
        unknown = [s for s in e.free_symbols if s not in self._names and s not in parts]
        if unknown:
            raise ModelError(f"{e}: {unknown[0]} is no state, parameter, table or discrete variable of {self.name}; "
                             f"{_core.suggest(unknown[0].name, [s.name for s in self._names])}")
        return self._printer(at).doprint(e)

    def _function(self, name: str, arguments: str, assigned: Mapping[str, Any]) -> str:
        """A function that assigns expressions and computes common subexpressions once."""
        import sympy

        if not assigned:
            return ""
        for e in assigned.values():
            for symbol in self._of_events.keys() & getattr(e, "free_symbols", set()):
                raise ModelError(f"{symbol}: random numbers and what an event carries are known at events alone, not in {name}")
        shared, left = sympy.cse(list(assigned.values()), (s for s in sympy.numbered_symbols("part_") if s.name not in self._taken))
        parts = tuple(symbol for symbol, _ in shared)
        lines = [f"    const auto {symbol} = {self._code('at', e, parts)};\n" for symbol, e in shared]
        lines += [f"    {to} = {self._code('at', e, parts)};\n" for to, e in zip(assigned, left)]
        return f"  static void {name}({arguments}) {{\n{''.join(lines)}  }}\n"

    def _start(self, more: str = "") -> str:
        """The function `initial`; `more` are further lines of it."""
        for state, e in self._initial.items():
            for one in e.free_symbols:
                if self._kinds.get(one) in ("state", "delayed"):
                    raise ModelError(f"{self.name}: {state} begins at {e}, but {one} is no parameter: write what {one} begins at")
        made = self._function("initial", "auto& at", {f"at[{s.name}]": e for s, e in self._initial.items()})
        for rule in self._begins:
            drawn = self._drawn("at", rule.expressions)
            more += f"    {{\n{drawn}{self._changed('at', rule)}    }}\n"
        if not more:
            return made
        return (made or "  static void initial(auto& at) {\n  }\n").removesuffix("  }\n") + more + "  }\n"

    def _in_events(self) -> list:
        """The expressions of events."""
        return [e for rule in (*self._rules, *self._rests) for e in rule.expressions]

    def _drawn(self, at: str, expressions: Any) -> str:
        """Draws the random numbers in expressions, each once."""
        symbols = {symbol for e in expressions for symbol in e.free_symbols if self._of_events.get(symbol, "").startswith("@")}
        return "".join(f"      const auto {symbol} = {self._of_events[symbol].replace('@', at)};\n"
                       for symbol in self._of_events if symbol in symbols)

    def _changed(self, at: str, rule: _Rule) -> str:
        """Sets and schedules what a rule says: all from the old values."""
        taken, new = {*self._taken}, {}
        for s in rule.changes:
            new[s] = self._free(f"new_{s.name}", taken)
            taken.add(new[s])
        lines = [f"      const auto {new[s]} = {self._code(at, e)};\n" for s, e in rule.changes.items()]
        lines += [f"      {at}.cancel({event});\n" for event in rule.cancel]
        lines += [f"      {at}.after({', '.join([event.name, *(self._code(at, e) for e in given)])});\n" for event, given in rule.after.items()]
        return "".join([*lines, *(f"      {at}[{s.name}] = {new[s]};\n" for s in rule.changes)])

    def _times(self) -> str:
        if not self._schedule:
            return ""
        lines = [f"    when.{how}({', '.join([name, *(self._code('at', e) for e in args)])});\n"
                 for name, how, args in self._schedule]
        return f"  static void time_events(const auto& at, auto& when) {{\n{''.join(lines)}  }}\n"

    def _events(self, name: str, rules: "list[_Rule]") -> str:
        text = "".join(self._block(rule) for rule in rules)
        return f"  static void {name}(auto& now) {{\n{text}  }}\n" if text else ""

    def _block(self, rule: _Rule) -> str:
        """The code of one rule. A scheduled time event may be due several times at once."""
        lines = [self._changed("now", rule)]
        if rule.stop is not None and rule.stop is not False:
            lines.append("      now.stop();\n" if rule.stop is True else f"      if ({self._code('now', rule.stop)}) now.stop();\n")
        drawn, when = self._drawn("now", rule.expressions), "" if rule.when is None else self._code("now", rule.when)
        scheduled = rule.event in self._carries
        of = rule.event if isinstance(rule.event, tuple) else () if rule.event is None or scheduled else (rule.event,)
        due = " || ".join(f"now.due({event})" for event in of)
        inner = drawn + (f"      if ({when}) {{\n{''.join(lines)}      }}\n" if when and (drawn or scheduled) else "".join(lines))
        if scheduled:
            reads = any(self._of_events.get(s) == rule.event.name for e in rule.expressions for s in e.free_symbols)
            return f"    now.each_due({rule.event}, [&](const auto&{' due_item' if reads else ''}) {{\n{inner}    }});\n"
        conditions = ([f"({due})" if len(of) > 1 else due] if of else []) + ([when] if when and not drawn else [])
        return (f"    if ({' && '.join(conditions)}) {{\n" if conditions else "    {\n") + inner + "    }\n"
