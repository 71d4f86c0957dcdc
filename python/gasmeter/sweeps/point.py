"""A point of a sweep: everything that decides its measurement, with a name made from its content.

The name is a hash of the content, so that sweeps can stop, resume, merge and grow: a store recognises its points
whatever experiment file asks for them.
"""

from __future__ import annotations

import functools
import hashlib
import json

from pydantic import BaseModel, ConfigDict, Field

from gasmeter.arguments.choices import MOST_ITERATIONS
from gasmeter.arguments.sizes import format_size
from gasmeter.catalogue import Conduit, Kernel, Op, catalogue
from gasmeter.sweeps.distance import distance
from gasmeter.sweeps.names import options_text
from gasmeter.sweeps.placement import ONE_PER_NODE

__all__ = ["NOT_CHECKED", "SCHEMA_VERSION", "Budget", "Group", "Point"]

SCHEMA_VERSION = 1
"""Version of points, rows and stores; a change of meaning raises it, and with it every identity."""

NOT_CHECKED = "not_checked"
"""Value of column ``verified`` if nothing was compared."""


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Budget(BaseModel):
    """Limits of a point's measurement.

    Attributes
    ----------
    time_s : float
        Seconds spent in blocks without `ci`.
    ci : float or None
        Stop when half the 95 % interval divided by the median is below this share.
    max_time_s : float
        Seconds after which a point ends, whatever its interval. A whole run of RandomAccess in virtual time that takes
        longer is refused.
    iterations : int or None
        Operations per block; None lets the runner choose blocks of about 2 ms.
    blocks : int or None
        Blocks of a modelled point. With a number, RandomAccess makes the updates of these blocks and no more, instead
        of four per word of its table. None: see `gasmeter.measuring.virtual_blocks.block_count`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    time_s: float = Field(default=0.4, gt=0)
    ci: float | None = Field(default=None, gt=0, le=1)
    max_time_s: float = Field(default=30.0, gt=0)
    iterations: int | None = Field(default=None, ge=1, le=MOST_ITERATIONS)
    blocks: int | None = Field(default=None, ge=1)

    def quick(self) -> Budget:
        """Return the same budget for a quick run.

        Returns
        -------
        Budget
            The budget with 0.08 s per point, no interval, and an end after 2 s at most.
        """
        return self.model_copy(update={"time_s": 0.08, "ci": None, "max_time_s": min(self.max_time_s, 2.0)})


class Point(BaseModel):
    """A point to measure: one kernel, operation, variant, conduit, size, number of ranks and set of options."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kernel: str  # names of the catalogue, down to `conduit`, resolved (no empty op; variant ``raw`` on raw networks)
    op: str
    conduit: str
    variant: str = ""
    # Bytes of one transfer; 0 for operations without size; the whole table for random-access
    size_bytes: int = Field(default=0, ge=0)
    ranks: int = Field(default=2, ge=1)  # ranks of the job, 1 or more
    options: dict[str, str] = Field(default_factory=dict)  # non-default options in canonical text
    machine: str = ""  # the modelled installation, named with its differences from the file; empty on real conduits
    topology: str = ""
    placement: str = ""
    # Hash of the machine's effective numbers, so that a changed machine file makes another point
    machine_digest: str = ""
    nodes: int = Field(default=1, ge=1)  # nodes that carry ranks
    seed: int = 1  # seed of every random stream
    repetition: int = Field(default=0, ge=0)  # counts repeated measurements of the same point
    budget: Budget = Budget()  # limits of time and blocks

    @functools.cached_property
    def id(self) -> str:
        """Content identity: 16 hexadecimal digits, the same on every machine and in every year."""
        content = self.model_dump()
        if not self.machine_digest:  # real points have none, and keep their names from before machines existed
            del content["machine_digest"]
        if self.budget.blocks is None:  # and points without a fixed number of blocks keep theirs
            del content["budget"]["blocks"]
        return _digest({"schema": SCHEMA_VERSION, **content})

    @property
    def declared_kernel(self) -> Kernel:
        """The catalogue's entry of the kernel; UsageError if there is none."""
        return catalogue().kernel(self.kernel)

    @property
    def declared_op(self) -> Op:
        """The catalogue's entry of the operation; UsageError if the kernel lacks it."""
        return self.declared_kernel.op(self.op)

    @property
    def declared_conduit(self) -> Conduit:
        """The catalogue's entry of the conduit, with the kind of its values under this kernel; UsageError without."""
        return catalogue().conduit(self.conduit, self.declared_kernel)

    @property
    def modelled(self) -> bool:
        """Whether its values are virtual time, which repeats itself."""
        return self.declared_conduit.kind == "modelled"

    def describe(self) -> str:
        """Return the point in one line for people, for instance ``ping-pong put 8 B on smp, 2 ranks``."""
        words = [self.kernel]
        if self.op != self.kernel:
            words.append(self.op)
        if self.variant:
            words.append(self.variant)
        if self.size_bytes:
            words.append(format_size(self.size_bytes))
        text = f"{' '.join(words)} on {self.conduit}, {self.ranks} rank{'s' if self.ranks != 1 else ''}"
        text += f", {self.machine}" if "+" in self.machine else ""
        text += f", {self.topology}" if self.topology else ""
        text += f", {self.placement}" if self.placement not in {"", ONE_PER_NODE} else ""
        apart = distance(self.model_dump(include={"topology", "placement", "ranks", "nodes"}))
        text += f", {apart}" if apart else ""
        return f"{text} ({options_text(self.options)})" if self.options else text


class Group(BaseModel):
    """Points that are measured together in small alternating blocks, so that drift hits all of them.

    Attributes
    ----------
    points : tuple of Point
        At least one point.
    reference : int or None
        Index of the point the others are compared with; None compares nothing.
    reference_name : str
        Value of column ``reference``, for instance ``raw@shm``.
    compare : str
        ``ratio``, ``difference`` or ``both``: which comparisons are written.
    clip : bool
        Whether the size is a default, so that an operation which does not carry it is left out, not an error.
    bisect : float or None
        Smallest jump to locate in the group's curves over sizes, as a share; None for no search.
    added : bool
        Whether a search for jumps added it.
    note : str
        Line for the reader about a default that the points could not have; empty if there is none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    points: tuple[Point, ...] = Field(min_length=1)
    reference: int | None = None
    reference_name: str = ""
    compare: str = "ratio"
    clip: bool = False
    bisect: float | None = None
    added: bool = False
    note: str = ""

    @functools.cached_property
    def id(self) -> str:
        """Content identity of the measurement: its points, its reference, and the compared metrics."""
        names = [point.id for point in self.points]
        return _digest([SCHEMA_VERSION, names, self.reference, self.reference_name, self.compare])

    @property
    def modelled(self) -> bool:
        """Whether the values of all its points are virtual time."""
        return all(point.modelled for point in self.points)
