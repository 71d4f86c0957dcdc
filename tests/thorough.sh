#!/usr/bin/env bash
# The thorough tier: what takes too long for every change. All conformance families and C++ tests under both
# sanitizers, clang-tidy, every command of the README, long floods, fuzz targets, planted faults, a minute of an attacker
# between two udp ranks. Needs what .ci/run installs, and clang-tidy 14.
set -euo pipefail
cd "$(dirname "$0")/.."
tier=thorough
# shellcheck disable=SC1091
. tests/steps.sh
python=${PYTHON:-python3}
clang=${CLANG:-clang++-14}

step "every command of the README, as a new user"
"$python" tests/readme_commands.py

for sanitizer in address,undefined thread; do
  step "all C++ tests and conformance families under the $sanitizer sanitizer"
  tests/sanitized.sh "$sanitizer" all all
done

step "an attacker between two udp ranks for a minute, address sanitizer"
GASMETER_ATTACK_SECONDS=60 build/sanitize-address/tests/cpp/gasmeter-tests --source-file='*networks/udp/attack_test.cpp'

step "clang-tidy over all files"
# Configured alone: it reads every file by itself, which a build compiles together.
CXX=$clang cmake -S . -B build/tidy -G Ninja -DGASMETER_UNITY=OFF >/dev/null
"$python" tests/clang_tidy.py build/tidy

step "fuzz targets, 60 s each"
CXX=$clang cmake -S . -B build/fuzz -G Ninja -DGASMETER_TESTS=ON -DGASMETER_FUZZ=ON >/dev/null
cmake --build build/fuzz --target fuzz_decoder | tail -1
build/fuzz/tests/cpp/fuzz_decoder -max_total_time=60 -print_final_stats=1 2>&1 | tail -8

step "every header compiles alone"
ctest --test-dir build/release --output-on-failure --timeout 900 --label-regex '^thorough$'

step "long floods and properties: the C++ tests with ten times the rounds, properties of Python with 2000 examples"
export GASMETER_TEST_PROFILE=thorough
ctest --test-dir build/release --output-on-failure --timeout 1800 --parallel 2 --tests-regex '^cpp\.'
"$python" -m pytest -m 'slow or not slow' --numprocesses 2 --dist loadfile tests/python/guard tests/python/dashboard \
  tests/python/test_statistics.py tests/python/test_units.py tests/python/programs/test_strided.py
unset GASMETER_TEST_PROFILE

step "a paper's figures with all draws, and the same verdicts from their files alone"
reproduced=$(mktemp -d)
"$python" -m gasmeter reproduce extoll --figures 1,8 --out "$reproduced" >/dev/null
"$python" -m gasmeter judge "$reproduced"
rm -r "$reproduced"

step "200 published points, strictly: the same to the digit"
"$python" tests/published_strictly.py --points 200

step "blind run of every figure: rows do not know what papers state"
"$python" tests/blind_install.py extoll
"$python" tests/blind_install.py sci

step "faults planted in what is timed come out unverified"
"$python" tests/mutants.py
