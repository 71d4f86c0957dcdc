#!/usr/bin/env bash
# Builds the C++ tests by clang with a sanitizer and runs some of them; warnings are errors.
#   tests/checks/sanitized.sh SANITIZER FOLDERS CONFORMANCE [NETWORKS]
# SANITIZER: address,undefined or thread. FOLDERS: of tests/cpp, in words; `all`. CONFORMANCE: which of the conformance
# tests, an expression for ctest; `all` or `none`. NETWORKS: what is built of them, in words; all without.
set -euo pipefail
cd "$(dirname "$0")/../.."
sanitizer=$1 folders=$2 conformance=$3 networks=${4:-}
build=build/sanitize-${sanitizer%%,*}
[ "$folders" = all ] && folders=""
# Compiling is most of it where few tests run; of `sim` on several threads, running is.
optimised=-O1
if [ -n "$folders" ] && [ "$sanitizer" != thread ]; then optimised=-O0; fi
CXX=${CLANG:-clang++-14} cmake -S . -B "$build" -G Ninja -DGASMETER_TESTS=ON -DGASMETER_SANITIZE="$sanitizer" \
  -DGASMETER_WARNINGS_AS_ERRORS=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="$optimised -g1" \
  -DGASMETER_TEST_FOLDERS="${folders// /;}" -DGASMETER_NETWORKS="${networks// /;}" >/dev/null
targets=(gasmeter-tests)
[ "$conformance" = none ] || targets+=(gasmeter-conformance)
if [ -z "$folders" ]; then targets=(all); fi
if ! CCACHE_DISABLE=1 cmake --build "$build" --target "${targets[@]}" >"$build/build.log"; then
  grep -A20 'FAILED\|error' "$build/build.log" | head -60 >&2
  exit 1
fi
run=(ctest --test-dir "$build" --output-on-failure --timeout 600 --parallel 3)
if [ -z "$folders" ]; then
  # Ranks in virtual time share one thread here: they have no races (tests of sim run engines on several threads).
  left_out='^thorough$'
  if [ "$sanitizer" = thread ]; then left_out='^(thorough|virtual)$'; fi
  "${run[@]}" --label-exclude "$left_out"
else
  "${run[@]}" --tests-regex '^cpp\.'
  [ "$conformance" = none ] || "${run[@]}" --tests-regex "$conformance"
fi
