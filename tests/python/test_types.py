"""What type checkers and completions are told is what is there."""

import ast
import inspect
from pathlib import Path

import pytest

import saltus
from saltus import _accessor, _core, _plot

PACKAGE = Path(_core.__file__).parent


def test_the_stub_of_the_extension_is_made_of_it():
    stub = PACKAGE / "_core.pyi"
    if not stub.exists():
        pytest.skip("the stub is not built: target _core_stub")
    names = {node.name for node in ast.parse(stub.read_text()).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert names == {name for name in dir(_core) if not name.startswith("_")}
    assert (Path(saltus.__file__).parent / "py.typed").exists()


PUBLIC = [getattr(saltus, name) for name in saltus.__all__] + [_accessor.Accessor, _plot.Plot]
FUNCTIONS = [f for f in PUBLIC if inspect.isfunction(f)] + \
    [f for c in PUBLIC if inspect.isclass(c) for name, f in vars(c).items() if inspect.isfunction(f) and not name.startswith("_")]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__qualname__)
def test_public_functions_say_what_they_take_and_return(function):
    signature = inspect.signature(function)
    assert function.__doc__, "no docstring"
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values() if p.name != "self")
