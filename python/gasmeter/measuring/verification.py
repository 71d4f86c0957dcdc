"""What the ranks of a job say of their data, and what that comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gasmeter.rows.verified import Verified

__all__ = ["Verification", "joined", "verification_of"]

_STATED = {str(one): one for one in Verified}


@dataclass(frozen=True)
class Verification:
    """Outcome of the kernel's own check of its data.

    Attributes
    ----------
    verified : Verified
        `FALSE` if more was wrong than the kernel's rules allow; `NOT_CHECKED` where nothing was compared, or a rank
        that has something to compare kept silent.
    errors, checked : int
        Items that were wrong, and that were compared; summed over the ranks.
    silent : int
        Ranks that kept silent: without an answer, or with one that compared nothing although it has something to
        compare, by the kernel's own word.
    """

    verified: Verified
    errors: int
    checked: int
    silent: int = 0


def verification_of(replies: Sequence[Mapping[str, Any]]) -> Verification:
    """Return what the answers of ranks to the command `verify` come to.

    Parameters
    ----------
    replies : sequence of mapping
        One of each rank, or one for a whole job in virtual time: ``verified``, ``errors``, ``checked``, ``silent``. A
        worker from before there was ``silent`` is believed where it says ``verified``.

    Returns
    -------
    Verification
        Of all ranks together.
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
    """Return what several verifications come to.

    Parameters
    ----------
    verifications : sequence of Verification
        Of runs one after the other.

    Returns
    -------
    Verification
        `TRUE` if every one is; of none `NOT_CHECKED`.
    """
    stated = {one.verified for one in verifications}
    order = (Verified.FALSE, Verified.NOT_CHECKED, Verified.TRUE)
    return Verification(
        next((one for one in order if one in stated), Verified.NOT_CHECKED),
        sum(one.errors for one in verifications),
        sum(one.checked for one in verifications),
        max((one.silent for one in verifications), default=0),
    )
