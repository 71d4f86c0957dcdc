"""Read the machine code of the hot paths: no lock, no fence, no call through a table, few instructions.

A remote atomic has exactly one instruction that locks the bus.

usage: check_hot_paths.py OBJDUMP OBJECT_FILE

The straight paths of a function lead from its entry to a return without any call. A call leads to the slow path: the
ring is full, or the rank is no neighbour. Exits with 1 and one line per fault.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field

# Out-of-line functions for what a hot path does not cover.
SLOW_FUNCTIONS = ("put_far", "get_far", "4wait", "request_slow", "make_room", "zero_ahead", "zero_behind", "elsewhere")

# Most instructions on the longest straight path. g++ 12 makes 22, 22, 41 and 48, clang 14 21, 21, 50 and 58.
MOST_INSTRUCTIONS = {
    "hot_put_word": 26,
    "hot_get_word": 26,
    "hot_short_0": 56,
    "hot_short_2": 64,
    "hot_fetch_add_nb": 10,
    "hot_fetch_add_nbi": 10,
    "hot_fetch_add_wait": 10,
    "hot_handler_lock": 2,
}

# The one instruction that locks the bus in a function that is allowed one.
ATOMICS = {
    "hot_fetch_add_nb": "lock xadd",
    "hot_fetch_add_nbi": "lock xadd",
    "hot_fetch_add_wait": "lock xadd",
    "control_two_atomics": "lock xadd",
}

# Faults that the reader must find in the controls.
CONTROLS = {
    "control_locked_short": "locks the bus",
    "control_handler_lock": "locks the bus",
    "control_two_atomics": "locks the bus",
    "control_indirect_call": "through a pointer",
    "control_foreign_call": "calls memcpy",
}


@dataclass
class Instruction:
    """One instruction; ``symbol`` is what its relocation names, ``target`` where a jump inside the function goes."""

    address: int
    mnemonic: str
    operands: str
    symbol: str | None = None
    target: int | None = None


@dataclass
class Function:
    """The instructions of one symbol in order of address."""

    name: str
    code: list[Instruction] = field(default_factory=list)


def disassemble(objdump: str, path: str) -> dict[str, Function]:
    """Return every function of the object file by name."""
    text = subprocess.run(
        [objdump, "-dr", "--no-show-raw-insn", "--section=.text", path], check=True, capture_output=True, text=True
    ).stdout
    functions: dict[str, Function] = {}
    current: Function | None = None
    for line in text.splitlines():
        if match := re.match(r"^[0-9a-f]+ <([^>]+)>:$", line):
            current = functions.setdefault(match[1], Function(match[1]))
        elif current is None:
            continue
        elif match := re.match(r"^\s+[0-9a-f]+: R_\S+\s+([^\s+-]+)", line):
            current.code[-1].symbol = match[1]
        elif match := re.match(
            r"^\s+([0-9a-f]+):\s+((?:(?:lock|rep|repz|repnz|notrack|bnd|data16|cs)\s+)*)(\S+)\s*(.*)$", line
        ):
            operands = match[4].split("#")[0].strip()
            instruction = Instruction(int(match[1], 16), (match[2] + match[3]).strip(), operands)
            if jump := re.match(r"^([0-9a-f]+) <", operands):
                instruction.target = int(jump[1], 16)
            current.code.append(instruction)
    return functions


def is_call(instruction: Instruction) -> bool:
    """Tell whether control leaves the function: a call, or a jump to another symbol."""
    if instruction.mnemonic.startswith("call"):
        return True
    return instruction.mnemonic.startswith("j") and instruction.symbol is not None


def faults_of(function: Function) -> list[str]:
    """Return what must not stand anywhere in a hot function."""
    faults = []
    allowed = ATOMICS.get(function.name)
    for instruction in function.code:
        where = f"{function.name}+{instruction.address - function.code[0].address:#x}: "
        text = f"'{instruction.mnemonic} {instruction.operands}'"
        words = instruction.mnemonic.split()
        if allowed is not None and instruction.mnemonic == allowed:
            allowed = None
        elif "lock" in words or (words[-1].startswith("xchg") and "(" in instruction.operands):
            faults.append(where + f"{text} locks the bus")
        if words[-1] in {"mfence", "lfence", "sfence", "cpuid"}:
            faults.append(where + f"{text} is a fence")
        if words[-1].startswith(("call", "jmp")) and instruction.operands.startswith("*"):
            faults.append(where + f"{text} goes through a pointer")
        elif is_call(instruction):
            callee = instruction.symbol or "?"
            # .text.unlikely holds the parts of this function that its author called unlikely.
            if not callee.startswith(".text.unlikely") and not any(name in callee for name in SLOW_FUNCTIONS):
                faults.append(where + f"calls {callee}, which is no slow path")
    return faults


def straight_paths(function: Function) -> list[int]:
    """Return the number of instructions on every path from entry to return that makes no call."""
    places = {instruction.address: i for i, instruction in enumerate(function.code)}
    lengths: list[int] = []

    def follow(place: int, length: int, seen: frozenset[int]) -> None:
        while True:
            if place in seen:
                raise ValueError(f"{function.name}: a loop on the straight path")
            instruction = function.code[place]
            # Nothing is executed for padding, and the landing mark of an indirect branch costs nothing.
            length += 0 if instruction.mnemonic.startswith(("nop", "endbr", "cs nop", "data16")) else 1
            if instruction.mnemonic.split()[-1].startswith("ret"):
                lengths.append(length)
                return
            if is_call(instruction) and not instruction.mnemonic.startswith("j"):
                return
            if instruction.mnemonic.startswith("jmp"):
                if instruction.target not in places or instruction.symbol is not None:
                    return
                seen |= {place}
                place = places[instruction.target]
                continue
            if instruction.mnemonic.startswith("j") and instruction.symbol is None and instruction.target in places:
                follow(places[instruction.target], length, seen | {place})
            place += 1
            if place == len(function.code):
                return

    follow(0, 0, frozenset())
    return lengths


def check(objdump: str, path: str) -> list[str]:
    """Return the faults of an object file; print what was found."""
    functions = disassemble(objdump, path)
    faults = []
    for name, most in MOST_INSTRUCTIONS.items():
        if name not in functions:
            faults.append(f"{name} is not in {path}")
            continue
        faults += faults_of(functions[name])
        if name in ATOMICS and not any(i.mnemonic == ATOMICS[name] for i in functions[name].code):
            faults.append(f"{name}: has no '{ATOMICS[name]}'")
        paths = straight_paths(functions[name])
        if not paths:
            faults.append(f"{name}: no path without a call")
            continue
        print(f"{name}: {min(paths)} to {max(paths)} instructions on {len(paths)} straight paths (at most {most})")
        if max(paths) > most:
            faults.append(f"{name}: a straight path of {max(paths)} instructions; at most {most}")
    for name, expected in CONTROLS.items():
        result = faults_of(functions[name]) if name in functions else []
        if not any(expected in fault for fault in result):
            faults.append(
                f"{name}: a fault that says '{expected}' has to be found, or the check finds nothing: {result}"
            )
        else:
            print(f"{name}: found, as it has to be: {next(fault for fault in result if expected in fault)}")
    return faults


def main() -> int:
    """Run the check from the command line."""
    faults = check(sys.argv[1], sys.argv[2])
    for fault in faults:
        print("FAULT", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
