#!/usr/bin/env bash
# gpu_bench.sh SALTUS: behaviour of bench/gpu/run.sh after a failing nvidia-smi, and after an unfinished comparison, under its own
# settings; and whether the program accepts the measured cases.
set -euo pipefail
# shellcheck source=bench/gpu/device.sh
source "$(dirname "$0")/../bench/gpu/device.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/raw" "$folder/bin"
failed=0
expect() {  # what, expected (a pattern), is
  # shellcheck disable=SC2053
  if [[ $3 != $2 ]]; then echo "$1: '$3' is not '$2'"; failed=1; fi
}

# nvidia_smi CODE ANSWER: sets the exit code and output of nvidia-smi.
nvidia_smi() {
  printf '#!/bin/sh\necho "%s"\nexit %s\n' "$2" "$1" > "$folder/bin/nvidia-smi"
  chmod +x "$folder/bin/nvidia-smi"
  rm -f "$folder/raw/nvidia-smi.log"
}
PATH=$folder/bin:$PATH
nvidia_smi 0 '9.0'
expect 'a device' sm_90 "$(architecture_of_device)"
nvidia_smi 0 '12.1
9.0'
expect 'the first of two' sm_121 "$(architecture_of_device)"
[ ! -e "$folder/raw/nvidia-smi.log" ] || { echo 'an answer is not an error'; failed=1; }
nvidia_smi 18 'Failed to initialize NVML: Driver/library version mismatch'
expect 'a driver of another version' "$default_architecture" "$(architecture_of_device)"
expect 'its reason' '*version mismatch*' "$(cat "$folder/raw/nvidia-smi.log")"
nvidia_smi 0 '[N/A]'
expect 'no answer' "$default_architecture" "$(architecture_of_device)"

log=$folder/check.log
says() { printf '%s\n' "$@" > "$log"; }
says '[       OK ] cuda_device.a (3 ms)' '[       OK ] cuda_device.b (3 ms)'
expect 'both pass' 'passed: 2 tests*' "$(verdict 0 "$log" 60)"
expect 'out of time' '?*not ended*in 60 s, 2 tests passed before*' "$(verdict 124 "$log" 60)"
expect 'killed' '?*not ended*' "$(verdict 137 "$log" 60)"
says '[  SKIPPED ] cuda_device.a (0 ms)' 'no CUDA device: none'
expect 'skipped' '?*not run*no CUDA device: none' "$(verdict 0 "$log" 60)"
says 'tests/x.cpp:3: Failure' '  differences(on_cpu, on_device)' '    Which is: "t_final"'
expect 'a difference' '?*other bits*t_final*' "$(verdict 1 "$log" 60)"
expect 'a difference before the time ran out' '?*other bits*' "$(verdict 124 "$log" 60)"
says 'terminate called' '  what():  CUDA: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS'
expect 'a crash' '?*exit code 134*ILLEGAL_ADDRESS*' "$(verdict 134 "$log" 60)"
says ''
expect 'no word' '?*exit code 139*' "$(verdict 139 "$log" 60)"

eval "$(sed -n '/^cases=(/,/^)/p' "$(dirname "$0")/../bench/gpu/run.sh")"
[ "${#cases[@]}" -gt 5 ] || { echo 'there are no cases'; failed=1; }
for one in "${cases[@]}"; do
  read -r -a words <<< "${one#*|}"
  "$1" check "${words[@]}" -n 10 --no-pilot > "$log" 2>&1 || { echo "${one%%|*}: $(cat "$log")"; failed=1; }
done
exit $failed
