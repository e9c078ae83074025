# Queries of bench/gpu/run.sh to a machine with a device, and the interpretation of the answers; sourced.
# shellcheck shell=bash disable=SC2154  # the sourcing script sets $folder

default_architecture=sm_90

# ask_device WHAT FORMAT: fails if nvidia-smi fails, for example with a driver of another version. No measurement needs the
# answer.
ask_device() { command -v nvidia-smi >/dev/null && timeout 20 nvidia-smi "--query-gpu=$1" "--format=$2" 2>&1; }

# The architecture of the first device, or the default if it is unknown; then the answer is in nvidia-smi.log.
architecture_of_device() {
  local capability
  capability=$(ask_device compute_cap csv,noheader || true)
  if [[ $capability =~ ^([0-9]+)\.([0-9]) ]]; then
    echo "sm_${BASH_REMATCH[1]}${BASH_REMATCH[2]}"
  else
    echo "${capability:-there is no nvidia-smi}" > "$folder/raw/nvidia-smi.log"
    echo "$default_architecture"
  fi
}

# verdict CODE LOG SECONDS: result of the comparison of device and CPU, by its exit code, its output, and its time limit.
# Only a test that has compared and found a difference says something about bits; a timeout or a crash does not.
verdict() {
  local passed
  passed=$(grep -c '^\[ *OK \]' "$2" || true)
  if [ "$1" = 0 ] && [ "$passed" -gt 0 ]; then
    echo "passed: $passed tests of tests/test_cuda_device.cpp (two chunks at once, 500,000 relief valves)"
  elif [ "$1" = 0 ]; then
    echo "**not run**: $(grep -m 1 'no CUDA device' "$2" || echo 'every test was skipped')"
  elif grep -q 'differences(' "$2"; then
    echo "**failed**, other bits: $(grep -m 3 -E 'Failure|Which is' "$2" | tr '\n' ' ')"
  elif [ "$1" = 124 ] || [ "$1" = 137 ]; then
    echo "**not ended** in $3 s, $passed tests passed before: nothing is known of the bits of the others"
  else
    echo "**failed** with exit code $1: $(grep -m 3 -E 'Failure|terminate|what|CUDA' "$2" | tr '\n' ' ' || true)"
  fi
}
