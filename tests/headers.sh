#!/bin/bash
# Compiles every kernel header alone, as the only include of a file, and instantiates templates with only the header that defines
# them (tests/instantiations/list), with those of the given compilers that are installed. Front ends suffice, because the modules
# of other tests compile the templates completely. KERNELS: another folder of headers, for mutations. CPU_FLAG: names the processor.
set -u
cd "$(dirname "$0")/.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PATH=$PATH:/usr/local/cuda/bin

compilers=()
for name in "$@"; do
  path=$(readlink -f "$(command -v "$name")" 2>/dev/null)
  if [ -z "$path" ]; then
    echo "headers: no $name here: not checked with it"
  elif [[ " ${compilers[*]-} " != *" $path "* ]]; then
    compilers+=("$path")
  fi
done

check() {  # compiler, source
  case $1 in
    *nvcc)
      set -- "$1" -std=c++20 -arch=sm_90 --expt-relaxed-constexpr -Werror all-warnings -I "$KERNELS" \
        -cuda -o "$2.ii" "$2" ;;
    *) set -- "$1" -std=c++20 -x c++ -Wall -Wextra -Werror "$CPU_FLAG" -I "$KERNELS" -fsyntax-only "$2" ;;
  esac
  "$@" || { echo "FAILED: $*" && cat "${@: -1}" && return 1; }
}
export -f check
export KERNELS=${KERNELS:-kernels} CPU_FLAG=${CPU_FLAG:--march=native}

# Sources: a header alone; a header, then an engine, and the address of the instantiated template.
for header in $(cd "$KERNELS" && find . -name '*.hpp' -o -name '*.cuh'); do
  name=${header#./}
  echo "#include \"$name\"" >"$folder/${name//\//_}.cu"
done
alone=$(ls "$folder" | wc -l) made=0
while read -r header what; do
  [[ $header != '#' ]] || continue
  made=$((made + 1))
  printf '#include "%s"\n#include "%s"\nnamespace saltus::instantiations {\nauto here = &%s;\n}\n' \
    "$header" "$PWD/tests/instantiations/engine.hpp" "$what" >"$folder/made_${made}_${header//\//_}.cu"
done <tests/instantiations/list

for compiler in "${compilers[@]}"; do
  sources=("$folder"/*.cu)
  # Packs are for processors only; test_nvrtc covers templates on devices.
  if [[ $compiler == *nvcc ]]; then rm -f "$folder"/made_*.cu; sources=("$folder"/*.cu) made=no; fi
  printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -I{} bash -c 'check "$@"' check "$compiler" {} || exit 1
  echo "headers: $alone compile alone with $compiler, and $made templates from their own headers"
done
