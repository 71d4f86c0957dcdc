# Prepare a tier's build, for scripts that source this after tests/steps.sh: system packages, a fresh Python environment in
# build/ci-venv, the compiler and its cache.
# shellcheck shell=bash
step "system packages"
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends g++ ccache git binutils iproute2 doctest-dev clang-14 \
    libclang-rt-14-dev openmpi-bin libopenmpi-dev mpich libmpich-dev >/dev/null
fi

step "Python environment"
python3 -m venv --clear build/ci-venv
# shellcheck disable=SC1091
. build/ci-venv/bin/activate
python -m pip install --quiet --upgrade pip
python -m pip install --quiet 'cmake>=3.24' ninja  # one for all builds: ccache heeds the order of their arguments

# The library is compiled once by g++. Warnings are errors. Headers that are compiled beforehand would differ from
# folder to folder.
if command -v ccache >/dev/null; then
  export CCACHE_DIR="$PWD/build/ccache" CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1 CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
export CMAKE_ARGS="-DGASMETER_WARNINGS_AS_ERRORS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"
export CXX=g++  # ccache tells compilers apart by their names
