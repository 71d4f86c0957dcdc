#!/usr/bin/env bash
# Installs Boost.Context's static library, for wheels: the containers they are built in have one that is too old.
# cpp/cmake/fcontext.cmake finds it.
set -euo pipefail
version=1.86.0
sha256=2c5ec5edcdff47ff55e27ed9560b0a0b94b07bd07ed9928b476150e16b0efc57
command -v cmake >/dev/null || pipx install cmake

cd "$(mktemp -d)"
curl --fail --silent --show-error --location --output boost.tar.xz \
  "https://github.com/boostorg/boost/releases/download/boost-$version/boost-$version-cmake.tar.xz"
echo "$sha256  boost.tar.xz" | sha256sum --check --quiet
tar -xJf boost.tar.xz
cmake -S "boost-$version" -B build -DCMAKE_BUILD_TYPE=Release -DBOOST_INCLUDE_LIBRARIES=context \
  -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX=/usr/local
cmake --build build --target install --parallel
