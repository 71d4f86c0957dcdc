"""Check results of a job's ranks, joined into a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gasmeter.rows.verified import Verified

__all__ = ["Verification", "joined", "verification_of"]

_STATED = {str(one): one for one in Verified}


@dataclass(frozen=True)
class Verification:
    """Result of the kernel's own check of its data."""

    # `FALSE` above the kernel's tolerance; `NOT_CHECKED` if nothing was compared or a rank was silent
    verified: Verified
    errors: int  # wrong items, summed over the ranks
    checked: int  # compared items, summed over the ranks
    silent: int = 0  # ranks that did not answer, or compared nothing although the kernel says they have data to compare


def verification_of(replies: Sequence[Mapping[str, Any]]) -> Verification:
    """Join the answers of ranks to the command `verify`: ``verified``, ``errors``, ``checked``, ``silent``.

    A worker older than ``silent`` is trusted if it answers ``verified``.
    """
    said = (str(reply.get("verified", Verified.NOT_CHECKED)).lower() for reply in replies)
    stated = [_STATED.get(text, Verified.FALSE) for text in said]
    mute = stated.count(Verified.NOT_CHECKED)
    wrong = stated.count(Verified.FALSE)
    errors, checked, silent = (
        sum(int(float(reply.get(name, 0))) for reply in replies) for name in ("errors", "checked", "silent")
    )
    right = Verified.TRUE if checked and not silent + mute else Verified.NOT_CHECKED
    return Verification(Verified.FALSE if wrong else right, errors, checked, silent + mute)


def joined(verifications: Sequence[Verification]) -> Verification:
    """Join verifications of successive runs: `TRUE` if every one is; `NOT_CHECKED` for none."""
    stated = {one.verified for one in verifications}
    order = (Verified.FALSE, Verified.NOT_CHECKED, Verified.TRUE)
    return Verification(
        next((one for one in order if one in stated), Verified.NOT_CHECKED),
        sum(one.errors for one in verifications),
        sum(one.checked for one in verifications),
        max((one.silent for one in verifications), default=0),
    )
