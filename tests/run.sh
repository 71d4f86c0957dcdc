#!/usr/bin/env bash
# Install what the tests need and run all of them: C++ (ctest), then Python (pytest). Ends with the runners' summaries.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091
. tests/build.sh
ctest --test-dir "$build" --output-on-failure --timeout 600 --parallel 3 --label-exclude '^thorough$'
export GASMETER_ECHO_RANK="$PWD/$build/tests/cpp/echo_rank"  # built already: the Python tests need not do it again
export GASMETER_CPP_BUILD="$PWD/$build"
export GASMETER_CONFORMANCE="$PWD/$build/tests/cpp/conformance/gasmeter-conformance"
"$python" -m pytest --numprocesses 2 --dist loadfile "$@"  # a file's tests share what they build
