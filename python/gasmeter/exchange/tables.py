"""Tables in the text of other tools: patterns describe a tool, and one reader reads them all.

A table begins below a head and ends at the next title, setting, head or comment that the tool's description does not
know. Cells belong to the heads above them. Any other line, such as a message of mpirun, is left out with a note.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from gasmeter.exchange.quantities import NUMBER, Quantity, bad_line, number, options_text, slug, whole
from gasmeter.sweeps.point import NOT_CHECKED

__all__ = ["Column", "Form", "Row", "Table", "quantities", "read_form", "read_tables"]

_ABSENT = "N/A"
_NUMERIC = re.compile(rf"{NUMBER}|{_ABSENT}", re.IGNORECASE)
_NUMBERLIKE = re.compile(r"[-+]?\.?[0-9]|[-+]?(inf|nan)\b", re.IGNORECASE)
_INSTEAD = re.compile(r"\s(out[- ]of[- ]mem|int-overflow|time-?out)\b.*", re.IGNORECASE)
_RANKS = ("ranks", "pairs", "groups", "processes")
_SHOWN = 80


@dataclass(frozen=True)
class Column:
    """A column of a tool's tables."""

    head: str  # pattern of its whole head; groups ``metric`` and ``unit`` replace missing ones below
    # ``size``, ``n``, ``value``, ``minimum``, ``p50``, ``p99``, ``option``, ``check``, or ``rest`` for values without a
    # place in rows
    holds: str
    name: str = ""  # metric of a value, or name of an option
    unit: str = ""  # unit of a value
    factor: float = 1.0  # from the printed unit to the row's; 0 if other columns decide
    cells: str = ""  # pattern of its cells; numbers by default
    bad: str = ""  # pattern of a check's cells for wrong data; other cells except `cells` say nothing
    blank: bool = False  # whether cells may be blank

    def takes(self, cell: str) -> bool:
        """Tell whether a cell can belong to the column."""
        return bool(re.fullmatch(self.cells, cell) if self.cells else _NUMERIC.fullmatch(cell))


@dataclass(frozen=True)
class Form:
    """Layout of a tool's text."""

    head_line: re.Pattern[str]  # line of heads
    head: re.Pattern[str]  # each head in it
    columns: tuple[Column, ...]  # known columns; the first of two with one metric counts
    titles: tuple[re.Pattern[str], ...] = ()  # lines that name a benchmark (group ``title``); other groups are settings
    # Lines with settings, by group: ``ranks``, ``rank``, ``pairs``, ``groups`` and ``processes`` count ranks, ``n``
    # repetitions, others are options
    settings: tuple[re.Pattern[str], ...] = ()
    beside: tuple[re.Pattern[str], ...] = ()  # settings in the line of a title
    closing: tuple[re.Pattern[str], ...] = ()  # lines below a table that belong to it, by group
    begins: re.Pattern[str] | None = None  # line that stands once below each title; a second one ends the title
    aside: re.Pattern[str] = re.compile(r"#\s*[-=]*\s*$")  # comments that do not end a table
    pairs: re.Pattern[str] | None = None  # row with its own heads: ``head: cell`` joined by commas in group ``pairs``
    ranks: int = 0  # ranks of every benchmark of the tool; 0 if they differ
    places: tuple[str, ...] = ()  # values of option ``place`` for columns with the same head, from left to right


@dataclass(frozen=True)
class _Head:
    text: str
    start: int
    end: int
    column: Column
    turn: int
    """Number of equal heads to the left."""


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    line: int  # its number, from 1
    cells: tuple[str, ...]  # a cell for each head; empty if blank
    instead: str = ""  # words in place of numbers


@dataclass
class Table:
    """A table of an output."""

    title: str  # benchmark, as printed
    facts: dict[str, str]  # settings, as printed
    heads: list[_Head] = field(default_factory=list)  # column heads
    rows: list[Row] = field(default_factory=list)

    def cell(self, row: Row, holds: str, turn: int = 0) -> str:
        """Return the cell of the first column for `holds`, or an empty text."""
        return next(
            (row.cells[at] for at, head in enumerate(self.heads) if (head.column.holds, head.turn) == (holds, turn)), ""
        )


def read_tables(form: Form, text: str, name: str, notes: list[str], title: str = "") -> list[Table]:
    """Return the tables with rows in a tool's outputs; `title` names the benchmark if the text does not.

    `notes` gets a line for each omission. Raises UsageError with file and line for a row that is cut off, damaged or
    without heads.
    """
    return _Reader(form, name, notes, title).read(text)


class _Reader:
    """The state between two lines: current title and settings, and the open table."""

    def __init__(self, form: Form, name: str, notes: list[str], title: str) -> None:
        self.form, self.name, self.notes, self.untitled = form, name, notes, title
        self.title, self.titled, self.before = title, 0, 0
        self.facts: dict[str, str] = {}
        self.table: Table | None = None
        self.tables: list[Table] = []
        self.begun = False

    def read(self, text: str) -> list[Table]:
        for line, words in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
            if words.strip():
                self._line(line, words)
        self._entitle(self.untitled, 0)
        return [table for table in self.tables if table.rows]

    def _line(self, line: int, words: str) -> None:
        form = self.form
        if form.begins and form.begins.match(words) and len(self.tables) > self.before:
            self._entitle(self.untitled, 0)
        if match := _first(form.titles, words):
            self._entitle(match["title"].strip(), line)
            self._settle(match)
            for beside in filter(None, (pattern.search(words) for pattern in form.beside)):
                self._settle(beside)
        elif form.pairs and (match := form.pairs.match(words)):
            self._own_heads(line, match["pairs"])
        elif form.head_line.match(words):
            self._open(line, words)
        elif match := _first(form.closing, words):
            if self.tables:
                self.tables[-1].facts.update(_groups(match))
            self.table = None
        elif match := _first(form.settings, words):
            self.table = None
            self._settle(match)
        elif words.lstrip().startswith("#"):
            if not form.aside.match(words) and (self.table is not None or re.search(r"\btest\b", words, re.IGNORECASE)):
                self._entitle(self.untitled, 0)
        elif _NUMBERLIKE.match(words.lstrip()):
            self._row(line, words)

    def _entitle(self, title: str, line: int) -> None:
        """Begin another benchmark; add a note if the one before gave nothing."""
        if self.titled and title != self.title and not any(table.rows for table in self.tables[self.before :]):
            self.notes.append(f"line {self.titled}: {self.title[:_SHOWN]!r} is left out: no row of it is known")
        self.title, self.titled, self.facts, self.table, self.before = title, line, {}, None, len(self.tables)

    def _settle(self, match: re.Match[str]) -> None:
        self.begun = True
        facts = _groups(match)
        if rank := facts.pop("rank", ""):
            facts["ranks"] = str(max(int(self.facts.get("ranks", "0")), int(rank) + 1))
        self.facts |= {key: value for key, value in facts.items() if key != "title"}

    def _open(self, line: int, words: str) -> None:
        heads: list[_Head] = []
        comment = len(words) - len(words.lstrip("# \t")) if words.lstrip().startswith("# ") else 0
        for match in self.form.head.finditer(words, comment):
            column = self._column(match[0])
            if column is None:
                self.notes.append(f"line {line}: column {match[0][:_SHOWN]!r} is left out: it is not known")
                column = Column(".*", "rest", cells=".*")
            turn = sum(head.text == match[0] for head in heads)
            start = match.start() if heads else 0  # rows begin at the # of a head
            heads.append(_Head(match[0], start, match.end(), column, turn))
        self._add(heads)

    def _add(self, heads: list[_Head]) -> None:
        self.begun = True
        self.table = Table(self.title, dict(self.facts), heads)
        self.tables.append(self.table)

    def _column(self, head: str) -> Column | None:
        for column in self.form.columns:
            if match := re.fullmatch(column.head, head):
                groups = _groups(match)
                named = column.name or slug(groups.get("metric", "")).replace("-", "_")
                return replace(column, name=named, unit=column.unit or groups.get("unit", ""))
        return None

    def _own_heads(self, line: int, words: str) -> None:
        pairs = [entry.partition(":")[::2] for entry in words.split(",")]
        texts = [head.strip() for head, _ in pairs]
        if self.table is None or [head.text for head in self.table.heads] != texts:
            columns = ((text, self._column(text) or Column(".*", "rest", cells=".*")) for text in texts)
            self._add([_Head(text, 0, 0, column, 0) for text, column in columns])
        self._row(line, " ".join(cell.strip() for _, cell in pairs))

    def _row(self, line: int, words: str) -> None:
        cells = [(match[0], match.start(), match.end()) for match in re.finditer(r"\S+", words)]
        texts = [cell for cell, _, _ in cells]
        if self.table is None:
            if self.begun and len(texts) > 1 and all(_NUMERIC.fullmatch(cell) for cell in texts[:2]):
                raise bad_line(self.name, line, f"numbers without a header that says what they are: {_short(words)}")
            return
        heads = self.table.heads
        if instead := _INSTEAD.search(words):
            texts = words[: instead.start()].split()
            if len(texts) <= len(heads) and all(map(_takes, heads, texts)):
                filled = [*texts, *[""] * (len(heads) - len(texts))]
                self.table.rows.append(Row(line, tuple(filled), instead[0].strip()))
                return
        if len(texts) != len(heads) and len(texts) > 1 and not any(map(_NUMBERLIKE.match, texts[1:])):
            self.notes.append(f"line {line}: left out, no row of the table: {_short(words)}")
            return
        self.table.rows.append(Row(line, self._laid(line, cells, heads)))

    def _laid(self, line: int, cells: Sequence[tuple[str, int, int]], heads: Sequence[_Head]) -> tuple[str, ...]:
        """Return a cell for each head: by order, by what the columns can hold, or by horizontal position."""
        texts = [cell for cell, _, _ in cells]
        if len(texts) == len(heads):
            for cell, head in zip(texts, heads, strict=True):
                if not head.column.takes(cell):
                    what = "" if head.column.cells else " is not a number"
                    raise bad_line(
                        self.name, line, f"{cell[:_SHOWN]!r}{what or f' is no value of column {head.text!r}'}"
                    )
            return tuple(texts)
        laid = _placed(cells, heads) or _fitting(texts, heads)
        if not laid:
            raise bad_line(
                self.name, line,
                f"{len(texts)} columns where the header has {len(heads)}; is the file cut off? "
                + _short(" ".join(texts)),
            )  # fmt: skip
        by_head = dict(zip(map(id, laid), texts, strict=True))
        if nameless := next((head for head in heads if head.column.holds == "size" and id(head) not in by_head), None):
            raise bad_line(self.name, line, f"column {nameless.text!r} is blank: {_short(' '.join(texts))}")
        return tuple(by_head.get(id(head), "") for head in heads)


def _takes(head: _Head, cell: str) -> bool:
    return head.column.takes(cell)


def _placed(cells: Sequence[tuple[str, int, int]], heads: Sequence[_Head]) -> list[_Head]:
    """Return the heads right above cells; none if that is ambiguous, or no cell stands below the last head."""
    above = [
        [head for head in heads if abs(head.end - end) <= 1 or abs(head.start - start) <= 1] for _, start, end in cells
    ]
    taken = [names[0] for names in above if len(names) == 1]
    clear = len(taken) == len(cells) == len(set(map(id, taken))) and taken[-1] is heads[-1]
    return taken if clear and all(map(_takes, taken, (cell for cell, _, _ in cells))) else []


def _fitting(texts: Sequence[str], heads: Sequence[_Head]) -> list[_Head]:
    """Return the heads of cells if only one assignment with blank options is possible."""
    blanks = [at for at, head in enumerate(heads) if head.column.blank]
    missing = len(heads) - len(texts)
    fitting = [
        taken
        for left_out in (itertools.combinations(blanks, missing) if missing > 0 else ())
        if all(map(_takes, taken := [head for at, head in enumerate(heads) if at not in left_out], texts))
    ]
    return fitting[0] if len(fitting) == 1 else []


def _first(patterns: Sequence[re.Pattern[str]], words: str) -> re.Match[str] | None:
    return next(filter(None, (pattern.match(words) for pattern in patterns)), None)


def _groups(match: re.Match[str]) -> dict[str, str]:
    return {key: value.strip() for key, value in match.groupdict().items() if value}


def _short(words: str) -> str:
    text = " ".join(words.split())
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def read_form(form: Form, text: str, name: str, notes: list[str] | None = None, op: str = "") -> Iterator[Quantity]:
    """Yield the quantities in outputs whose tables say everything; `op` names the benchmark if the text does not.

    `notes` gets a line for each omission. Raises UsageError with file and line for a table that is cut off or damaged.
    """
    for table in read_tables(form, text, name, [] if notes is None else notes, op):
        yield from quantities(form, table, name)


def quantities(form: Form, table: Table, name: str, *, factor: float = 0.0) -> Iterator[Quantity]:
    """Yield a quantity for each value in a table's rows, also for words in place of a value.

    `factor` replaces a column's factor of 0; if both are 0, the column is left out. Raises UsageError if a size or a
    count is no number.
    """
    chosen: dict[tuple[str, int], int] = {}
    for column in form.columns:
        for at, head in enumerate(table.heads):
            if head.column.holds == "value" and re.fullmatch(column.head, head.text):
                chosen.setdefault((head.column.name, head.turn), at)
    for row in table.rows:
        base = _base(form, table, row, name)
        for at, head in enumerate(table.heads):
            column = head.column
            if chosen.get((column.name, head.turn)) != at or not (scale := column.factor or factor):
                continue
            if column.unit == "B/s" and base.size_bytes == 0:
                continue  # nothing passes, whatever the rate
            verified, fault = _verified(table, row, head.turn)
            cell = row.cells[at]
            value = _value(row, cell, name) * scale
            printed = re.fullmatch(NUMBER, cell, re.IGNORECASE)
            note = row.instead or ("" if printed else f"{column.name} is {cell or 'blank'}")
            quantity = replace(
                base, metric=column.name, unit=column.unit, value=value, semantics=f"{table.title}: {head.text}",
                verified=verified, fault=fault, note=note,
            )  # fmt: skip
            if len(form.places) > head.turn:
                place = form.places[head.turn]
                options = options_text({**_options(table, row), "place": place})
                quantity = replace(quantity, options=options, semantics=f"{quantity.semantics}, {place}")
            if column.unit == "ns":
                least, middle, tail = (_value(row, table.cell(row, h), name) for h in ("minimum", "p50", "p99"))
                quantity = replace(quantity, minimum=least * scale, p50=middle * scale, p99=tail * scale)
            yield quantity


def _base(form: Form, table: Table, row: Row, name: str) -> Quantity:
    size = table.cell(row, "size")
    facts = {key: whole(table.facts[key], name, row.line) for key in ("n", *_RANKS) if key in table.facts}
    ranks = facts.get("ranks", 0) or 2 * facts.get("pairs", 0) or facts.get("groups", 0) * facts.get("processes", 0)
    ranks = whole(str(ranks), name, row.line)
    repetitions = table.cell(row, "n")
    no_payload = "barrier" in table.title.lower() and not any(head.column.holds == "size" for head in table.heads)
    return Quantity(
        op=slug(table.title), metric="", unit="", value=math.nan, semantics="", line=row.line,
        size_bytes=_bytes(size, name, row.line) if size else 0 if no_payload else None, ranks=ranks or form.ranks,
        n=_count(repetitions, name, row.line) if repetitions else facts.get("n", 0),
        options=options_text(_options(table, row)),
    )  # fmt: skip


def _options(table: Table, row: Row) -> dict[str, str]:
    columns = {
        head.column.name: cell
        for head, cell in zip(table.heads, row.cells, strict=True)
        if head.column.holds == "option"
    }
    return {key: value for key, value in {**table.facts, **columns}.items() if key not in ("n", "verdict", *_RANKS)}


def _bytes(cell: str, name: str, line: int) -> int:
    """Return a size, possibly with a decimal and a suffix: ``1.5k``."""
    if cell[-1:] in "kmg":
        return int(float(cell[:-1]) * 2.0 ** (10 * (1 + "kmg".index(cell[-1]))))
    return whole(cell, name, line)


def _count(cell: str, name: str, line: int) -> int:
    """Return a count, possibly with a suffix of tens: ``10k``."""
    if cell[-1:] in "kmb":
        return int(cell[:-1]) * {"k": 10**3, "m": 10**6, "b": 10**9}[cell[-1]]
    return whole(cell, name, line)


def _value(row: Row, cell: str, name: str) -> float:
    return number(cell, name, row.line) if cell and cell.upper() != _ABSENT else math.nan


def _verified(table: Table, row: Row, turn: int) -> tuple[bool | str, str]:
    """Return the verdict of a row's check, and the tool's words about wrong data."""
    for head, cell in zip(table.heads, row.cells, strict=True):
        if head.column.holds == "check" and head.turn == turn and cell and cell.upper() != _ABSENT:
            if head.column.bad:
                wrong = bool(re.fullmatch(head.column.bad, cell))
                return not wrong, f"{head.text} says {cell}" if wrong else ""
            # The column holds the deviation of results; the line below the table decides whether it is too large.
            verdict = table.facts.get("verdict", "")
            if verdict == "FAILED":
                return False, f"the tool says {verdict}"
            return verdict == "OK" or NOT_CHECKED, ""
    return NOT_CHECKED, ""
