"""Check results of a job's ranks, joined into a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gasmeter.rows.verified import Verified

__all__ = ["Verification", "joined", "verification_of"]

_STATED = {str(member): member for member in Verified}


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
    statements = (str(reply.get("verified", Verified.NOT_CHECKED)).lower() for reply in replies)
    stated = [_STATED.get(text, Verified.FALSE) for text in statements]
    mute = stated.count(Verified.NOT_CHECKED)
    wrong = stated.count(Verified.FALSE)
    errors, checked, silent = (
        sum(int(float(reply.get(name, 0))) for reply in replies) for name in ("errors", "checked", "silent")
    )
    right = Verified.TRUE if checked and not silent + mute else Verified.NOT_CHECKED
    return Verification(Verified.FALSE if wrong else right, errors, checked, silent + mute)


def joined(verifications: Sequence[Verification]) -> Verification:
    """Join verifications of successive runs: `TRUE` if every one is; `NOT_CHECKED` for none."""
    stated = {verification.verified for verification in verifications}
    order = (Verified.FALSE, Verified.NOT_CHECKED, Verified.TRUE)
    return Verification(
        next((member for member in order if member in stated), Verified.NOT_CHECKED),
        sum(verification.errors for verification in verifications),
        sum(verification.checked for verification in verifications),
        max((verification.silent for verification in verifications), default=0),
    )
