"""Run published figures again: `gasmeter.reproduce`, as `gasmeter reproduce` does."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gasmeter.arguments.choices import Blind
from gasmeter.arguments.names import PaperName
from gasmeter.errors import UsageError
from gasmeter.measuring.progress import Tell, told
from gasmeter.papers.registry import figures_of, paper
from gasmeter.rendering.html_tables import html_table
from gasmeter.reproduction.judge.judged import Judged
from gasmeter.reproduction.report.claim_texts import quick_text, reproduced_text, score_line, verdict_text
from gasmeter.reproduction.report.digitised import read_digitised
from gasmeter.reproduction.report.marks import published_text
from gasmeter.stores.result import Result

if TYPE_CHECKING:
    from gasmeter.reproduction.run.running import Reproduction

__all__ = ["Reproduced", "reproduce", "reproduction_folder"]


@dataclass(frozen=True, repr=False)
class Reproduced:
    """Figures that were run again.

    Attributes
    ----------
    folder : Path
        Holds results.csv, claims.csv, report.html, run.json, plots and tables.
    reproduction : Reproduction
        Rows, verdicts and everything else of the run.
    """

    folder: Path
    reproduction: Reproduction

    @property
    def result(self) -> Result:
        """Rows of every point."""
        return self.reproduction.result

    @property
    def report(self) -> Path:
        """The page, one self-contained file."""
        return self.folder / "report.html"

    @property
    def judged(self) -> list[Judged]:
        """Verdicts on the statements of these figures."""
        figures = self.reproduction.plan.figures
        every = self.reproduction.judged
        return [entry for entry in every if entry.figure in figures or entry.judgement.verdict != "not_run"]

    @property
    def score(self) -> str:
        """The outcome in one line; a quick run tells its results as given, and decides nothing."""
        every = self.reproduction.judged
        if not every:
            return ""
        return quick_text(every) if self.reproduction.plan.quick else score_line(every)

    def __repr__(self) -> str:
        """Return the figures and the outcome in one line."""
        numbers = ", ".join(figure.number for figure in self.reproduction.plan.figures)
        summary = "; ".join(filter(None, [f"figures {numbers}", self.score, str(self.report)]))
        return f"<Reproduced {self.reproduction.plan.paper.name}: {summary}>"

    def _repr_html_(self) -> str:
        """Return a table with a line for each statement, published and reproduced beside each other."""
        lines = [
            [entry.claim.id, entry.claim.statement, published_text(entry.claim),
             reproduced_text(entry, entry.judgement) or "-",
             verdict_text(entry.judgement), entry.label]
            for entry in self.judged
        ]  # fmt: skip
        heads = ["claim", "statement", "published", "reproduced", "verdict", "label"]
        return html_table(self.result.title, self.score, heads, lines, remarks=[f"report: {self.report}"])


def reproduction_folder(name: str, out: str | Path | None = None) -> Path:
    """Return the folder of a paper's figures: `out`, or ``out/reproduce_PAPER``."""
    return Path(out) if out else Path("out") / f"reproduce_{name}"


def reproduce(
    name: PaperName | str,
    *,
    figures: str | int | Sequence[str | int] = (),
    out: str | Path | None = None,
    quick: bool = False,
    jobs: int | None = None,
    resume: bool = False,
    digitised: str | Path | None = None,
    blind: Blind | None = None,
    progress: Tell | Literal[False] | None = None,
    origin: Mapping[str, Any] | None = None,
) -> Reproduced:
    """Run the figures of a paper again and judge its statements.

    Parameters
    ----------
    name : str
        Name of the paper, for instance ``"extoll"``; see ``gasmeter list figures``.
    figures : str, int or sequence of these, optional
        Numbers of figures, also ``"12,15"``; every one that can be run by default.
    out : str or Path, optional
        Folder for rows, verdicts, report and plots; ``out/reproduce_PAPER`` by default.
    quick : bool, default False
        A quick look: fewer updates, no bands, so that nothing is decided.
    jobs : int, optional
        Points that run at the same time; one per core by default.
    resume : bool, default False
        Continue what the folder already holds.
    digitised : str or Path, optional
        A CSV of your own points (figure,series,x,y) to draw beside the results.
    blind : {"removed", "tripled"}, optional
        Judge with the paper's results removed or tripled.
    progress : callable or False, optional
        Callback as in `gasmeter.measure`.
    origin : mapping, optional
        Origins of options, for run.json.

    Returns
    -------
    Reproduced
        `result` with the rows, `judged` with the verdicts, `report`, the page.

    Raises
    ------
    UsageError
        If there is no such paper or figure, or the folder holds anything else.

    Examples
    --------
    >>> gm.reproduce("extoll", figures=8, quick=True).report
    PosixPath('out/reproduce_extoll/report.html')
    """
    paper_entry = paper(name)
    chosen = figures_of(paper_entry, _numbers(figures))
    points = read_digitised(Path(digitised), [figure.number for figure in chosen]) if digitised else ()
    place = reproduction_folder(paper_entry.name, out)
    from gasmeter.reproduction.report.writing import write_reproduction  # noqa: PLC0415
    from gasmeter.reproduction.run.running import reproduce as run_figures  # noqa: PLC0415 - who only names a wrong input waits for none of it

    with told(progress) as tell:
        reproduction = run_figures(
            paper_entry, chosen, out=place, quick=quick, jobs=jobs or os.cpu_count() or 1, resume=resume, blind=blind,
            progress=tell, origin=origin or {},
        )  # fmt: skip
    write_reproduction(reproduction, place, points)
    return Reproduced(place, reproduction)


def _numbers(figures: str | int | Sequence[str | int]) -> list[str]:
    given = [figures] if isinstance(figures, str | int) else list(figures)
    numbers = [number.strip() for item in given if item != "" for number in str(item).split(",")]
    if "" in numbers:
        raise UsageError(f"figures {figures!r} has an empty name; allowed: for instance 12,15", str(figures))
    return numbers
