"""Interface of rows for modules that draw, fit or compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from gasmeter.rows.record import Record, Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Tidy"]


class Tidy(Protocol):
    """Rows with their records; `gasmeter.stores.result.Result` implements it."""

    @property
    def name(self) -> str:
        """Name of the experiment."""

    @property
    def title(self) -> str:
        """Title for plots and summaries."""

    @property
    def plots(self) -> tuple[Any, ...]:
        """Plots of the experiment."""

    @property
    def records(self) -> Sequence[Record]:
        """Records of all groups."""

    @property
    def runs(self) -> Sequence[Mapping[str, Any]]:
        """Runs that measured the rows, as in run.json."""

    @property
    def rows(self) -> list[Row]:
        """Every row."""

    def frame(self) -> pd.DataFrame:
        """Return the tidy table."""

    def link_tables(self) -> list[Row]:
        """Return the packed tables of links, each point once."""

    def disturbance(self, frame: pd.DataFrame | None = None) -> str:
        """Return the kind of the numbers and their disturbances."""
