"""Experiments as values: a sweep with a name. Building one runs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, model_validator

from gasmeter.errors import UsageError
from gasmeter.sweeps.point import Group, Point
from gasmeter.sweeps.series import SPELT, Described, Plot, Series
from gasmeter.sweeps.sweep import plan

__all__ = ["Experiment"]


class Experiment(Described):  # noqa: PLW1641 - pydantic gives it a hash
    """A sweep with a name: series to measure, plots to draw.

    Attributes
    ----------
    name : str
        Name in every row and of the output folder; letters, digits, ``-`` and ``_``.
    title : str
        Title for people.
    question : str
        Question of the experiment in one or two sentences, for summary.md.
    series : tuple of Series
        Series to measure. For a single series its fields may be given here directly.
    plots : tuple of Plot
        Plots to draw; by default those that suit the rows.

    Examples
    --------
    >>> sweep = gm.Experiment(name="puts", kernel="ping-pong", op="put", conduit="ideal", sizes="8:64")
    >>> sweep.series[0].size
    (8, 16, 32, 64)
    >>> sweep.run(out="out/puts")
    <Result puts: 4 rows of 4 points, modelled, ping-pong put on ideal, data verified>
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")
    title: str = ""
    question: str = ""
    series: tuple[Series, ...] = Field(min_length=1)
    plots: tuple[Plot, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _single(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "kernel" not in data:
            return data
        if "series" in data:
            raise UsageError("give either 'series' or the fields of a single series ('kernel', …), not both", "kernel")
        names = {*Series.model_fields, *SPELT.values()}
        fields = {name: value for name, value in data.items() if name in cls.model_fields or name not in names}
        return {**fields, "series": (Series(**{name: value for name, value in data.items() if name not in fields}),)}

    def __eq__(self, other: object) -> bool:
        """Tell whether both describe the same experiment, even if only one of them can run."""
        return isinstance(other, Experiment) and dict(self) == dict(other)

    def groups(self, *, quick: bool = False, replace: Mapping[str, str] | None = None) -> list[Group]:
        """Return the points that are measured together, in order.

        Parameters
        ----------
        quick : bool, default False
            Use shorter axes and budgets.
        replace : mapping of str to str, optional
            Axis values that replace the experiment's, as ``--set`` gives them.

        Returns
        -------
        list of Group
            At least one group.

        Raises
        ------
        UsageError
            If a name, option, size or number of ranks is not allowed here.
        """
        return plan(self.series, quick=quick, replace=replace)

    def points(self, *, quick: bool = False, replace: Mapping[str, str] | None = None) -> list[Point]:
        """Return every point in the order measured; a point with two references stands twice.

        `quick` shortens axes and budgets, `replace` replaces axis values. Raises UsageError for a name, option, size or
        number of ranks that is not allowed.
        """
        return [point for group in self.groups(quick=quick, replace=replace) for point in group.points]
