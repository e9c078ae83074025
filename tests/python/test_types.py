"""Types and completions declared for type checkers match the package."""

import ast
import inspect
from pathlib import Path

import pytest

import saltus
from saltus import _accessor, _core, _keywords, _plot, _settings

PACKAGE = Path(_core.__file__).parent


def test_the_stub_of_the_extension_is_made_of_it():
    stub = PACKAGE / "_core.pyi"
    if not stub.exists():
        pytest.skip("the stub is not built: target _core_stub")
    names = {node.name for node in ast.parse(stub.read_text()).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert names == {name for name in dir(_core) if not name.startswith("_")}
    assert (Path(saltus.__file__).parent / "py.typed").exists()


def test_the_extension_uses_the_public_interface_alone():
    needed = Path(_core.__file__).read_bytes()  # with the names of the versions of its symbols: cmake/exported.map
    assert b"SALTUS_0" in needed and b"SALTUS_PRIVATE" not in needed


PUBLIC = [getattr(saltus, name) for name in saltus.__all__] + [_accessor.Accessor, _plot.Plot]
FUNCTIONS = [f for f in PUBLIC if inspect.isfunction(f)] + \
    [f for c in PUBLIC if inspect.isclass(c) for name, f in vars(c).items() if inspect.isfunction(f) and not name.startswith("_")]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__qualname__)
def test_public_functions_say_what_they_take_and_return(function):
    signature = inspect.signature(function)
    assert function.__doc__, "no docstring"
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values() if p.name != "self")


def test_the_keywords_that_checkers_know_are_those_there_are():
    named = {name for name, p in inspect.signature(_keywords.run).parameters.items() if p.kind is p.KEYWORD_ONLY}
    own = {"file", "replace", "progress", "zip", "problem", "tables", "records", "settings"}
    assert named == own | _settings.KEYS.keys() | {*_settings.SECTIONS} | {*_settings.TIMES}
    for function in (saltus.Model.run, saltus.run):
        assert named < inspect.signature(function).parameters.keys()


@pytest.mark.long
def test_a_checker_finds_a_value_of_another_type(tmp_path, monkeypatch):
    api = pytest.importorskip("mypy.api")
    monkeypatch.setenv("MYPYPATH", str(PACKAGE.parent))
    (tmp_path / "runs.py").write_text("""import saltus
ball = saltus.builtin("ball")
ball.run(rtol=1e-9, t=(0, 1), samples=[0.5, 1.0], events=["impact"], restitution={"normal": [0.8, 0.05]}, count=5)
ball.run(rtol="x")
saltus.run("a.toml", max_steps=[3])
ball.run(restitution="x")
""")
    told, _, _ = api.run(["--follow-imports=silent", "--ignore-missing-imports", "--no-error-summary", "--cache-dir", str(tmp_path),
                          str(tmp_path / "runs.py")])
    found = [int(line.split(":")[1]) for line in told.splitlines() if "runs.py" in line and "error" in line]
    assert found == [4, 5, 6], told
