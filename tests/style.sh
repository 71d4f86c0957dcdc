#!/usr/bin/env bash
# Check style and types of all files: ruff, clang-format, mypy, and files that programs write. Needs an installed gasmeter.
set -euo pipefail
cd "$(dirname "$0")/.."
# Install the tools that pyproject.toml names, but not the project: building it again takes minutes.
python -c 'import tomllib; extra = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]
print("\n".join(extra["test"] + extra["lint"]))' >build/ci-requirements.txt
python -m pip install --quiet --requirement build/ci-requirements.txt
ruff check .
ruff format --check .
git ls-files 'cpp/*.hpp' 'cpp/*.ipp' 'cpp/*.cpp' 'tests/*.hpp' 'tests/*.cpp' | xargs clang-format --dry-run --Werror
mypy
python tests/stub_is_current.py
python tests/catalogue_is_current.py
python tests/front_page.py
