"""Verdict on a row's data: right, wrong, or not checked."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import NoReturn

from gasmeter.sweeps.point import NOT_CHECKED

__all__ = ["Verified", "data_line"]


class Verified(Enum):
    """Whether the data of a row were right: three values, none of which is a truth value.

    A member equals the value that JSON stores for it: ``true``, ``false`` or ``"not_checked"``. Its text is that of
    results.csv.
    """

    TRUE = True  # code outside the timed path compared the data, and they were right
    FALSE = False  # data were wrong, and no value is reported
    NOT_CHECKED = NOT_CHECKED  # nothing was compared, or a rank kept silent

    def __bool__(self) -> NoReturn:
        """Refuse, since `not_checked` is neither true nor false."""
        raise TypeError(
            "verified is true, false or not_checked, no truth value; compare it, for instance with `is Verified.TRUE`"
        )

    def __eq__(self, other: object) -> bool:
        """Compare with a member, or with the value that JSON stores."""
        return self is other or (not isinstance(other, Verified) and type(other) in {bool, str} and self.value == other)

    def __hash__(self) -> int:
        """Return the hash of the stored value."""
        return hash(self.value)

    def __str__(self) -> str:
        """Return the text of results.csv."""
        return {True: "true", False: "false"}.get(self.value, NOT_CHECKED)

    @classmethod
    def of(cls, stored: object) -> Verified:
        """Return the member of a stored value: a truth value, the text of results.csv in any case, or a member.

        None and NA (its place in data frames) give `NOT_CHECKED`. Raises ValueError for anything else.
        """
        text = str(stored).lower()
        if text in {NOT_CHECKED, "<na>", "none"}:
            return cls.NOT_CHECKED
        if text not in {"true", "false"}:
            raise ValueError(f"verified is {stored!r}; allowed: true, false, {NOT_CHECKED}")
        return cls.TRUE if text == "true" else cls.FALSE


def data_line(points: Collection[Verified]) -> str:
    """Return in a few words whether the data of points were right: ``data verified, 1 of 3 points not checked``."""
    wrong = sum(verdict is Verified.FALSE for verdict in points)
    unchecked = sum(verdict is Verified.NOT_CHECKED for verdict in points)
    if wrong:
        return f"{wrong} of {len(points)} points NOT verified"
    if unchecked == len(points):
        return "data not checked"
    return "data verified" + (f", {unchecked} of {len(points)} points not checked" if unchecked else "")
