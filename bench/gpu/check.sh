#!/usr/bin/env bash
# On a machine with a CUDA device and the CUDA toolkit, Debian 12 or Ubuntu 24.04: builds saltus with its plug-in, checks
# that the device gives the bits of the CPU for every problem, and runs one sweep on both.
#
#     bench/gpu/check.sh [count of the sweep, 100000 by default]
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/../../scripts/setup.sh"

need "${packages[@]}"
build cuda
build/cuda/saltus doctor
if build/cuda/saltus doctor | grep -q '^cuda *none'; then exit 5; fi

say "comparing the device with the CPU, bit by bit"
ctest --preset cuda -R '^test_(nvrtc|cuda_.*)$'

for backend in cpu cuda; do
  say "${1:-100000} relief valves with --backend $backend"
  build/cuda/saltus run relief_valve --backend "$backend" --set 't=[0.0,40.0]' --set rtol=1e-10 --set atol=1e-10 \
    --set run.allowed_failed=0.05 --set "sweep.flow={from=0.2,to=10.0,count=${1:-100000}}" -o "build/cuda/relief_valve_$backend.nc" --force --json
done
