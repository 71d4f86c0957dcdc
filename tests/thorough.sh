#!/usr/bin/env bash
# What takes too long for every change: planted faults that have to come out unverified, and a minute of an attacker
# between two udp ranks under the address sanitizer. Needs what tests/run.sh installs, and clang 14.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
step() { printf '\n==== %s (%s s)\n' "$1" "$SECONDS"; }

step "faults planted in what is timed come out unverified"
"$python" tests/mutants.py

step "an attacker between two udp ranks for a minute, address sanitizer"
build=build/sanitize-address
CXX=${CLANG:-clang++-14} cmake -S . -B "$build" -G Ninja -DGASMETER_TESTS=ON -DGASMETER_SANITIZE=address,undefined \
  -DGASMETER_WARNINGS_AS_ERRORS=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" >/dev/null
cmake --build "$build" --target gasmeter-tests | tail -1
GASMETER_ATTACK_SECONDS=60 "$build/tests/cpp/gasmeter-tests" --source-file='*networks/udp/attack_test.cpp'
step "done"
