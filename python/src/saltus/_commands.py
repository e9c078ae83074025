"""`saltus plot`, `saltus report` and `saltus import`: pictures and a page of a result file, and models of SBML, from the command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Optional

from . import _core
from ._errors import Error, SpecError
from ._plot import Plot
from ._report import page
from ._style import pyplot


class Kind(NamedTuple):
    """A kind of picture: the names that it takes, its options, and a description."""

    names: str
    options: tuple[str, ...]
    about: str


#: Every method of `ds.saltus.plot`, in the order of the help.
KINDS = {
    "trajectories": Kind("[NAME ...]", ("instances",), "states and outputs over time, events marked"),
    "phase": Kind("X Y", ("instances",), "phase plane"),
    "raster": Kind("", (), "every event by time, instance and guard"),
    "outcome": Kind("NAME", ("over",), "a number of each instance over one or two inputs: line or heat map"),
    "bands": Kind("[NAME ...]", ("by",), "median and 5..95 % of the instances over time"),
    "histogram": Kind("[NAME]", ("bins",), "how often an outcome has which value"),
    "sobol": Kind("[OUTCOME ...]", (), "indices of first and total order"),
    "morris": Kind("[OUTCOME ...]", (), "mean size and deviation of effects"),
    "tornado": Kind("[OUTCOME]", (), "inputs by how much they matter"),
    "bifurcation": Kind("STATE", ("guard", "over", "last", "before"), "a state at the last events of a guard over an input"),
    "section": Kind("X Y", ("guard", "instances", "skip", "before"), "Poincare section: two states at the events of a guard"),
}


def opened(path: str) -> Any:
    """The dataset in a file. Raises Error if there is none."""
    import xarray as xr

    _core.must_be_read_here(path)
    if not Path(path).is_file():
        raise SpecError(f"{path}: no such file")
    try:
        ds = xr.open_dataset(path)
    except (OSError, ValueError) as e:
        if not any(_has(engine) for engine in ("netCDF4", "h5netcdf")):
            raise Error("reading a result file needs netCDF4: pip install netCDF4") from None
        raise SpecError(f"{path}: is no NetCDF file that xarray can read ({str(e).splitlines()[0]})") from None
    if "model_hash" not in ds.attrs:
        raise SpecError(f"{path}: is no result of saltus: it does not say what model it is of")
    return ds


def _has(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


def first_that_fits(ds: Any) -> str:
    """The kind of picture that shows most of the file."""
    for kind, needs in (("sobol", "sensitivity_first_order"), ("morris", "sensitivity_mu_star")):
        if needs in ds.variables:
            return kind
    sampled = any(v.attrs.get("role") == "sample" for v in ds.variables.values())
    if "status" not in ds.variables and "quantile" in ds.variables:
        return "bands"
    if sampled:
        return "trajectories" if ds["status"].size <= 6 or "time" not in ds else "bands"
    return "raster" if "event_time" in ds else "histogram"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise SpecError(f"{message}\n{self.prog} --help tells more")


def _parser_of_plot() -> argparse.ArgumentParser:
    rows = "\n".join(f"  {kind + ' ' + one.names:<24} {one.about}" for kind, one in KINDS.items())
    parser = _Parser("saltus plot", formatter_class=argparse.RawDescriptionHelpFormatter,
                     usage="saltus plot FILE.nc [KIND [NAME ...]] [OPTIONS]", description="A picture of a result file.",
                     epilog=f"kinds of pictures:\n{rows}\n\nsaltus plot valve.nc phase lift velocity --instances 0,7 -o phase.svg")
    parser.add_argument("file", help="a result file")
    parser.add_argument("kind", nargs="?", help="what to draw; default: what fits the file")
    parser.add_argument("names", nargs="*", metavar="NAME", help="states, outputs or outcomes")
    parser.add_argument("-o", "--output", metavar="PICTURE", help="file to write: png, svg, pdf; default: FILE_KIND.png")
    parser.add_argument("--instances", metavar="I,J", help="these alone")
    parser.add_argument("--over", metavar="P[,Q]", help="inputs to draw over")
    parser.add_argument("--by", metavar="P", help="a band for each value of this input")
    parser.add_argument("--guard", metavar="NAME", help="events of this guard alone")
    parser.add_argument("--last", metavar="N", type=int, help="this many events of each instance")
    parser.add_argument("--skip", metavar="N", type=int, help="not the first N events of each instance")
    parser.add_argument("--before", action="store_true", default=None, help="states before the event, not after it")
    parser.add_argument("--bins", metavar="N", type=int, help="of a histogram")
    return parser


def _call(kind: str, names: Sequence[str], given: "dict[str, Any]") -> "tuple[list[Any], dict[str, Any]]":
    """Arguments of the method that draws the picture."""
    wanted = KINDS[kind].names
    least = len([one for one in wanted.split() if one.isupper() and not one.startswith("[")])
    most = 1000 if "..." in wanted else len(wanted.split())
    if not least <= len(names) <= most:
        raise SpecError(f"saltus plot FILE.nc {kind} {wanted}: takes {'no names' if most == 0 else 'these names'}, and was given "
                        f"{' '.join(names) or 'none'}")
    options = {key: value for key, value in given.items() if value is not None}
    for key in options:
        if key not in KINDS[kind].options:
            allowed = ", ".join(f"--{one}" for one in KINDS[kind].options) or "none"
            raise SpecError(f"--{key}: is no option of {kind}; allowed: {allowed}")
    if "instances" in options:
        try:
            options["instances"] = [int(one) for one in options["instances"].split(",")]
        except ValueError:
            raise SpecError(f"--instances {options['instances']}: must be numbers of instances, such as 0,7") from None
    if "over" in options:
        options["over"] = options["over"].split(",")
    return ([list(names)] if "..." in wanted else list(names)), options


def plot(arguments: Sequence[str]) -> int:
    """saltus plot: writes one picture, and prints its path."""
    given = vars(_parser_of_plot().parse_args(arguments))
    file, kind, names, output = (given.pop(key) for key in ("file", "kind", "names", "output"))
    if kind is not None and kind not in KINDS:
        raise SpecError(f"{kind}: unknown kind of picture; {_core.suggest(kind, list(KINDS))}")
    _without_windows()
    with opened(file) as ds:
        kind = kind or first_that_fits(ds)
        positional, options = _call(kind, names, given)
        drawn = getattr(Plot(ds), kind)(*positional, **options)
        to = output or f"{Path(file).stem}_{kind}.png"
        _not_the_result(to, file)
        figure = drawn.figure if hasattr(drawn, "figure") else drawn[0].figure
        known = figure.canvas.get_supported_filetypes()
        if Path(to).suffix[1:] not in known:
            raise SpecError(f"-o {to}: must end with one of {', '.join('.' + one for one in known)}")
        figure.savefig(to, dpi=150)
        pyplot().close(figure)
    print(to)
    return 0


def report(arguments: Sequence[str]) -> int:
    """saltus report: writes one page, and prints its path."""
    parser = _Parser("saltus report", description="One HTML page of a result file: how its instances ended, pictures of what it has, "
                     "where to look on, and how it was made. It needs no network.")
    parser.add_argument("file", metavar="FILE.nc", help="a result file")
    parser.add_argument("-o", "--output", metavar="FILE.html", help="page to write; default: FILE.html")
    given = parser.parse_args(arguments)
    to = given.output or f"{Path(given.file).stem}.html"
    if Path(to).suffix.lower() not in (".html", ".htm"):
        raise SpecError(f"-o {to}: must end with .html")
    _without_windows()
    with opened(given.file) as ds:
        text = page(ds, given.file)
    Path(to).write_text(text, encoding="utf-8")
    print(to)
    return 0


def import_(arguments: Sequence[str]) -> int:
    """saltus import: writes the header of a model in SBML, and prints its path. Overwrites nothing."""
    from ._sbml import sbml

    parser = _Parser("saltus import", description="The header of a model from a reaction network in SBML, with its rules and events. "
                     "What a model cannot have, such as a delay, is refused by its name.")
    parser.add_argument("file", metavar="NET.xml", help="an SBML file")
    parser.add_argument("-o", "--output", metavar="MODEL.hpp", help="header to write; default: NET.hpp")
    given = parser.parse_args(arguments)
    to = Path(given.output or f"{Path(given.file).stem}.hpp")
    if to.suffix != ".hpp" or not to.stem.isidentifier():
        raise SpecError(f"-o {to}: must end with .hpp, after a name that a struct may have")
    if to.exists():
        raise SpecError(f"{to}: is there already, and is left as it is: -o MODEL.hpp writes another")
    text = sbml(given.file, to.stem).source
    to.write_text(text, encoding="utf-8")
    print(to)
    return 0


def _not_the_result(to: str, file: str) -> None:
    if Path(to).exists() and os.path.samefile(to, file):
        raise SpecError(f"-o {to}: is the result itself")


def _without_windows() -> None:
    """Draws into files, without windows."""
    pyplot().switch_backend("agg")


#: Commands in Python, by name; the program itself has all others.
COMMANDS = {"plot": plot, "report": report, "import": import_}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The exit code of `saltus plot ...` and the other commands that are in Python."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return COMMANDS[arguments[0]](arguments[1:])
    except Error as e:
        print(f"saltus {arguments[0]}: {e}", file=sys.stderr)
        return e.exit_code
    except OSError as e:
        print(f"saltus {arguments[0]}: {e.filename}: {e.strerror}", file=sys.stderr)
        return 1
