#!/usr/bin/env python3
"""Includes only go down the layers of kernels/ and of host/, never in a circle, and every file orders its includes in the same way.
Modules of the Python package import each other in no circle either.

    tests/includes.py [ROOT]

Each layer may include itself and those before it in the lists below. A header and the source of the same name count as one file
in the search for circles: two sources that include each other's headers form a circle, too.

The order is that of groups: a source's own header, the system's and the standard library's, third-party ones, the project's.
"""
import ast
import re
import sys
from pathlib import Path

KERNELS = ["number", "abi", "linear", "model", "form", "method", "engine", "event", "sail land chunk", "run"]
HOST = ["base", "spec", "structure", "compile", "ensemble", "backend", "result", "study", "bench", "face", "cli"]

# Pairs outside the order of layers: neither of the two may include the other.
APART = [("linear", "abi"), ("method", "form"), ("saltus", "form")]

# The only layers of kernels/ that see the statistics, and everything that the statistics see.
STATISTICS_USES = ["number", "abi"]
STATISTICS_USED_BY = ["statistics", "run"]

# The parts of kernels/ that a host may use: the interface, numbers, lists without numerics, and the cost of a step.
HOST_MAY_USE = ["abi/", "number/", "statistics/statistics.hpp", "statistics/device_statistics.hpp", "method/list.hpp", "method/operations.hpp",
                "linear/factorised.hpp"]

# Third-party headers without a folder of their own, and folders of system headers.
THIRD_PARTY = {"cuda.h", "hdf5.h", "mpi.h", "netcdf.h", "nvrtc.h", "xxhash.h"}
SYSTEM_FOLDERS = {"linux", "sys"}
GROUPS = ["its own header", "the system's", "third-party", "the project's"]

SUFFIXES = (".hpp", ".cpp", ".cuh", ".h", ".cu", ".def")
TEXT = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)  # models written in tests
GENERATED = {"commit.hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def floor_of(file):
    """The house and layer of a file: ("kernels", "number") for "kernels/number/pack.hpp", ("kernels", "sail") for "kernels/sail.hpp"."""
    house, *rest = file.split("/")
    return house, rest[0] if len(rest) > 1 else Path(rest[0]).stem


def rank(floors, floor):
    """The number of a layer in its list, or None for names outside the list."""
    return next((i for i, names in enumerate(floors) if floor in names.split()), None)


def why_not(source, target):
    """The sentence that forbids source to include target, or None."""
    (from_house, below), (to_house, above) = floor_of(source), floor_of(target)
    if from_house == "kernels" and to_house == "host":
        return "kernels/ knows nothing of host/"
    if from_house == "host" and to_house == "kernels":
        name = target.removeprefix("kernels/")
        allowed = any(name == entry or entry.endswith("/") and name.startswith(entry) for entry in HOST_MAY_USE)
        return None if allowed else "host/ uses only " + ", ".join(HOST_MAY_USE) + " of kernels/"
    if below == above:
        return None
    if (below, above) in APART or (above, below) in APART:
        return f"{below} and {above} know nothing of each other"
    if from_house == "kernels" and below == "statistics":
        return None if above in STATISTICS_USES else "statistics/ uses only " + ", ".join(STATISTICS_USES)
    if from_house == "kernels" and above == "statistics":
        return None if below in STATISTICS_USED_BY else "only " + ", ".join(STATISTICS_USED_BY) + " use statistics/"
    floors = KERNELS if from_house == "kernels" else HOST
    low, high = rank(floors, below), rank(floors, above)
    if below == "saltus":  # the header for authors of models
        low = rank(floors, "model")
    if low is None or high is None:
        return f"no floor of the list: {above if low is not None else below}"
    return None if high <= low else f"{below} is a floor below {above}"


def arrows_of(root):
    """All includes between files of kernels/ and host/, and complaints about includes that lead nowhere or outside."""
    files = sorted(str(path.relative_to(root)) for house in ("kernels", "host")
                   for path in (root / house).rglob("*") if path.suffix in SUFFIXES)
    there, arrows, complaints = set(files), [], []
    for file in files:
        for bracket, name in INCLUDE.findall((root / file).read_text()):
            if bracket == "<":
                if file.startswith("kernels/"):
                    complaints.append(f"{file} includes <{name}>: kernels/ includes nothing from outside")
                continue
            candidates = [str(Path(file).parent / name), f"kernels/{name}", f"host/{name}"]
            target = next((path for path in candidates if path in there), None)
            if target is not None:
                arrows.append((file, target))
            elif name not in GENERATED:
                complaints.append(f'{file} includes "{name}", which is in neither kernels/ nor host/')
    return arrows, complaints


def imports_of(root):
    """All imports between modules of the Python package, those within functions and for types included."""
    modules = {path.stem: str(path.relative_to(root)) for path in (root / "python/src/saltus").glob("*.py")}
    arrows = []
    for file in sorted(modules.values()):
        names = []
        for node in ast.walk(ast.parse((root / file).read_text())):
            if isinstance(node, ast.ImportFrom) and (node.level == 1 or node.module == "saltus"):
                names += [node.module] if node.level and node.module else [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("saltus."):
                names.append(node.module)
            elif isinstance(node, ast.Import):
                names += [alias.name for alias in node.names if alias.name.partition(".")[0] == "saltus"]
        for name in names:
            name = name.removeprefix("saltus.").partition(".")[0]
            if name != "_core":  # the extension
                arrows.append((file, modules.get(name, modules["__init__"])))
    return arrows


def circles_of(arrows):
    """Circles between files, each as a list of names that ends with its first one."""
    graph = {}
    for source, target in arrows:
        source, target = (str(Path(file).with_suffix("")) for file in (source, target))
        graph.setdefault(source, set())
        if source != target:
            graph[source].add(target)
    done, path, circles = set(), [], []

    def visit(file):
        if file in path:
            circles.append(path[path.index(file):] + [file])
        elif file not in done:
            path.append(file)
            for target in sorted(graph.get(file, ())):
                visit(target)
            path.pop()
            done.add(file)

    for file in sorted(graph):
        visit(file)
    return circles


def borders_of(root):
    """Complaints about the common parts of tests and benchmarks: these lie in testing/, so bench/ includes nothing of tests/."""
    complaints = []
    for folder in ("bench", "testing"):
        for path in sorted((root / folder).rglob("*")) if (root / folder).is_dir() else []:
            if path.suffix not in SUFFIXES:
                continue
            for bracket, name in INCLUDE.findall(path.read_text()):
                near = (path.parent / name).resolve().is_relative_to((root / "tests").resolve())
                beside = [path.parent / name, root / "testing" / name, root / "bench" / name]
                if bracket == '"' and (near or (root / "tests" / name).exists() and not any(p.exists() for p in beside)):
                    complaints.append(f'{path.relative_to(root)} includes "{name}" of tests/: what both use lies in testing/')
    return complaints


def bindings_of(root):
    """Complaints about the Python package: it uses the public interface alone, as any program does, and nothing uses it."""
    complaints = []
    for path in sorted((root / "python").rglob("*")) if (root / "python").is_dir() else []:
        if path.suffix not in SUFFIXES:
            continue
        for bracket, name in INCLUDE.findall(path.read_text()):
            inside = any((root / house / name).exists() for house in ("kernels", "host"))
            if inside or bracket == '"' and not (path.parent / name).exists():
                complaints.append(f"{path.relative_to(root)} includes {name}: python/ uses include/ alone")
    return complaints


def group_of(file, bracket, name):
    """The number in GROUPS of a file that `file` includes."""
    if bracket == '"' or name == "saltus.hpp":
        return 0 if file.endswith(".cpp") and file.removesuffix(".cpp").endswith(name.removesuffix(".hpp")) else 3
    folder = name.partition("/")[0] if "/" in name else None
    return 2 if name in THIRD_PARTY or folder and folder not in SYSTEM_FOLDERS else 1


def order_of(root):
    """Complaints about files whose groups of includes are not in order; conditional includes have a separate order."""
    complaints = []
    for folder in ("kernels", "host", "python", "problems", "testing", "tests", "bench"):
        for path in sorted((root / folder).rglob("*")) if (root / folder).is_dir() else []:
            if path.suffix not in SUFFIXES:
                continue
            file, last = str(path.relative_to(root)), 0
            for line in TEXT.sub("", path.read_text()).splitlines():
                if re.match(r"\s*#\s*(if|el|endif)", line):
                    last = 0
                elif found := INCLUDE.match(line):
                    group = group_of(file, *found.groups())
                    if group < last:
                        complaints.append(f"{file} includes {found[2]} behind {GROUPS[last]}: {GROUPS[group]} come before")
                        break
                    last = group
    return complaints


def complaints_of(root):
    """All complaints about the sources under `root`."""
    arrows, complaints = arrows_of(root)
    complaints += [f"{source} includes {target}: {why}" for source, target in sorted(set(arrows))
                   if (why := why_not(source, target))]
    complaints += ["a circle: " + " -> ".join(circle) for circle in circles_of(arrows + imports_of(root))]
    return complaints + borders_of(root) + bindings_of(root) + order_of(root)


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    complaints = complaints_of(root)
    print("\n".join(complaints) if complaints else "includes: all arrows go down, all groups are in order")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
