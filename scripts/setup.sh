# scripts/demo and scripts/test source this file. It goes to the root of the repository, installs missing packages on
# Debian 12 or Ubuntu 24.04, and builds.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Packages for building. A run needs a compiler, too: saltus compiles a model on first use.
packages=(g++ ccache cmake ninja-build pkgconf libboost-dev libcli11-dev libeigen3-dev libfmt-dev libgtest-dev libnetcdf-dev librandom123-dev
          libtbb-dev libtomlplusplus-dev libxxhash-dev nlohmann-json3-dev)

# Packages from PyPI for building and testing the Python package, in an environment of its own.
python_packages=(nanobind numpy xarray pandas sympy scipy matplotlib tqdm netCDF4 python-libsbml dask distributed zarr pytest mypy)

say() { printf '\n== %s\n' "$*"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# need PACKAGE...: installs missing packages; if none is missing it neither asks for root nor uses the network.
need() {
  local package missing=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "This machine has no apt-get. Install what these Debian packages hold, then use CMakePresets.json: $*" >&2
    return 1
  fi
  say "installing ${missing[*]}"
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# build PRESET [TARGET [OPTION...]]: in build/PRESET, with further options for cmake; an empty TARGET is everything. Warnings in
# host/, and of shadowing and conversion in tests and benchmarks, are errors if SALTUS_WARNINGS_ARE_ERRORS is ON.
build() {
  say "building ${2:-everything} in build/$1"
  cmake --preset "$1" --log-level=WARNING "-DSALTUS_WARNINGS_ARE_ERRORS=${SALTUS_WARNINGS_ARE_ERRORS:-OFF}" "${@:3}"
  cmake --build --preset "$1" --parallel "$(nproc)" ${2:+--target "$2"}
}

# python_environment: sets python_options, so that build includes the Python package, and makes build/venv with its packages if it
# does not exist. SALTUS_PYTHON=OFF leaves Python out; unless it is ON, so does a machine without PyPI.
python_environment() {
  python_options=(-DSALTUS_PYTHON=OFF)
  [ "${SALTUS_PYTHON:-}" != OFF ] || return 0
  local list="${python_packages[*]}"
  if [ "$(cat build/venv/packages 2>/dev/null)" != "$list" ]; then
    say "installing $list in build/venv"
    if ! { python3 -m venv build/venv && build/venv/bin/pip install --no-compile --quiet --disable-pip-version-check "${python_packages[@]}"; }; then
      echo "pip could not install in build/venv what the Python package is built and tested with: $list" >&2
      [ "${SALTUS_PYTHON:-}" != ON ] || return 1
      say "WITHOUT the Python package, and its tests"
      return 0
    fi
    echo "$list" > build/venv/packages
  fi
  python_options=(-DSALTUS_PYTHON=ON "-DPython_EXECUTABLE=$PWD/build/venv/bin/python")
}
