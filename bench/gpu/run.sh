#!/usr/bin/env bash
# On a machine with a CUDA device, CUDA 13, cmake and g++: builds saltus with its plug-in, checks the device against the
# CPU, measures both from 10^4 to 10^7 instances, and diffrax if python3 has it, and reports the registers of the kernels.
# It installs nothing and uses no network.
#
#     bench/gpu/run.sh [--carried DIR | --built DIR] [--out DIR] [--seconds N] [--backends LIST] [--counts LIST] [--jobs N]
#
# --carried DIR    libraries that this machine lacks, as bench/gpu/pack has packed them; without it, the system's
# --built DIR      a build of this revision, with all libraries that it needs (saltus, libsaltus_*.so, tests/); none is made
# --out DIR        (build/gpu/results) gets results.md, results.json and, with matplotlib, throughput.svg
# --seconds N      (460) in all; parts that do not fit are listed as not measured
# --backends LIST  (cpu,cuda) cpu: tests the script on a machine without a device
# --counts LIST    (10000,100000,1000000,10000000) instances
# --jobs N         (all cores) processes that compile at a time
#
# Exit code: 0; 1 something is missing; 5 no device; 6 bits of device and CPU differ; 7 no comparison was possible.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
carried='' built_in='' out='' seconds=460 backends=cpu,cuda counts=10000,100000,1000000,10000000 jobs=$(nproc)
while [ $# -gt 0 ]; do
  case "$1" in
    --carried | --built | --out | --seconds | --backends | --counts | --jobs)
      if [ $# -lt 2 ]; then echo "bench/gpu/run.sh: $1 what?" >&2; exit 2; fi
      case "$1" in --built) built_in=$2 ;; *) declare "${1#--}=$2" ;; esac
      shift 2
      ;;
    *) echo "bench/gpu/run.sh: $1 is not known; see the head of this file" >&2; exit 2 ;;
  esac
done
[ -z "$carried" ] || carried=$(cd "$carried" && pwd)
[ -z "$built_in" ] || built_in=$(cd "$built_in" && pwd)
[ -z "$out" ] || out=$(mkdir -p "$out" && cd "$out" && pwd)
# shellcheck source=scripts/setup.sh
source "$here/../../scripts/setup.sh"
# shellcheck source=bench/gpu/device.sh
source "$here/device.sh"
out=${out:-$PWD/build/gpu/results}
folder=$PWD/build/gpu
mkdir -p "$out" "$folder/raw"
rm -f "$out"/results.* "$out"/throughput.svg "$folder"/raw/*
export PATH="$PATH:/usr/local/cuda/bin"
export SALTUS_CACHE=$folder/cache
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

has() { [[ ,$backends, == *,$1,* ]]; }
left() { echo $((seconds - SECONDS)); }
progress() { say "$* ($(left) s left)"; }
least() { if [ "$1" -lt "$2" ]; then echo "$1"; else echo "$2"; fi; }

# ---- build ----------------------------------------------------------------------------------------------------------
missing=()
tools=(g++)
[ -n "$built_in" ] || tools+=(cmake)
for tool in "${tools[@]}"; do command -v "$tool" >/dev/null || missing+=("$tool"); done
if has cuda && ! command -v nvcc >/dev/null; then missing+=("nvcc (CUDA 13)"); fi
settings=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=g++ -DSALTUS_CUDA=ON)
if [ -n "$carried" ]; then
  triplet=$(g++ -print-multiarch)
  # RPATH instead of LD_LIBRARY_PATH: programs that saltus starts, such as a compiler, must use their own libraries. RPATH
  # instead of RUNPATH: it also finds libraries that libraries need.
  settings+=(-DCMAKE_PREFIX_PATH="$carried/usr" -DPKG_CONFIG_EXECUTABLE="$carried/usr/bin/pkg-config"
    -DCMAKE_EXE_LINKER_FLAGS="-Wl,--disable-new-dtags,-rpath,$carried/usr/lib/$triplet")
  PATH=$PATH:$carried/usr/bin
elif [ -z "$built_in" ] && ! command -v pkg-config >/dev/null; then
  missing+=(pkg-config)
fi
if [ -n "$built_in" ]; then :
elif command -v ninja >/dev/null; then settings+=(-G Ninja)
elif ! command -v make >/dev/null; then missing+=("ninja or make"); fi
if [ ${#missing[@]} -gt 0 ]; then
  (IFS=,; echo "bench/gpu/run.sh: this machine lacks ${missing[*]}" >&2)
  exit 1
fi

build_here() {
  progress "building in $folder"
  targets=(saltus)
  configure() { cmake -S . -B "$folder" "${settings[@]}" "-DSALTUS_TESTS=$1" > "$folder/cmake.log" 2>&1; }
  if configure ON; then targets+=(test_cuda_device)
  elif ! configure OFF; then
    # Among CMake's lines, the one that names the missing package.
    reason=$(grep -m 1 -E 'Could not find a package|Could NOT find|Could not find [A-Z]|No package|Package .* not found' "$folder/cmake.log" || true)
    echo "bench/gpu/run.sh: something is missing: ${reason:-?} (see $folder/cmake.log)" >&2
    exit 1
  fi
  if [[ $(cmake --build "$folder" --target help) == *saltus_cuda* ]]; then
    targets+=(saltus_cuda saltus_nvrtc_plugin)
  elif has cuda; then
    echo "bench/gpu/run.sh: CMake finds no CUDA toolkit (nvcc, NVRTC and its stub of libcuda)" >&2
    exit 1
  fi
  cmake --build "$folder" --parallel "$jobs" --target "${targets[@]}" > "$folder/build.log" 2>&1 || {
    tail -n 30 "$folder/build.log" >&2
    exit 1
  }
}
if [ -n "$built_in" ]; then cp -a "$built_in"/. "$folder/"; else build_here; fi
built=$SECONDS
saltus=$folder/saltus
doctor=$("$saltus" doctor)
echo "$doctor"
if has cuda && grep -q '^cuda *none' <<< "$doctor"; then exit 5; fi

# ---- what is measured: label | model and settings -------------------------------------------------------------------
cases=(
  'lorenz, dp5|lorenz --method dp5 --set sweep.rho={from=0,to=21}'
  'lorenz, dop853|lorenz --method dop853 --set sweep.rho={from=0,to=21}'
  'lorenz, auto|lorenz --set sweep.rho={from=0,to=21}'
  'lorenz, dp5, float|lorenz --method dp5 --set precision=float --set rtol=1e-4 --set sweep.rho={from=0,to=21}'
  'relief_valve, sorted|relief_valve --method dp5 --set t=[0.0,40.0] --set run.allowed_failed=0.05 --set sweep.flow={from=0.5,to=10.0}'
  'bok_1, sorted|bok_1 --method dp5 --set sweep.A={from=0.35,to=0.45}'
  'bok_1, random|bok_1 --method dp5 --set sample.A={uniform=[0.35,0.45]}'
  'bok_1, random, not ordered|bok_1 --method dp5 --set run.order=id --set sample.A={uniform=[0.35,0.45]}'
  'coulomb_oscillator, random|coulomb_oscillator --method dp5 --set t=[0.0,50.0] --set sample.amplitude={uniform=[0.75,1.0]}'
  'keller_miksis, random|keller_miksis --method dp5 --set t=[0.0,2.0] --set sample.frequency_1={log_uniform=[2e4,1e6]}'
  'compound_pendulum, dop853|compound_pendulum --method dop853 --set sample.length={uniform=[0.5,2.0]} --set sample.friction={uniform=[0.0,1.0]}'
  'robertson, rodas5p|robertson --method rodas5p --set t=[0.0,1e4] --set atol=[1e-9,1e-13,1e-9] --set sweep.k1={from=0.02,to=0.06}'
)
label_of() { echo "${1%%|*}"; }
file_of() { label_of "$1" | tr -c 'a-z0-9_\n' '_'; }
words_of() { read -r -a words <<< "${1#*|}"; }

# ---- compile all modules at once, so that no part waits for the compiler ----------------------------------------------
architecture=$default_architecture
if has cuda; then
  architecture=$(architecture_of_device)
  [ ! -s "$folder/raw/nvidia-smi.log" ] || progress "nvidia-smi does not tell the architecture: registers are those of $architecture"
fi
progress "compiling models for the CPU and $architecture"
# A short bench instead of a run: it tries the lane shapes and compiles the modules that the measurement would wait for.
compile() {
  local name words
  name=$(file_of "$1")
  words_of "$1"
  timeout 90 "$saltus" bench "${words[@]}" -n 200 --backends cpu --rounds 1 --limit 1 -q > "$folder/raw/$name.compile" 2>&1 || true
  [ ! -e "$folder/libsaltus_nvrtc.so" ] ||
    timeout 90 "$saltus" check "${words[@]}" -n 10 --no-pilot --cuda "$architecture" > "$folder/raw/$name.registers" 2>&1 || true
}
workers=()
for one in "${cases[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do sleep 0.1; done
  compile "$one" &
  workers+=($!)
done
wait "${workers[@]}"
# The fastest shape beside compilers means nothing: it is measured again with nothing left to compile.
rm -f "$SALTUS_CACHE"/*.lanes
compiled=$SECONDS

# ---- the device against the CPU, bit by bit -------------------------------------------------------------------------
checked="not run: the CPU alone is measured"
differs='' broken=''
if has cuda; then
  progress "comparing the device with the CPU"
  compare_limit=100
  if [ ! -x "$folder/tests/test_cuda_device" ]; then checked="not run: there is no GoogleTest"
  else
    rc=0
    SALTUS_CUDA_PLUGIN=$folder/libsaltus_cuda.so timeout "$compare_limit" "$folder/tests/test_cuda_device" \
      --gtest_filter='*refilled:*disturb_each_other' > "$folder/raw/check.log" 2>&1 || rc=$?
    checked=$(verdict "$rc" "$folder/raw/check.log" "$compare_limit")
    case "$checked" in
      passed*) ;;
      *"other bits"*) differs=1 ;;
      *) broken=1 ;;
    esac
    [[ $checked == passed* ]] || cat "$folder/raw/check.log"
  fi
fi

# ---- tables ---------------------------------------------------------------------------------------------------------
# rows FILE COUNT: a Markdown row for each backend in the JSON of saltus bench, which has one key per line.
rows() {
  awk -v n="$2" '
    function si(x,    i) {
      for (i = 0; x >= 1000 && i < 4; ++i) x /= 1000
      return sprintf("%.4g", x) (i > 0 ? " " substr("kMGT", i, 1) : "")
    }
    function known(name, form, scale) { return name in v ? sprintf(form, v[name] * scale) : "-" }
    function row() {
      printf "| %d | %s | %s | %.4g (%.4g .. %.4g) | %.4g | %s | %s | %s | %s | %s | %s |\n", n, v["backend"],
        si(v["instances_per_second"]), v["end_to_end_seconds.median"], v["end_to_end_seconds.low"],
        v["end_to_end_seconds.high"], v["kernel_seconds.median"], si(v["trial_steps_per_second"]),
        known("of_peak", "%.1f %%", 100), known("lane_use_sailing", "%.1f %%", 100),
        known("joules", "%.3g", 1e6 / n), v["failed"],
        "against_first.compared" in v ? v["against_first.instances_with_other_bits"] " of " v["against_first.compared"] : "-"
    }
    # A backend is an object in the list of results: its braces are indented by eight, those of its contents by twelve.
    /^        [{]$/ { delete v; inside = 1; next }
    /^        [}],?$/ { if (inside && "backend" in v) row(); inside = 0 }
    !inside { next }
    { line = $0; gsub(/[",]/, "", line); split(line, part, /: /); key = part[1]; gsub(/^ +/, "", key) }
    part[2] == "{" { group = key "."; next }
    /^ *[}],?$/ { group = ""; next }
    part[2] != "" { v[group key] = part[2] }' "$1"
}
# seconds_of FILE BACKEND: end to end, rounded up; empty if it was not measured.
seconds_of() {
  rows "$1" 1 | awk -F '|' -v backend=" $2 " '$3 == backend { split($5, t, " "); print int(t[1] + 0.999) }'
}

IFS=, read -r -a sizes <<< "$counts"
python=0
if python3 -c 'import jax, diffrax' 2>/dev/null; then python=75; fi
reserve=$((python + 35))  # diffrax, the curves, and writing
calls=$((${#sizes[@]} * ${#cases[@]}))
declare -A before not_measured
last=0
for size in "${sizes[@]}"; do
  for one in "${cases[@]}"; do
    name=$(file_of "$one")
    words_of "$one"
    # Each case has an equal part of the remaining time; short ones leave theirs to long ones.
    share=$((($(left) - reserve) * 2 / (calls < 10 ? 10 : calls) + 1))
    calls=$((calls - 1))
    chosen=()
    for backend in ${backends//,/ }; do
      took=${before[$name.$backend]:-0} expected=0
      [ "$took" = none ] || [ "$last" = 0 ] || expected=$((took * size / last))
      # Rounds are not interrupted, so none begins that would take too long.
      if [ "$took" = none ] || [ $(($(left) - reserve)) -lt 5 ] || [ "$expected" -gt $((share * 3)) ]; then
        not_measured[$name.$size]+=" $backend"
        before[$name.$backend]=none
      else
        chosen+=("$backend")
      fi
    done
    [ ${#chosen[@]} -gt 0 ] || continue
    progress "$size of $(label_of "$one")"
    list=$(IFS=,; echo "${chosen[*]}")
    file=$folder/raw/$name.$size.json
    if ! timeout -k 10 -s INT $((share * 6 + 15)) "$saltus" bench "${words[@]}" -n "$size" --backends "$list" --rounds 5 \
      --limit "$share" --json -q > "$file.new" 2> "$folder/raw/$name.$size.log"; then
      not_measured[$name.$size]+=" $list: $(head -n 1 "$folder/raw/$name.$size.log")"
      for backend in "${chosen[@]}"; do before[$name.$backend]=none; done
      continue
    fi
    mv "$file.new" "$file"
    for backend in "${chosen[@]}"; do
      took=$(seconds_of "$file" "$backend")
      # A time below a second says nothing about ten times as many instances.
      if [ "${took:-0}" -gt 1 ]; then before[$name.$backend]=$took; else unset "before[$name.$backend]"; fi
    done
    if grep '"instances_with_other_bits"' "$file" | grep -qv ': 0'; then differs=1; fi
  done
  last=$size
done
if [ "$(left)" -gt $((python + 15)) ]; then
  progress "throughput against the number of instances"
  words_of "${cases[0]}"
  timeout -k 10 -s INT 30 "$saltus" bench "${words[@]}" -n 1000 --backends "$backends" --rounds 1 --limit 16 --json -q \
    --growth > "$folder/raw/curves.json" 2> "$folder/raw/curves.log" || rm -f "$folder/raw/curves.json"
  # Data for the picture, which can also be made elsewhere from results.json.
  rm -f "$out/throughput.svg"
  if [ -s "$folder/raw/curves.json" ] && python3 -c 'import matplotlib' 2>/dev/null; then
    python3 bench/plot_growth.py "$folder/raw/curves.json" "$out/throughput.svg" > /dev/null
  fi
fi

# ---- diffrax --------------------------------------------------------------------------------------------------------
if [ $python -gt 0 ] && [ "$(left)" -gt 20 ]; then
  progress "diffrax"
  ensemble=(run lorenz --set 'sweep.rho={from=0,to=21,count=1000}' --backend cpu -q --force)
  "$saltus" "${ensemble[@]}" -o "$folder/raw/result.nc" > /dev/null
  "$saltus" "${ensemble[@]}" --method dop853 --set rtol=1e-12 --set atol=1e-12 -o "$folder/raw/reference.nc" > /dev/null
  limit=$(least 60 $(($(left) - 12)))
  timeout $((limit + 8)) python3 bench/gpu/by_diffrax.py --counts="$counts" --seconds="$limit" \
    --result="$folder/raw/result.nc" --reference="$folder/raw/reference.nc" \
    > "$folder/raw/diffrax.jsonl" 2> "$folder/raw/diffrax.log" || true
fi

# ---- one file -------------------------------------------------------------------------------------------------------
{
  echo "# saltus on a device: what bench/gpu/run.sh has measured"
  echo
  echo "$(date -u +%Y-%m-%d), $(git describe --always --dirty 2>/dev/null || echo 'no revision'), backends $backends," \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) threads"
  echo
  echo '```'
  echo "$doctor"
  ! command -v nvcc >/dev/null || nvcc --version | sed -n 4p
  ! has cuda || ask_device name,driver_version,memory.total,clocks.max.sm,power.limit csv || true
  echo '```'
  echo
  echo "Built in $built s, models compiled in $((compiled - built)) s."
  echo
  echo "Device against CPU: $checked. All problems: \`bench/gpu/check.sh\`. In the tables below, \"other bits\" counts the" \
    "instances whose results have other bits than on the CPU, where both ran."
  printf '\n## Throughput\n\n'
  echo "End to end, without compilation and without a file: median (lowest .. highest) of up to five rounds." \
    "uJ: energy for an instance, of the whole processor or device. docs/bench.md says what the columns mean."
  for one in "${cases[@]}"; do
    name=$(file_of "$one")
    # shellcheck disable=SC2016
    printf '\n### %s\n\n`saltus bench %s`\n\n' "$(label_of "$one")" "${one#*|}"
    echo '| instances | backend | instances/s | end to end, s | in kernels, s | trial steps/s | of peak | lanes used | uJ | failed | other bits |'
    echo '|---|---|---|---|---|---|---|---|---|---|---|'
    for size in "${sizes[@]}"; do
      [ ! -e "$folder/raw/$name.$size.json" ] || rows "$folder/raw/$name.$size.json" "$size"
    done
    for size in "${sizes[@]}"; do
      [ -z "${not_measured[$name.$size]:-}" ] || printf '\nNot measured: %s on%s.\n' "$size" "${not_measured[$name.$size]}"
    done
  done
  [ ! -s "$out/throughput.svg" ] || printf '\nlorenz, dp5, from 10 instances on: ![throughput](throughput.svg)\n'
  printf '\n## diffrax\n\n'
  if [ -s "$folder/raw/diffrax.jsonl" ]; then
    echo "Double precision, rtol 1e-6, one vmap, default device; \`bench/gpu/by_diffrax.py\` says what error is."
    printf '\n```json\n'
    cat "$folder/raw/diffrax.jsonl"
    echo '```'
  fi
  if [ $python = 0 ]; then echo "Not measured: python3 has no jax and diffrax."
  elif [ ! -s "$folder/raw/diffrax.jsonl" ]; then echo "Not measured: $(tail -n 1 "$folder/raw/diffrax.log" 2>/dev/null || echo 'no time was left')"
  fi
  printf '\n## Registers, spills, occupancy (%s)\n' "$architecture"
  for one in "${cases[@]}"; do
    name=$(file_of "$one")
    printf '\n### %s\n\n```\n' "$(label_of "$one")"
    cat "$folder/raw/$name.registers" 2>/dev/null || echo "not compiled: no NVRTC"
    echo '```'
  done
  printf '\nAll of it took %s s.\n' "$SECONDS"
} > "$out/results.md"
{
  echo '{'
  for one in "${cases[@]}"; do
    for size in "${sizes[@]}"; do
      file=$folder/raw/$(file_of "$one").$size.json
      if [ -s "$file" ]; then printf '"%s, %s":\n' "$(label_of "$one")" "$size"; cat "$file"; echo ,; fi
    done
  done
  if [ -s "$folder/raw/curves.json" ]; then echo '"curves":'; cat "$folder/raw/curves.json"; echo ,; fi
  printf '"diffrax": ['
  [ ! -s "$folder/raw/diffrax.jsonl" ] || paste -sd, "$folder/raw/diffrax.jsonl"
  printf '],\n"seconds": %s\n}\n' "$SECONDS"
} > "$out/results.json"
progress "$out/results.md, results.json"
[ -z "$differs" ] || exit 6
[ -z "$broken" ] || exit 7
