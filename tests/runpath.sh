#!/usr/bin/env bash
# runpath.sh PLUG-IN...: each plug-in searches for libraries in one folder, that of NVRTC. In the toolkit's folder of stubs it
# would find a stub in place of the driver, and an empty entry means the current folder at the program's start.
set -euo pipefail
failed=0
for plugin in "$@"; do
  path=$(readelf -d "$plugin" | sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\]/\2/p')
  nvrtc=$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(libnvrtc\.so.*\)\]/\1/p')
  if [ -z "$nvrtc" ]; then echo "$plugin does not link NVRTC"; failed=1; fi
  case "$path" in
    '' | *:* | *stubs*) echo "$plugin looks in '$path': must be the folder of NVRTC alone"; failed=1 ;;
    *) if [ ! -e "$path/$nvrtc" ]; then echo "$plugin looks in '$path', where there is no $nvrtc"; failed=1; fi ;;
  esac
done
exit $failed
