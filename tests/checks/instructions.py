"""Count by callgrind the instructions of operations that figures rest on; no change of the build may move them.

    python tests/checks/instructions.py PROGRAM [BEFORE]

PROGRAM is `instructions`, which a build of the tests leaves in its folder `tests/cpp`. BEFORE is the same program of
another build; a case may take one per cent more than there. Each case runs twice on one thread, with different numbers
of operations, so that the rest of the program cancels out. The script prints a table. Status 1 if a case takes more,
status 3 without valgrind.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

CASES = {
    "small-memory": 100_000,
    "large-memory": 100_000,
    "fold-1": 100_000,
    "fold-32": 100_000,
    "sort-3": 100_000,
    "nest-1": 100_000,
    "nest-32": 100_000,
    "put-smp": 2_000_000,
    "short-smp": 100_000,
    "short-udp": 8_000,
    "put-model": 16,
}
"""Operations of the shorter run (of each rank in put-model). The longer run has twice as many.

The numbers are large, so that the start of a run, which calibrates a clock, does not show."""
RANKS = {"put-model": 512}
ALLOWED = 0.01


def executed(program: str, case: str, count: int) -> int:
    """Return the instructions of one run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, case, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    match = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or match is None:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}: {done.stderr[-300:]}")
    return int(match[1])


def per_operation(program: str, case: str) -> float:
    """Return the instructions of one operation."""
    count = CASES[case]
    more = executed(program, case, 2 * count) - executed(program, case, count)
    return more / (count * RANKS.get(case, 1))


def main() -> int:
    """Print the counts, beside those of the other program if one is given."""
    programs = sys.argv[1:]
    if not 1 <= len(programs) <= 2:
        print("usage: instructions.py PROGRAM [BEFORE]", file=sys.stderr)
        return 2
    if shutil.which("valgrind") is None:
        print("Error: no valgrind; install the package valgrind", file=sys.stderr)
        return 3
    status = 0
    print(f"{'case':<12} {'instructions':>13}" + (f" {'before':>10} {'moved':>8}" if len(programs) == 2 else ""))
    for case in CASES:
        try:
            counts = [per_operation(program, case) for program in programs]
        except RuntimeError as error:
            print(f"Error: {error}", file=sys.stderr)
            return 1
        line = f"{case:<12} {counts[0]:>13.1f}"
        if len(counts) == 2:
            moved = counts[0] / counts[1] - 1
            line += f" {counts[1]:>10.1f} {100 * moved:>+7.2f}%"
            if moved > ALLOWED:
                status = 1
        print(line, flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
