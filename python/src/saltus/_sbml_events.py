"""The events of an SBML network with delays, priorities, or triggers that are true at the start, as code of a model.

An event is triggered where its trigger becomes true. It is executed after its delay; of the events that are due at one time, the one of
the highest priority comes first, and after each one the triggers are looked at again (SBML Level 3 Version 2, 4.11).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Optional

from ._symbolic import Symbolic, printer

CAPACITY = 16  # executions of one event under way; more end an instance as queue_full
MOST_CARRIED = 8  # numbers that an execution under way carries
MOST_ROUNDS = 1000  # executions at one time


class Event(NamedTuple):
    """An event. Expressions are SymPy's; conditions are made of the sides of guards."""

    name: str
    about: str
    trigger: Any
    assigned: "dict[Any, Any]"
    delay: Any  #: None: at once
    priority: Any  #: None: after the events that have one
    persistent: bool  #: whether it is executed although its trigger has become false meanwhile
    keeps_values: bool  #: whether the values assigned are those of the time of the trigger
    true_before: bool  #: whether its trigger counts as true before the start
    at_start: Any  #: the trigger at the start, of parameters and initial values

    @property
    def waits(self) -> bool:
        return self.delay is not None or not self.true_before

    @property
    def carried(self) -> int:
        return len(self.assigned) if self.keeps_values else 0


class EventModel(Symbolic):
    """A Symbolic whose transition executes the events of SBML."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self._queued: list[Event] = []
        self._triggered: dict[str, Any] = {}  # by event: the discrete variable that says whether its trigger was true
        self._evaluated: Any = None  # the discrete variable with the time of the last transition
        self._own: dict[str, str] = {}  # names of local variables

    def queue(self, events: Iterable[Event]) -> None:
        """All events of the model."""
        self._queued = list(events)
        self._evaluated = self.discrete(self._unused("evaluated"), 0.0, "", "time at which triggers were last looked at")
        for event in self._queued:
            self._triggered[event.name] = self.discrete(self._unused(f"triggered_{event.name}"), 0.0, "1",
                                                        f"1 while the trigger of {event.name} is true")
            if event.waits:
                self.scheduled(event.name, CAPACITY, event.carried, event.about)

    # ---- names

    def _unused(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        return name

    def _local(self, name: str) -> str:
        """A local variable of the transition."""
        if name not in self._own:
            made = self._unused(name)
            while made in self._own.values():
                made += "_"
            self._own[name] = made
        return self._own[name]

    def _now(self, expression: Any) -> str:
        """An expression in the transition, where the sides of guards are local variables."""
        names: Mapping[Any, str] = {**self._names, **{side: self._local(f"is_{name}") for side, name in self._used.items()}}
        return printer("now", names).doprint(self._expression(expression))

    # ---- the header

    def _in_events(self) -> list:
        mine = [e for event in self._queued for e in (event.trigger, event.delay, event.priority, *event.assigned.values())]
        return [*super()._in_events(), *(e for e in mine if hasattr(e, "free_symbols"))]

    def _name_sides(self, expressions: Any) -> "dict[Any, str]":
        self._used = super()._name_sides(expressions)
        return self._used

    def _start(self, more: str = "") -> str:
        import sympy

        lines = []
        for event in self._queued:
            lines.append(f"    at[{self._triggered[event.name]}] = {self._code('at', sympy.Piecewise((1, event.at_start), (0, True)))};\n")
            if not event.true_before:
                delay = sympy.Piecewise((event.delay if event.delay is not None else 0, event.at_start), (sympy.Float(1e30), True))
                values = event.assigned.values() if event.keeps_values else ()
                lines.append(f"    at.after({', '.join([event.name, *(self._code('at', e) for e in (delay, *values))])});\n")
        return super()._start("".join(lines))

    def _events(self, name: str, rules: list) -> str:
        if name != "transition":
            return super()._events(name, rules)
        return self._queued_transition() if self._queued else self._simple_transition(rules)

    def _simple_transition(self, rules: list) -> str:
        """All events that are due at one time use the values before them."""
        if not rules:
            return ""
        made, changes = [], []
        for k, (event, assigned, *_) in enumerate(rules):
            made += [f"    const auto {self._local(f'new_{k}_{s.name}')} = {self._code('now', e)};\n" for s, e in assigned.items()]
            changes.append(f"    if (now.due({event})) {{\n"
                           + "".join(f"      now[{s.name}] = {self._local(f'new_{k}_{s.name}')};\n" for s in assigned) + "    }\n")
        return f"  static void transition(auto& now) {{\n{''.join(made)}{''.join(changes)}  }}\n"

    def _queued_transition(self) -> str:
        sides = {self._local(f"is_{name}"): (name, self._sides[side][0]) for side, name in self._used.items()}
        real, level, before, due = (self._local(name) for name in ("real", "level", "levels_before", "next_due"))
        flip = "".join(f"      {is_on} = {is_on} != now.due({name});\n" for is_on, (name, _) in sides.items())
        parts = [f"    using {real} = decltype(now.t + 0.0);\n"]
        parts += [f"    bool {is_on} = now.above({name});\n" for is_on, (name, _) in sides.items()]
        parts += [f"    const auto {self._trigger(e)} = [&] {{ return bool({self._now(e.trigger)}); }};\n" for e in self._queued]
        parts.append(f"    if (now[{self._evaluated}] != now.t) {{  // triggers before this time\n{flip}"
                     + "".join(f"      if (!{self._trigger(e)}()) now[{self._triggered[e.name]}] = 0.0;\n" for e in self._queued)
                     + f"{flip}      now[{self._evaluated}] = now.t;\n    }}\n")
        parts += [self._begin(e) for e in self._queued]
        parts.append(f"    for (int {self._local('round')} = 0;; ++{self._local('round')}) {{\n")
        parts += [self._look(e) for e in self._queued]
        parts.append(f"      int {due} = -1;\n      {real} {self._local('highest')} = 0.0;\n")
        parts += [self._choose(k, e, due) for k, e in enumerate(self._queued)]
        parts.append(f"      if ({due} < 0) break;\n")
        used = list(self._used)
        if used:
            parts.append(f"      const {real} {before}[] = {{"
                         + ", ".join(f"{self._now(self._sides[side][0])}" for side in used) + "};\n")
        parts += [self._execute(k, e, due) for k, e in enumerate(self._queued)]
        for k, side in enumerate(used):
            parts.append(f"      if (const {real} {level} = {self._now(self._sides[side][0])}; {level} != {before}[{k}]) "
                         f"{self._local(f'is_{self._used[side]}')} = {level} >= 0.0;\n")
        first = next(s for s, kind in self._kinds.items() if kind == "state")
        parts.append(f"      if ({self._local('round')} == {MOST_ROUNDS}) {{  // events without an end\n"
                     f"        now[{first}] = (now.t - now.t) / (now.t - now.t);\n        break;\n      }}\n    }}\n")
        return f"  static void transition(auto& now) {{\n{''.join(parts)}  }}\n"

    def _trigger(self, event: Event) -> str:
        return self._local(f"trigger_{event.name}")

    def _pending(self, event: Event) -> str:
        return self._local(f"pending_{event.name}")

    def _values(self, event: Event) -> "list[str]":
        return [self._local(f"value_{event.name}_{k}") for k in range(event.carried)]

    def _begin(self, event: Event) -> str:
        """Executions that are due now from earlier triggers."""
        pending, values = self._pending(event), self._values(event)
        real, item = self._local("real"), self._local("item")
        lines = [f"    int {pending} = 0;\n", *(f"    {real} {value} = 0.0;\n" for value in values)]
        if event.waits:
            lines.append(f"    now.each_due({event.name}, [&](const auto&{' ' + item if values else ''}) {{\n      ++{pending};\n"
                         + "".join(f"      {value} = {item}[{k}];\n" for k, value in enumerate(values)) + "    });\n")
        return "".join(lines)

    def _look(self, event: Event) -> str:
        """Looks at the trigger: has it become true, or false?"""
        pending, was, values = self._pending(event), self._triggered[event.name], self._values(event)
        is_true = self._local("is_true")
        new = [self._now(e) for e in event.assigned.values()] if event.keeps_values else []
        if event.delay is None:
            triggers = f"          ++{pending};\n" + "".join(f"          {value} = {e};\n" for value, e in zip(values, new))
        else:
            triggers = f"          now.after({', '.join([event.name, self._now(event.delay), *new])});\n"
        falls = f"        if (!{is_true}) {pending} = 0" + (f", now.cancel({event.name})" if event.waits else "") + ";\n"
        return (f"      {{\n        const bool {is_true} = {self._trigger(event)}();\n"
                f"        if ({is_true} && !now.is_on({was})) {{\n{triggers}        }}\n" + ("" if event.persistent else falls)
                + f"        now[{was}] = {is_true} ? 1.0 : 0.0;\n      }}\n")

    def _choose(self, k: int, event: Event, due: str) -> str:
        """Takes this event as the next one if it comes before those chosen so far."""
        real, highest, rank = (self._local(name) for name in ("real", "highest", "rank"))
        value = "-1e300" if event.priority is None else self._now(event.priority)
        return (f"      if (const {real} {rank} = {value}; {self._pending(event)} > 0 && ({due} < 0 || {rank} > {highest})) "
                f"{due} = {k}, {highest} = {rank};\n")

    def _execute(self, k: int, event: Event, due: str) -> str:
        values: list[str] = self._values(event)
        lines = []
        if not event.keeps_values:
            values = [self._local(f"new_{k}_{i}") for i in range(len(event.assigned))]
            lines = [f"        const auto {value} = {self._now(e)};\n" for value, e in zip(values, event.assigned.values())]
        lines += [f"        now[{s.name}] = {value};\n" for s, value in zip(event.assigned, values)]
        return f"      if ({due} == {k}) {{\n        --{self._pending(event)};\n{''.join(lines)}      }}\n"
