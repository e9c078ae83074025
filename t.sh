#!/bin/bash
# single TU
cd /work/records
export SALTUS_HOME=/work/records SALTUS_CACHE=/work/records/build/cuda/cache
g++ -O0 -DSALTUS_RUNS_ONCE -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-tree-slp-vectorize -std=c++20 -I. -Ihost -Ikernels -Itests -Itesting -Ibuild/cuda/_deps/tomlplusplus-src/include -DSALTUS_SOURCE_FOLDER="\"$PWD\"" tests/$1.cpp -o build/cuda/$1 -L build/cuda -Wl,-rpath,$PWD/build/cuda -l:libsaltus.so.0.1 -lfmt -lgtest -lgtest_main -ltbb -lnetcdf
