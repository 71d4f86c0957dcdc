# Install the package and build what its tests need, for scripts that source this in the root folder. Works in any Python
# >= 3.11 environment; on Debian it installs the one header library that PyPI does not have. The caller may set `targets`,
# words for `cmake --build --target`; without them everything is built. Sets `python` and `build`.
# shellcheck shell=bash
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
# The package and the tests share a folder, so the library is compiled once, or not at all after `pip install .`.
build_needs=$("$python" -c 'import tomllib; settings = tomllib.load(open("pyproject.toml", "rb"))
print(*settings["build-system"]["requires"], "cmake>=3.24", "ninja", sep="\n")')
"$python" -m pip install --quiet --requirement /dev/stdin <<<"$build_needs"
export PATH="$("$python" -c 'import sysconfig; print(sysconfig.get_path("scripts"))'):$PATH"
"$python" -m pip install --quiet --no-build-isolation -C build-dir="$build" -C cmake.define.GASMETER_TESTS=ON \
  -C build.targets='_core;gasmeter-rank;gasmeter-probe' '.[test]'
cmake --build "$build" ${targets:+--target} ${targets:+"${targets[@]}"}
