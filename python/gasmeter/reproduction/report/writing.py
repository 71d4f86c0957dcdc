"""Write claims.csv, plots, tables and report.html of a reproduction from its rows, in the folder of its store."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gasmeter.reproduction.judge.claims_table import claims_csv
from gasmeter.reproduction.plan.figure import Extra
from gasmeter.reproduction.report.digitised import Points
from gasmeter.reproduction.report.drawing import Picture, save
from gasmeter.reproduction.report.page import facts_of, pictures_of, report_html
from gasmeter.rows.pictures import embedded
from gasmeter.stores.files import refused, write_atomically

if TYPE_CHECKING:
    from gasmeter.reproduction.run.running import Reproduction

__all__ = ["write_reproduction"]


def write_reproduction(
    reproduction: Reproduction, folder: Path, digitised: Sequence[Points] = (), *, plots: bool = True
) -> list[Path]:
    """Write claims.csv, tables, report.html and, by default, plots into the store's folder; return the files.

    Raises UsageError or ResourceError if the folder cannot be written.
    """
    pictures = pictures_of(reproduction, digitised)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        drawn = pictures.values() if plots else ()
        written = [path for picture in drawn for path in save(picture, folder / "plots")]
        for number, tables in reproduction.tables.items():
            for at, table in enumerate(tables, 1):
                written.append(_write_table(table, folder / "tables" / f"figure_{number}_{at}.csv"))
        for name, text in (
            ("claims.csv", claims_csv(reproduction.judged)),
            ("report.html", _page(reproduction, pictures)),
        ):
            write_atomically(folder / name, text)
            written.append(folder / name)
    except OSError as error:
        raise refused(folder, error) from error
    return written


def _page(reproduction: Reproduction, pictures: Mapping[str, Picture]) -> bytes:
    text = report_html(reproduction, pictures=pictures)
    return embedded(text.encode(), "html", facts_of(reproduction))


def _write_table(table: Extra, path: Path) -> Path:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.heads, *table.rows])
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, text.getvalue())
    return path
