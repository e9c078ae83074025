#!/usr/bin/env bash
# wheel.sh PYTHON SOURCE: installs the Python package by pip from a copy of the sources in a separate environment; after the copy is
# removed the package runs a model elsewhere, from Python and as a program. Exits with 77 if pip gets nothing from PyPI.
set -euo pipefail
python=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SALTUS_HOME PYTHONPATH
export SALTUS_CACHE=$work/cache CCACHE_BASEDIR=$work

mkdir "$work/source" "$work/elsewhere"
(cd "$source" && git ls-files -z | xargs -0 cp --parents -t "$work/source")
"$python" -m venv "$work/environment"
pip="$work/environment/bin/pip --disable-pip-version-check"
$pip download --quiet --no-deps --dest "$work/download" nanobind 2> /dev/null || { echo "no PyPI here"; exit 77; }
cd "$work/source"
CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) $pip install --verbose . > "$work/pip.log" 2>&1 || { tail -n 50 "$work/pip.log"; exit 1; }
sed -nE 's/^ *Created wheel for saltus: .* size=([0-9]+) .*/the wheel has \1 bytes/p' "$work/pip.log"
cd "$work/elsewhere"
rm -rf "$work/source"

cat > first.py <<'END'
import math
from pathlib import Path

import numpy as np
import saltus

here = Path(saltus.__file__).parent
assert here.parts[-2] == "site-packages" and (here / "py.typed").exists() and (here / "_core.pyi").exists(), here
ball = saltus.builtin("bouncing_ball")
assert ball.header.is_relative_to(here), ball.header
heights = np.array([1.0, 2.0])
ds = ball.run(t=(0, 0.3), height=heights)
np.testing.assert_allclose(ds["final_height"], heights - 9.81 / 2 * 0.3**2, rtol=1e-6)
own = Path("fall.hpp")
own.write_text(ball.source.replace("bouncing_ball", "fall"))
assert math.isclose(float(saltus.model(own).run(t=(0, 0.3))["final_height"]), 1 - 9.81 / 2 * 0.3**2, rel_tol=1e-6)
END
"$work/environment/bin/python" first.py
said=$("$work/environment/bin/saltus" run bouncing_ball --set rtol=1e-8 --json -o ball.nc)
[[ "$said" == *'"ok": 1'* || "$said" == *'"ok":1'* ]] || { echo "the program says $said"; exit 1; }
"$work/environment/bin/saltus" doctor | grep -F "home       $(realpath "$work/environment")"
