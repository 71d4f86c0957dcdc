"""Checks that README and results/speed.md agree with the rows under results/; ``--write`` writes them anew.

Four things come from rows: README's picture, README's sentences about speed, README's sample output (in virtual time,
so that every machine prints the same) and the tables of results/speed.md. The picture's metadata hold the digest of its
rows, because other versions of the drawing library paint other pixels.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import io
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from gasmeter.measuring.summary import SPEED_HEADS, SpeedLine, markdown_table, speed_lines
from gasmeter.stores.files import check_files, read_content
from gasmeter.stores.store import open_result
from gasmeter.stores.tables import read_run
from gasmeter.sweeps.loading import load_experiment

ROOT = Path(__file__).resolve().parents[2]
PICTURE = "results/measured_and_modelled.png"
PAGES = ("README.md", "results/speed.md")
DIGEST = "Source"
"""Key of the picture's metadata under which its digest stands."""
SIZES = [2**power for power in range(3, 13)]  # 8 B to 4 KiB: what every line has


class Line(NamedTuple):
    """A line of the picture: its store, its conduit, the options in the store, and its label."""

    store: str
    conduit: str
    options: str
    machine: str
    name: str


LINES = (
    Line("first_look", "smp", "", "", "smp: shared memory"),
    Line("first_look", "udp", "", "", "udp: sockets, loopback"),
    Line("extoll", "extoll", "", "extoll", "extoll"),
    Line("extoll", "ibv", "", "ibv", "ibv: InfiniBand verbs"),
    Line("sci", "sci", "local=segment", "sci", "sci"),
    Line("sci", "gm", "local=segment", "gm", "gm: Myrinet"),
    Line("portals", "portals", "local=segment", "portals", "portals: Cray XT"),
)
SHORT = (
    ("`smp`", "smp_speed", ("Short AM round trip", "Short flood", "Barrier")),
    ("`udp`", "udp_speed", ("Short AM round trip", "Short flood", "RandomAccess")),
    ("`mpi`", "mpi_speed", ("Short AM round trip", "Short flood (", "RandomAccess")),
    ("shared arrays", "shared_speed", ("A get that hits beyond", "A get that hits / core's get on mpi")),
)
"""Short table of results/speed.md: what is measured, the experiment, and how its lines begin."""


def rows_of(name: str) -> pd.DataFrame:
    """Return the rows of a published store as text, which is fast: a store has 75 804 rows."""
    place = ROOT / "results" / name
    check_files(place, read_run(place) or {}, needed=("results.csv",))
    numbers = {name: [""] for name in ("ci_low", "ci_high", "min", "p50", "p99", "host_state_ns")}
    content = io.BytesIO(read_content(place, "results.csv"))
    return pd.read_csv(content, keep_default_na=False, na_values=numbers, dtype={"verified": str})


def drawn() -> pd.DataFrame:
    """Return the rows of the picture, in the order of `LINES`."""
    frames = {name: rows_of(name) for name in dict.fromkeys(x.store for x in LINES)}
    parts = []
    for number, line in enumerate(LINES):
        rows = frames[line.store].query("kernel == 'ping-pong' and op == 'am-medium' and metric == 'round_trip'")
        rows = rows[(rows["conduit"] == line.conduit) & (rows["options"] == line.options)]
        rows = rows[(rows["machine"] == line.machine) & rows["size_bytes"].isin(SIZES)]
        # A point that several figures need has a row for each; one that two comparisons measured keeps the first.
        rows = rows.drop_duplicates("size_bytes").sort_values("size_bytes")
        if len(rows) < 4 or not (rows["state"] == "good").all() or not (rows["verified"].str.lower() == "true").all():
            raise SystemExit(f"results/{line.store}: {line.conduit} has too few good rows for {PICTURE}")
        parts.append(rows.assign(line=number))
    return pd.concat(parts, ignore_index=True)


def digest(rows: pd.DataFrame) -> str:
    """Return the digest of these rows and of this file's code that draws them."""
    names = ["line", "kind", "size_bytes", "value", "ci_low", "ci_high", "unit", "semantics"]
    return hashlib.sha256(
        f"{LINES}{inspect.getsource(draw)}{rows[names].to_csv(index=False, float_format='%.9g')}".encode()
    ).hexdigest()


def draw(rows: pd.DataFrame) -> None:
    """Draw the picture."""
    from gasmeter.plots.palette import line_style, marker_of, of_conduit
    from gasmeter.plots.style import Drawing, plain_log_labels, size_axis, styled

    with styled():
        figure = Drawing(figsize=(7.6, 4.2))
        axes = figure.add_subplot()
        axes.set_yscale("log")
        placed = size_axis(axes, rows)
        ends = []
        for number, line in enumerate(LINES):
            points = placed[placed["line"] == number]
            modelled = points["kind"].iloc[0] == "modelled"
            across, up = points["x"].to_numpy(float), points["value"].to_numpy(float) / 1000
            look = {
                "color": of_conduit(line.conduit), "marker": marker_of(line.conduit),
                "ls": line_style(line.conduit, modelled=modelled),
            }  # fmt: skip
            axes.plot(across, up, lw=1.4 if modelled else 2.2, **look)
            if not modelled:
                low, high = (points[name].to_numpy(float) / 1000 for name in ("ci_low", "ci_high"))
                axes.fill_between(across, low, high, color=look["color"], alpha=0.2, lw=0)
            ends.append((up[-1], across[-1], f"{line.name} ({'modelled' if modelled else 'measured'})", look["color"]))
        axes.set_ylim(0.1, 200)
        plain_log_labels(axes.yaxis, lambda value: f"{value:g}")
        floor = 0.0  # labels at the ends of lines keep a line's height apart
        for height, place, text, colour in sorted(ends):
            floor = max(height, floor * 1.3)
            axes.annotate(
                text, (place, height), (12.4, floor), fontsize=8, color="0.15", va="center",
                arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.8, "shrinkA": 1, "shrinkB": 3},
            )  # fmt: skip
        axes.set_xlim(2.8, 16.4)
        axes.set_xlabel("payload there and back")
        axes.set_ylabel("round trip, µs")
        axes.set_title("One program, measured on this host and modelled on five networks it does not have")
        modelled = "modelled: exact virtual time, a node each, machines as their files stand"
        figure.supxlabel(
            f"ping-pong am-medium, 2 ranks · measured: wall clock, one host, band: 95 % · {modelled}",
            fontsize=7, x=0.01, ha="left",
        )  # fmt: skip
        figure.savefig(ROOT / PICTURE, metadata={DIGEST: digest(rows), "Software": None})


def experiment_lines(name: str) -> list[SpeedLine]:
    """Return the lines of a published store about its experiment's targets."""
    return speed_lines(load_experiment(ROOT / "experiments" / f"{name}.py"), open_result(ROOT / "results" / name))


def engine_lines() -> list[SpeedLine]:
    """Return the lines of results/engine_speed about its targets."""
    spec = importlib.util.spec_from_file_location("engine_speed", ROOT / "experiments" / "engine_speed.py")
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = program
    spec.loader.exec_module(program)
    lines = []
    for row in open_result(ROOT / "results" / "engine_speed").rows:
        line = next(line for line in program.LINES if line.what == row["semantics"])
        factor = program.METRICS[line.unit][2]
        lines.append(program.told_as(line, tuple(row[end] / factor for end in ("value", "ci_low", "ci_high"))))
    return lines


def short_table() -> str:
    """Return the short table of results/speed.md: three lines of each real conduit, and of shared arrays."""
    lines = []
    for about, name, starts in SHORT:
        for line in experiment_lines(name):
            if line[0].startswith(starts):
                lines.append([about, line[0], *line[1:]])
    return markdown_table(("of", *SPEED_HEADS), lines)


def speeds() -> str:
    """Return README's five sentences about speed, with medians of published rows."""
    published = [(name, line) for name in ("smp_speed", "udp_speed", "mpi_speed", "shared_speed")
                 for line in experiment_lines(name)]  # fmt: skip

    def line_of(name: str, start: str, holds: str = "") -> SpeedLine:
        (line,) = (line for of, line in published if of == name and line[0].startswith(start) and holds in line[0])
        return line

    def times(name: str, start: str, holds: str = "") -> str:
        _, value, _, limit, reached = line_of(name, start, holds)
        return f"{float(value):#.3g} times" + f" (misses our limit {limit})" * (reached == "no")

    round_trip = "Short AM round trip"
    cached = line_of("shared_speed", "A get that hits beyond")[1]
    simulated = next(line[1] for line in engine_lines() if line[0].startswith("random 64 B puts, 512 ranks"))
    lines = [
        f"- Shared memory: a short message with its reply takes {times('smp_speed', round_trip)} as long as"
        " bare memory.",
        f"- UDP: it takes {times('udp_speed', round_trip)} as long as a bare socket. Packing many messages"
        f" into one datagram sends {times('udp_speed', 'Short flood')} as many messages a second.",
        f"- MPI: it takes {times('mpi_speed', round_trip, 'mpich')} as long as bare MPICH, and"
        f" {times('mpi_speed', round_trip, 'openmpi')} as long as bare Open MPI.",
        f"- Shared arrays: reaching an element by its cached address adds {cached} to a plain get.",
        f"- Virtual time: one core simulates {simulated.removesuffix(' M/s')} million random 64 B puts a second"
        " (512 ranks on a 3D torus).",
    ]
    return "".join(textwrap.fill(line, 100, subsequent_indent="  ") + "\n" for line in lines)


SAMPLE = "gasmeter measure ping-pong --op am-short --conduit extoll --against raw@extoll"


def sample() -> str:
    """Return a command of README and what it prints."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    command = [sys.executable, "-m", *SAMPLE.split()]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    lines = [line.rstrip() for line in done.stdout.strip().splitlines()]
    return "```text\n$ " + SAMPLE + "\n" + "\n".join(lines) + "\n```\n"


BLOCKS: dict[str, Callable[[], str]] = {
    "short": short_table,
    "speeds": speeds,
    "sample": sample,
    "engine_speed": lambda: markdown_table(SPEED_HEADS, engine_lines()),
    **{
        name: lambda name=name: markdown_table(SPEED_HEADS, experiment_lines(name))
        for name in ("smp_speed", "udp_speed", "mpi_speed", "shared_speed", "messages_speed", "vis_speed")
    },
}
"""By the name between ``<!-- rows: NAME -->`` and ``<!-- end -->``: what stands there."""


def renewed(text: str, blocks: dict[str, Callable[[], str]]) -> str:
    """Return a page with its blocks as they have to be.

    Parameters
    ----------
    text : str
        The page.
    blocks : dict of str to callable
        By name.

    Returns
    -------
    str
        The page.
    """

    def block(match: re.Match[str]) -> str:
        return f"<!-- rows: {match[1]} -->\n{blocks[match[1]]()}<!-- end -->"

    return re.sub(r"<!-- rows: (\w+) -->\n.*?<!-- end -->", block, text, flags=re.DOTALL)


def stale(write: bool) -> Iterator[str]:
    """Yield the files that are not current; with `write`, renew them."""
    for name in PAGES:
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        meant = renewed(text, BLOCKS)
        if text != meant:
            if write:
                page.write_text(meant, encoding="utf-8")
            yield name
    rows = drawn()
    if digest_of(ROOT / PICTURE) != digest(rows):
        if write:
            draw(rows)
        yield PICTURE


def digest_of(picture: Path) -> str:
    """Return the digest of the rows that a picture was drawn from; nothing if there is no picture."""
    from PIL import Image

    if not picture.exists():
        return ""
    with Image.open(picture) as image:
        facts: dict[str, Any] = dict(image.info)
    return str(facts.get(DIGEST, ""))


def main(arguments: Sequence[str]) -> int:
    """Compare pages and picture with the rows, or write them; return the exit status."""
    write = "--write" in arguments
    pages = list(stale(write))
    state = "written" if write else "is not what results/ says; run `python tests/checks/front_page.py --write`"
    for name in pages:
        print(f"{name}: {state}")
    if not pages:
        print(f"{', '.join([*PAGES, PICTURE])}: as the rows under results/ say")
    return 1 if pages and not write else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
