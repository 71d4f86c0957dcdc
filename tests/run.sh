#!/usr/bin/env bash
# Installs what the tests need and runs all of them: C++ (ctest), then Python (pytest). Works in any Python >= 3.11
# environment; on Debian it installs the one header library that PyPI does not have. Ends with the runners' summaries.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
build=${GASMETER_TEST_BUILD:-build/release}

if ! echo '#include <doctest/doctest.h>' | ${CXX:-c++} -x c++ -fsyntax-only - 2>/dev/null; then
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends doctest-dev >/dev/null
  else
    echo "Error: the C++ tests need the header doctest/doctest.h; install the package doctest-dev" >&2
    exit 3
  fi
fi
# One folder for the package and for the tests: the library is compiled once, or not at all where `pip install .` has been.
build_needs=$("$python" -c 'import tomllib; settings = tomllib.load(open("pyproject.toml", "rb"))
print(*settings["build-system"]["requires"], "cmake>=3.24", "ninja", sep="\n")')
"$python" -m pip install --quiet --requirement /dev/stdin <<<"$build_needs"
export PATH="$("$python" -c 'import sysconfig; print(sysconfig.get_path("scripts"))'):$PATH"
"$python" -m pip install --quiet --no-build-isolation -C build-dir="$build" -C cmake.define.GASMETER_TESTS=ON \
  -C build.targets='_core;gasmeter-rank;gasmeter-probe' '.[test]'
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure --timeout 600 --parallel 3 --label-exclude '^thorough$'
export GASMETER_ECHO_RANK="$PWD/$build/tests/cpp/echo_rank"  # built already: the Python tests need not do it again
export GASMETER_CPP_BUILD="$PWD/$build"
export GASMETER_CONFORMANCE="$PWD/$build/tests/cpp/conformance/gasmeter-conformance"
"$python" -m pytest --numprocesses 2 --dist loadfile "$@"  # a file's tests share what they build
