"""What those ask of rows that draw, fit or compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from gasmeter.rows.record import Record, Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Tidy"]


class Tidy(Protocol):
    """Rows with their records: a `gasmeter.stores.result.Result`, which says what each of these is."""

    @property
    def name(self) -> str:
        """Name of the experiment."""

    @property
    def title(self) -> str:
        """Title for plots and summaries."""

    @property
    def plots(self) -> tuple[Any, ...]:
        """Plots the experiment asks for."""

    @property
    def records(self) -> Sequence[Record]:
        """What each group left."""

    @property
    def runs(self) -> Sequence[Mapping[str, Any]]:
        """The runs that measured it, as run.json has them."""

    @property
    def rows(self) -> list[Row]:
        """Every row."""

    def frame(self) -> pd.DataFrame:
        """Return the tidy table."""

    def link_tables(self) -> list[Row]:
        """Return the packed tables of links, each point once."""

    def disturbance(self, frame: pd.DataFrame | None = None) -> str:
        """Return what kind of numbers these are and what disturbed them."""
