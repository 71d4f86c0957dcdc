"""`gasmeter.Experiment`: an experiment that can be run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from gasmeter.sweeps import experiment

if TYPE_CHECKING:
    from gasmeter.arguments.names import KernelName
    from gasmeter.measuring.execution import Progress
    from gasmeter.measuring.runner import Runner
    from gasmeter.stores.result import Result
    from gasmeter.sweeps.given import Conduits, Fields
    from gasmeter.sweeps.series import Plot, Series, Target

__all__ = ["Experiment"]


class Experiment(experiment.Experiment):  # noqa: D101 - one text for both
    __doc__ = experiment.Experiment.__doc__

    if TYPE_CHECKING:  # arguments that the validators accept: several series, or the fields of a single one

        @overload
        def __init__(
            self,
            *,
            name: str,
            title: str = "",
            question: str = "",
            series: Sequence[Series],
            plots: Sequence[Plot] = (),
        ) -> None: ...

        @overload
        def __init__(
            self,
            *,
            name: str,
            title: str = "",
            question: str = "",
            plots: Sequence[Plot] = (),
            kernel: KernelName | str,
            conduit: Conduits,
            target: Target | None = None,
            **fields: Unpack[Fields],
        ) -> None: ...

        def __init__(self, **data: Any) -> None: ...

    def run(
        self,
        out: str | Path | None = None,
        *,
        quick: bool = False,
        replace: Mapping[str, str] | None = None,
        jobs: int = 1,
        resume: bool = False,
        runner: Runner | None = None,
        progress: Callable[[Progress], None] | Literal[False] | None = None,
        origin: Mapping[str, Any] | None = None,
        revision: str = "",
    ) -> Result:
        """Measure every point.

        Parameters
        ----------
        out : str or Path, optional
            Folder for rows, samples, plots and summary; nothing is written without one.
        quick : bool, default False
            Shorter axes and budgets.
        replace : mapping of str to str, optional
            Axis values that replace the experiment's.
        jobs : int, default 1
            Modelled points that run at the same time; measured points always run alone.
        resume : bool, default False
            Continue what the folder already holds.
        runner : Runner, optional
            Runner to use; by default a new one whose worker processes end with the run.
        progress : callable or False, optional
            Callback before and after every group; by default there is a bar in notebooks and on terminals, with False
            none.
        origin : mapping, optional
            Origins of options (command line, environment), for run.json.
        revision : str, optional
            Revision under measurement, for run.json; by default from the variables of a CI (``GITHUB_SHA``, …), then
            from git in the working directory.

        Returns
        -------
        Result
            Every row, including those already in the folder.

        Raises
        ------
        UsageError
            If a value is not allowed, or the folder holds another experiment.
        ResourceError
            If the folder cannot be written or the machine lacks memory; finished groups are kept.
        BrokenJob
            If a rank died; finished groups are kept.
        """
        from gasmeter.measuring.execution import Run, execute  # noqa: PLC0415 - a description needs no numerics
        from gasmeter.measuring.progress import told  # noqa: PLC0415

        with told(progress) as tell:
            run = Run(
                out=out, quick=quick, replace=replace or {}, jobs=jobs, resume=resume, runner=runner, progress=tell,
                origin=origin or {}, revision=revision,
            )  # fmt: skip
            return execute(self, run)

    def resume(self, out: str | Path, **settings: Any) -> Result:
        """Continue a run that was interrupted or has grown.

        Parameters
        ----------
        out : str or Path
            Folder of the earlier run.
        **settings
            Parameters of `run`.

        Returns
        -------
        Result
            Every row, old and new.
        """
        return self.run(out, resume=True, **settings)
