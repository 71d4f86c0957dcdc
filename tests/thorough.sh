#!/usr/bin/env bash
# The thorough tier: what takes too long for every change. All conformance families and C++ tests under both
# sanitizers, clang-tidy, every command of the README, long floods, fuzz targets, planted faults, a minute of an attacker
# between two udp ranks, what a network costs. Needs what .ci/run installs, and clang-tidy 14, and what README's second
# command leaves behind.
# A step that fails does not keep the later ones from running. Words are parts of the names of the steps that are wanted:
#
#   tests/thorough.sh             # all
#   tests/thorough.sh --resume    # but those that passed before, on the same tree with nothing changed in it
#   tests/thorough.sh fuzz blind
set -euo pipefail
cd "$(dirname "$0")/.."
tier=thorough
# shellcheck disable=SC1091
. tests/steps.sh
if [ "${1:-}" = --resume ]; then resume=1 && shift; fi
chosen=("$@")
python=${PYTHON:-python3}
clang=${CLANG:-clang++-14}

if step "every command of the README and the tour, as a new user"; then
  attempt "$python" tests/checks/readme_commands.py
fi

if step "the site builds, its links lead somewhere"; then
  # What the extra `docs` names; the project itself is installed by now.
  "$python" -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]
print("\n".join(project["optional-dependencies"]["docs"]))' >build/docs-requirements.txt
  attempt "$python" -m pip install --quiet --requirement build/docs-requirements.txt
  attempt "$python" tests/checks/site.py
fi

if step "asv and Otava read what is exported for them"; then
  attempt "$python" tests/checks/consumers.py
fi

for sanitizer in address,undefined thread; do
  if step "all C++ tests and conformance families under the $sanitizer sanitizer"; then
    attempt tests/checks/sanitized.sh "$sanitizer" all all
  fi
done

if step "an attacker between two udp ranks for a minute, address sanitizer"; then
  attempt env GASMETER_ATTACK_SECONDS=60 build/sanitize-address/tests/cpp/gasmeter-tests \
    --source-file='*networks/udp/attack_test.cpp'
fi

if step "clang-tidy over all files"; then
  # Configured alone: it reads every file by itself, which a build compiles together.
  attempt env CXX="$clang" cmake -S . -B build/tidy -G Ninja -DGASMETER_UNITY=OFF >build/tidy.log
  attempt "$python" tests/checks/clang_tidy.py build/tidy
fi

if step "fuzz targets, 60 s each"; then
  attempt env CXX="$clang" cmake -S . -B build/fuzz -G Ninja -DGASMETER_TESTS=ON -DGASMETER_FUZZ=ON >build/fuzz.log
  attempt cmake --build build/fuzz --target fuzz_decoder >build/fuzz.log
  attempt build/fuzz/tests/cpp/fuzz_decoder -max_total_time=60 -print_final_stats=1 >build/fuzz.log 2>&1
  tail -8 build/fuzz.log
fi

if step "every header compiles alone, conformance on every shape of jobs in virtual time"; then
  attempt ctest --test-dir build/release --output-on-failure --timeout 900 --parallel 2 --label-regex '^thorough$'
fi

if step "long floods and properties: the C++ tests with ten times the rounds, properties of Python with 2000 examples"; then
  export GASMETER_TEST_PROFILE=thorough
  attempt ctest --test-dir build/release --output-on-failure --timeout 1800 --parallel 2 --tests-regex '^cpp\.'
  attempt "$python" -m pytest -m 'slow or not slow' --numprocesses 2 --dist loadfile tests/python/guard \
    tests/python/dashboard tests/python/test_statistics.py tests/python/test_units.py \
    tests/python/programs/test_strided.py
  unset GASMETER_TEST_PROFILE
fi

if step "Python tests that take long: published verdicts and rows, notebooks, collectives of any number of ranks"; then
  attempt "$python" -m pytest -m slow --numprocesses 2 --dist loadfile tests/python/reproduction tests/python/sweeps \
    tests/python/rows tests/python/programs
fi

if step "a paper's figures with all draws, and the same verdicts from their files alone"; then
  reproduced=$(mktemp -d)
  attempt "$python" -m gasmeter reproduce extoll --figures 1,8 --out "$reproduced" >"$reproduced.log"
  attempt "$python" -m gasmeter reproduce --from "$reproduced"
  rm -r "$reproduced" "$reproduced.log"
fi

if step "300 published points, strictly: the same to the digit"; then
  attempt "$python" tests/checks/published_strictly.py --points 200
  attempt "$python" tests/checks/published_strictly.py results/xlupc --points 100
fi

if step "blind run of every figure: rows do not know what papers state"; then
  attempt "$python" tests/checks/blind_install.py extoll
  attempt "$python" tests/checks/blind_install.py sci
  attempt "$python" tests/checks/blind_install.py portals
  attempt "$python" tests/checks/blind_install.py aries
  attempt "$python" tests/checks/blind_install.py xlupc
fi

if step "what a network and a kernel cost"; then
  attempt "$python" tests/checks/price.py
fi

if step "faults planted in what is timed come out unverified"; then
  attempt "$python" tests/checks/mutants.py
fi

if step "random commands, machines, calls and rank programs end in results or in one line"; then
  attempt "$python" tests/random_use overrides calls programs
  attempt "$python" tests/random_use commands --count 100
fi
