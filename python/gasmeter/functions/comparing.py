"""Compare stores and builds: `gasmeter.compare` and `gasmeter.check`, as the commands of these names do."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from gasmeter.arguments.choices import FEWEST_STARTS, UNDECIDED, Undecided, whole_number
from gasmeter.errors import UsageError
from gasmeter.guard import Judgement, Rules, judge, read_measured
from gasmeter.measuring.progress import Tell, told
from gasmeter.stores.files import RUN, is_there
from gasmeter.sweeps.experiment import Experiment
from gasmeter.units import parse_share

__all__ = ["check", "compare"]


def check(
    new: str | Path,
    *,
    baseline: str | Path,
    relevant: str | float = "2%",
    any_machine: bool = False,
    allow_missing: bool = False,
    undecided: Undecided = "fail",
) -> Judgement:
    """Judge a store against a baseline; notes on either store go to standard error.

    Parameters
    ----------
    new : str or Path
        Folder of the store.
    baseline : str or Path
        Folder of the reference store, measured on the same machine.
    relevant : str or float, default "2%"
        Smallest difference that counts, even if smaller ones are significant.
    any_machine : bool, default False
        Compare times of different machines, too.
    allow_missing : bool, default False
        Allow values of the baseline to be absent.
    undecided : {"fail", "ok"}, default "fail"
        Result of a check in which more than a fifth of the measured values stays undecided.

    Returns
    -------
    Judgement
        `status` is that of the command: 0 passed, 1 failed, 5 too much undecided and not ok. `findings` has an entry
        for each value; `gasmeter.guard.reports.render_judgement` makes tables of them.

    Raises
    ------
    UsageError
        If a store cannot be used: another machine, another schema, empty, cut off.

    Examples
    --------
    >>> for place in ("out/baseline", "out/new"):
    ...     _ = gm.measure("ping-pong", conduit="ideal", op="put", sizes=8, out=place)
    >>> gm.check("out/new", baseline="out/baseline").summary()
    'passed: 1 same'
    """
    if undecided not in UNDECIDED:
        raise UsageError(f"undecided is {undecided!r}; allowed: {', '.join(UNDECIDED)}", "undecided")
    rules = Rules(
        relevant=parse_share(relevant), any_machine=any_machine, allow_missing=allow_missing, undecided=undecided
    )
    stores = read_measured(baseline, what="baseline"), read_measured(new)
    for line in (line for store in stores for line in store.notes):
        print(line, file=sys.stderr)
    return judge(*stores, rules)


def compare(
    before: str | Path,
    after: str | Path,
    *,
    experiment: str | Path | Experiment | None = None,
    starts: int | None = None,
    full: bool = False,
    out: str | Path = "out/compare",
    planted: Mapping[str, object] | None = None,
    relevant: str | float = "2%",
    any_machine: bool = False,
    allow_missing: bool = False,
    undecided: Undecided = "fail",
    progress: Tell | Literal[False] | None = None,
) -> Judgement:
    """Compare two stores, or two builds that are measured in one run whose blocks alternate.

    Parameters
    ----------
    before, after : str or Path
        Stores, or builds: ``"installed"`` (this one), the path of a gasmeter-rank, of a Python or of a virtual
        environment, or a git revision, which is built into a cache folder on first use.
    experiment : str, Path or Experiment, optional
        Experiment to measure with two builds, a file or a name as in `gasmeter run`; 21 points on smp by default.
    starts : int, optional
        Process starts of each build; 22 by default, more for many points.
    full : bool, default False
        Measure with the experiment's own axes and budgets, not those of a quick run.
    out : str or Path, default "out/compare"
        Folder for the stores of two builds, ``a`` and ``b`` below it.
    planted : mapping, optional
        Debug options of `after` alone, such as ``{"debug_spin": "4%"}``, to test whether the comparison detects them.
    relevant, any_machine, allow_missing, undecided
        Parameters of `check`.
    progress : callable or False, optional
        Callback as in `gasmeter.measure`.

    Returns
    -------
    Judgement
        The findings, as from `check`.

    Raises
    ------
    UsageError
        If only one is a store, or either cannot be used.

    Examples
    --------
    Two stores; two builds of a checkout are compared by ``gm.compare("HEAD~1", "HEAD", starts=30)``.

    >>> for place in ("out/before", "out/after"):
    ...     _ = gm.measure("ping-pong", conduit="ideal", op="put", sizes=8, out=place)
    >>> gm.compare("out/before", "out/after").failed
    False
    """
    stored = [Path(place).is_dir() and is_there(Path(place), RUN) for place in (before, after)]
    if any(stored) and not all(stored):
        other = str(after if stored[0] else before)
        raise UsageError(f"{other!r} is no store, the other is one; allowed: two stores or two builds", other)
    if planted and all(stored):
        first = next(f"{key}={value}" for key, value in planted.items())
        raise UsageError(f"--plant {first} needs two builds; {before} and {after} are stores", first)
    places = (Path(before), Path(after))
    if starts is not None:
        whole_number(starts, "starts", FEWEST_STARTS)
    if not all(stored):
        places = _measured(
            str(before), str(after), experiment, Path(out), starts=starts or 0, full=full, planted=planted or {},
            progress=progress,
        )  # fmt: skip
    return check(
        places[1], baseline=places[0], relevant=relevant, any_machine=any_machine, allow_missing=allow_missing,
        undecided=undecided,
    )  # fmt: skip


def _measured(
    before: str, after: str, experiment: str | Path | Experiment | None, out: Path, *, starts: int, full: bool,
    planted: Mapping[str, object], progress: Tell | Literal[False] | None,
) -> tuple[Path, Path]:  # fmt: skip
    """Measure two builds; return the folders of their stores."""
    from gasmeter.guard.alternating import alternate  # noqa: PLC0415 - stores are compared without
    from gasmeter.guard.builds import find_build  # noqa: PLC0415
    from gasmeter.guard.suite import default_suite  # noqa: PLC0415
    from gasmeter.sweeps.loading import load_experiment  # noqa: PLC0415
    from gasmeter.sweeps.shipped import experiment_file  # noqa: PLC0415

    builds = [find_build(text) for text in (before, after)]
    for build in builds:
        print(f"{build.name}: {build.binary} ({build.facts['worker']})", file=sys.stderr)
    if experiment is None:
        what: Experiment = default_suite()
    else:
        what = experiment if isinstance(experiment, Experiment) else load_experiment(experiment_file(experiment))
    quick = not full and experiment is not None
    with told(progress) as tell:
        return alternate(what, builds, out, starts=starts, quick=quick, planted=planted, progress=tell)
