#!/usr/bin/env bash
# install.sh CMAKE BUILD DOCUMENT COMPILER GENERATOR...: installs a build into a folder, runs the program there, and builds
# and runs the example of the document against the library there. The example uses nothing of saltus outside that folder.
set -euo pipefail
cmake=$1 build=$2 document=$3 compiler=$4 generator=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SALTUS_HOME
export SALTUS_CACHE=$work/cache

"$cmake" --install "$build" --prefix "$work/prefix" > "$work/install.log"
for file in bin/saltus lib/libsaltus.so share/saltus/kernels/saltus.hpp share/saltus/problems/relief_valve.hpp \
  include/saltus/saltus.h include/saltus/saltus.hpp lib/cmake/saltus/saltus-config.cmake; do
  [ -e "$work/prefix/$file" ] || { echo "$file is not installed"; exit 1; }
done
home=$("$work/prefix/bin/saltus" doctor | sed -n 's/^home *//p')
[ "$home" = "$(realpath "$work/prefix/share/saltus")" ] || { echo "the installed program is at home in '$home'"; exit 1; }

# Files of the document: blocks whose fences end with a file name.
mkdir "$work/example"
cd "$work/example"
awk '/^```/ { if (file) file = ""; else if (NF == 2) { file = $2; next } } file { print > file }' "$document"
"$cmake" -S . -B build -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/prefix" > cmake.log ||
  { cat cmake.log; exit 1; }
"$cmake" --build build > build.log || { cat build.log; exit 1; }
for example in study valves; do
  said=$("./build/$example")
  echo "$said"
  [ "$said" = "100 of 100 ended well" ] || { echo "$example says '$said'"; exit 1; }
done
[ -e valve.nc ] || { echo "there is no valve.nc"; exit 1; }
# No other header is installed, and each compiles alone: the C header with a C compiler in C99 mode.
[ "$(ls "$work/prefix/include/saltus" | xargs)" = "saltus.h saltus.hpp" ] || { ls -R "$work/prefix/include"; exit 1; }
echo '#include <saltus/saltus.hpp>' > alone.cpp
"$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$work/prefix/include" alone.cpp
echo '#include <saltus/saltus.h>' > alone.c
cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$work/prefix/include" alone.c
# The public interface has a version of its own; the floors below it are marked private. Symbols of other libraries' templates are not
# exported: the program may have compiled them with other options.
foreign=$(nm -D --defined-only "$work/prefix/lib/libsaltus.so" | awk '$2 != "A" &&
  $3 !~ /^(saltus_|_Z(NK?|T[ISV]N)6saltus2v0).*@@SALTUS_0$/ && $3 !~ /^_Z(NK?|T[ISV]N)6saltus4host.*@@SALTUS_PRIVATE$/ { print $3 }')
[ -z "$foreign" ] || { echo "libsaltus.so exports $(echo "$foreign" | head -3 | xargs)"; exit 1; }
