#!/bin/bash
# Compiles every kernel header alone, as the only include of a file, with each of g++, clang++ and nvcc that is there,
# and with the compilers given. The front ends are enough: the units of other tests compile the templates for good.
set -u
cd "$(dirname "$0")/.." || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PATH=$PATH:/usr/local/cuda/bin

compilers=()
for name in "$@" g++ clang++ nvcc; do
  path=$(readlink -f "$(command -v "$name")" 2>/dev/null)
  if [ -z "$path" ]; then
    echo "headers: no $name here: not checked with it"
  elif [[ " ${compilers[*]-} " != *" $path "* ]]; then
    compilers+=("$path")
  fi
done

check() {  # compiler, header
  local source=$3/${1##*/}_${2//\//_}.cu
  echo "#include \"${2#kernels/}\"" >"$source"
  case $1 in
    *nvcc)
      set -- "$1" -std=c++20 -arch=sm_90 --expt-relaxed-constexpr -Werror all-warnings -I kernels \
        -cuda -o "$source.ii" "$source" ;;
    *) set -- "$1" -std=c++20 -x c++ -Wall -Wextra -Werror -march=native -I kernels -fsyntax-only "$source" ;;
  esac
  "$@" || { echo "FAILED: $*" && return 1; }
}
export -f check

mapfile -t headers < <(find kernels -name '*.hpp' -o -name '*.cuh' | sort)
for compiler in "${compilers[@]}"; do
  printf '%s\n' "${headers[@]}" | xargs -P "$(nproc)" -I{} bash -c 'check "$@"' check "$compiler" {} "$folder" || exit 1
  echo "headers: ${#headers[@]} compile alone with $compiler"
done
