#!/usr/bin/env bash
# Installs what the tests need and runs all of them: C++ (ctest), then Python (pytest). Works in any Python >= 3.11
# environment; on Debian it installs the one header library that PyPI does not have. Ends with the runners' summaries.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
build=${GASMETER_TEST_BUILD:-build/tests}

if ! echo '#include <doctest/doctest.h>' | ${CXX:-c++} -x c++ -fsyntax-only - 2>/dev/null; then
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends doctest-dev >/dev/null
  else
    echo "Error: the C++ tests need the header doctest/doctest.h; install the package doctest-dev" >&2
    exit 3
  fi
fi
"$python" -m pip install --quiet '.[test]'

export PATH="$("$python" -c 'import sysconfig; print(sysconfig.get_path("scripts"))'):$PATH"
# CMAKE_ARGS: what pip's build heeds, too
# shellcheck disable=SC2086
cmake -S . -B "$build" -G Ninja -DGASMETER_TESTS=ON -DGASMETER_WARNINGS_AS_ERRORS=ON ${CMAKE_ARGS:-} >/dev/null
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure --timeout 600 --parallel 3
export GASMETER_ECHO_RANK="$PWD/$build/tests/cpp/echo_rank"  # built already: the Python tests need not do it again
export GASMETER_CPP_BUILD="$PWD/$build"
"$python" -m pytest --numprocesses 2 --dist loadfile "$@"  # a file's tests share what they build
