"""Names of the catalogue as types, for editors; tests/checks/catalogue_is_current.py --write writes them.

A parameter for a name has a type such as `KernelName | str`: users have names of their own, too (a worker program's
kernels, machine files, labels such as ``"extoll+draw=17"``, lists such as ``"put,get"``). A type checker therefore lets
every text pass. The look-up refuses an unknown name and suggests the nearest one.
"""

from typing import Literal

__all__ = ["ConduitName", "KernelName", "MachineName", "OpName", "PaperName"]

KernelName = Literal[
    "am",
    "barrier",
    "collective",
    "fetch-add",
    "flood",
    "immediate",
    "local-completion",
    "loggp",
    "one-way",
    "ping-pong",
    "poll",
    "random-access",
    "shared-access",
    "simulator",
    "stressmark",
    "vis",
]
"""Kernels."""

OpName = Literal[
    "am",
    "am-long",
    "am-medium",
    "am-short",
    "barrier",
    "broadcast",
    "call",
    "compare",
    "defer",
    "dynamic",
    "empty",
    "event",
    "exchange",
    "fetch-add",
    "field",
    "found",
    "gather",
    "get",
    "hot-spot",
    "indexed-get",
    "indexed-put",
    "latency",
    "medium",
    "named-barrier",
    "neighborhood",
    "now",
    "np-medium",
    "np-medium-client",
    "ping-pong",
    "pointer",
    "put",
    "random-put",
    "rate",
    "reduce",
    "reduce-all",
    "scan",
    "static",
    "strided-get",
    "strided-put",
    "update",
    "vector-get",
    "vector-put",
]
"""Operations of all kernels."""

ConduitName = Literal[
    "aries",
    "extoll",
    "gm",
    "ibv",
    "ideal",
    "lapi",
    "mpi",
    "mpi@aries",
    "mpi@extoll",
    "mpi@ibv",
    "mpi@portals",
    "mpi@sci",
    "portals",
    "raw@aries",
    "raw@ethernet",
    "raw@extoll",
    "raw@fabric",
    "raw@gm",
    "raw@ibv",
    "raw@ideal",
    "raw@ipoib",
    "raw@lapi",
    "raw@mpi",
    "raw@mpi@aries",
    "raw@mpi@extoll",
    "raw@mpi@ibv",
    "raw@mpi@portals",
    "raw@mpi@sci",
    "raw@portals",
    "raw@sci",
    "raw@shm",
    "raw@udp",
    "sci",
    "smp",
    "udp",
    "udp@ethernet",
    "udp@ibv",
]
"""Conduits, and networks without one."""

MachineName = Literal[
    "aries",
    "aries-cori1",
    "aries-cori2",
    "ethernet",
    "ethernet-10g",
    "extoll",
    "fabric",
    "gm",
    "gm-marenostrum",
    "ibv",
    "ideal",
    "ipoib",
    "lapi",
    "portals",
    "portals-catamount",
    "sci",
]
"""Installed machines."""

PaperName = Literal[
    "aries",
    "extoll",
    "portals",
    "sci",
    "xlupc",
]
"""Papers."""
