#!/usr/bin/env bash
# half_toolkit.sh SOURCE ROOT INCLUDE LIBRARIES GENERATOR...: with an incomplete CUDA toolkit the build is configured for CPUs
# alone and names the missing parts; with a complete one the plug-ins are built.
set -euo pipefail
source=$1 root=$2 include=$3 libraries=$4 generator=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
# CMake also looks beside every folder in PATH, and in /usr/local.
PATH=$(tr : '\n' <<< "$PATH" | while read -r folder; do [ -x "$folder/nvcc" ] || printf '%s:' "$folder"; done)
PATH=${PATH%:}

# toolkit NAME: a copy of the toolkit made of links. The compiler is a real copy, since CMake asks it for its location.
toolkit() {
  mkdir -p "$work/$1/bin" "$work/$1/include" "$work/$1/lib64/stubs"
  cp -L "$root/bin/nvcc" "$root/bin/nvcc.profile" "$work/$1/bin/"
  ln -s "$include"/* "$work/$1/include/"
  find "$libraries/" -mindepth 1 -maxdepth 1 -name "lib*" -exec ln -s -t "$work/$1/lib64" {} +
  ln -s "$libraries"/stubs/* "$work/$1/lib64/stubs/"
}
# configure NAME: CMake's messages about it, and the names of the targets.
configure() {
  env -u LIBRARY_PATH cmake -S "$source" -B "$work/build_$1" -G "$generator" -DSALTUS_TESTS=OFF \
    -DCUDAToolkit_ROOT="$work/$1" -DCMAKE_IGNORE_PREFIX_PATH=/usr/local > "$work/$1.log" 2>&1 ||
    { echo "$1: CMake fails:"; tail -n 20 "$work/$1.log"; failed=1; return; }
  cmake --build "$work/build_$1" --target help >> "$work/$1.log" 2>&1
}
expect() {
  if ! grep -q "$2" "$work/$1.log"; then echo "$1: no '$2' in:"; cat "$work/$1.log"; failed=1; fi
}
expect_not() {
  if grep -q "$2" "$work/$1.log"; then echo "$1: there is '$2'"; failed=1; fi
}

toolkit whole
configure whole
expect whole 'saltus_cuda'
expect whole 'saltus_nvrtc_plugin'

toolkit no_nvrtc
rm "$work"/no_nvrtc/lib64/libnvrtc*
configure no_nvrtc
expect no_nvrtc 'lacks CUDA::nvrtc '
expect_not no_nvrtc 'saltus_cuda'

toolkit no_driver
rm -r "$work"/no_driver/lib64/stubs
configure no_driver
expect no_driver 'lacks CUDA::cuda_driver '
expect_not no_driver 'saltus_cuda'

toolkit no_headers
rm "$work"/no_headers/include/cuda.h "$work"/no_headers/include/nvrtc.h
configure no_headers
expect no_headers 'lacks cuda.h, nvrtc.h '
expect_not no_headers 'saltus_cuda'
exit $failed
