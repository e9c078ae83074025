"""Formulas in text, as SymPy expressions: numbers, given names, arithmetic, comparisons, and the functions of models.

Python's parser reads a text, and the tree is walked; no text is ever evaluated as Python.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _core
from ._errors import ModelError

if TYPE_CHECKING:
    import sympy

_LONGEST = 10_000  # characters: the walk recurses
_LARGEST_POWER = 64  # of whole numbers: SymPy computes it with all of its digits
_LARGEST = 1.7976931348623157e308


def bounded(made: Any) -> Any:
    """An expression with numbers in double precision. A function of numbers alone becomes its value: SymPy would use as many
    digits as necessary, without end for floor(exp(10^12)). Raises ModelError beyond double precision."""
    import sympy

    if not isinstance(made, sympy.Expr) or not made.is_number or made.is_NumberSymbol:
        return made
    if made.is_Rational:
        is_finite = max(abs(made.p), made.q) <= int(_LARGEST)
    else:
        made = made.evalf(15)
        is_finite = bool(made.is_Float and abs(made) <= _LARGEST)
    if not is_finite:
        raise ModelError(f"{str(made)[:40]}: must be a finite number of double precision")
    return made


def power(base: Any, exponent: Any) -> "sympy.Expr":
    """base^exponent. Large powers of numbers are floating-point numbers: 9^9^9 has 400 million digits."""
    import sympy

    base, exponent = bounded(sympy.sympify(base, strict=True)), bounded(sympy.sympify(exponent, strict=True))
    if base.is_Rational and exponent.is_number and abs(exponent) > _LARGEST_POWER:
        base = sympy.Float(base)
    return bounded(base ** exponent)


def _functions() -> "dict[str, Any]":
    import sympy

    one = {name: getattr(sympy, name) for name in
           "sqrt cbrt exp sin cos tan asin acos atan sinh cosh tanh sign floor atan2 log Abs Max Min ceiling Piecewise".split()}
    printed = {name: sympy.Function(name, real=True) for name in "expm1 log2 log10 hypot round copysign fma".split()}  # by their names
    compared = {name: getattr(sympy, name) for name in "Eq Ne Lt Le Gt Ge And Or Not".split()}
    return {**one, **printed, **compared, "abs": sympy.Abs, "max": sympy.Max, "min": sympy.Min, "ceil": sympy.ceiling, "pow": power,
            "ln": sympy.log, "select": lambda condition, a, b: sympy.Piecewise((a, condition), (b, True))}


def parsed(text: str, names: Mapping[str, Any]) -> Any:
    """The expression of a text over these names. Raises ModelError for a text that is no formula."""
    import sympy

    def refuse(why: str) -> ModelError:
        return ModelError(f"{text[:200]!r}: {why}")

    if len(text) > _LONGEST:
        raise refuse(f"is longer than {_LONGEST} characters")
    known: dict[str, Any] = {"pi": sympy.pi, "E": sympy.E, "true": sympy.true, "false": sympy.false, **names}
    functions = _functions()
    binary = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: power}
    relations = {ast.Lt: sympy.Lt, ast.LtE: sympy.Le, ast.Gt: sympy.Gt, ast.GtE: sympy.Ge, ast.Eq: sympy.Eq, ast.NotEq: sympy.Ne}

    def walk(node: ast.AST) -> Any:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bool):
                return sympy.true if node.value else sympy.false
            if isinstance(node.value, (int, float)):
                return bounded(sympy.Integer(node.value) if isinstance(node.value, int) else sympy.Float(node.value))
        elif isinstance(node, (ast.Name, ast.Attribute)):
            name = ast.unparse(node).replace(".", "_")  # left.current of a part is left_current
            if name not in known:
                raise refuse(f"{name} is not known here; {_core.suggest(name, list(known))}")
            return known[name]
        elif isinstance(node, ast.BinOp) and type(node.op) in binary:
            return bounded(binary[type(node.op)](walk(node.left), walk(node.right)))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            of = walk(node.operand)
            return of if isinstance(node.op, ast.UAdd) else -of
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return sympy.Not(walk(node.operand))
        elif isinstance(node, ast.BoolOp):
            return (sympy.And if isinstance(node.op, ast.And) else sympy.Or)(*map(walk, node.values))
        elif isinstance(node, ast.Compare) and all(type(one) in relations for one in node.ops):
            of = [walk(one) for one in (node.left, *node.comparators)]
            return sympy.And(*(relations[type(how)](a, b) for how, a, b in zip(node.ops, of, of[1:])))
        elif isinstance(node, ast.Tuple):  # a branch of Piecewise
            return tuple(map(walk, node.elts))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            if node.func.id not in functions:
                raise refuse(f"models have no function {node.func.id}; {_core.suggest(node.func.id, list(functions))}")
            return bounded(functions[node.func.id](*map(walk, node.args)))
        raise refuse(f"{ast.unparse(node)[:80]} is no part of a formula: numbers, names, + - * / **, comparisons, and, or, not, and "
                     "functions make one")

    try:
        return walk(ast.parse(text.strip().replace("^", "**"), mode="eval").body)
    except ModelError:
        raise
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError, OverflowError) as e:
        raise refuse(f"is no formula: {e}") from None
