"""Stressmarks of the DIS suite as rank programs: one run of kernel ``stressmark``, for its output."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from gasmeter._core import Operation
from gasmeter.catalogue import catalogue

if TYPE_CHECKING:
    from gasmeter.programs.endpoint import ProgramEndpoint

__all__ = [
    "Chain",
    "FieldOutput",
    "NeighborhoodOutput",
    "Pairs",
    "PointerOutput",
    "SubField",
    "Token",
    "UpdateOutput",
    "stressmark",
]


@dataclass(frozen=True)
class Chain:
    """End of a rank's chain, and its number of hops."""

    rank: int
    hops: int
    index: int


@dataclass(frozen=True)
class PointerOutput:
    """Output of Pointer: the chains of the ranks that follow one, by rank."""

    chains: tuple[Chain, ...]


@dataclass(frozen=True)
class UpdateOutput:
    """Output of Update: hops, their end, and a checksum of the words (64-bit FNV-1a of them all)."""

    hops: int
    index: int
    digest: int


@dataclass(frozen=True)
class Pairs:
    """Pairs of pixels at a distance in a direction: the spread of their sums and differences."""

    distance: int
    degrees: int
    entropy: float
    energy: float


@dataclass(frozen=True)
class NeighborhoodOutput:
    """Output of Neighborhood: by distance, the shorter one first, and direction (0, 45, 90 and 135 degrees)."""

    pairs: tuple[Pairs, ...]


@dataclass(frozen=True)
class SubField:
    """Bytes between two matches of a token: their number, the least (255 for none), and their sum modulo 256."""

    count: int
    minimum: int
    checksum: int


@dataclass(frozen=True)
class Token:
    """Results for a token: the sub-fields before its matches, in order, and the rest behind the last."""

    sub_fields: tuple[SubField, ...]
    rest: SubField


@dataclass(frozen=True)
class FieldOutput:
    """Output of Field: token by token, and a checksum of the field (64-bit FNV-1a of its bytes)."""

    tokens: tuple[Token, ...]
    digest: int


Output = PointerOutput | UpdateOutput | NeighborhoodOutput | FieldOutput


def stressmark(
    op: Literal["pointer", "update", "neighborhood", "field"],
    *,
    seed: int = 1,
    length: int | None = None,
    chains: int | Literal["all"] = "all",
    window: int = 1,
    words: int = 8192,
    distance: int = 10,
    short_distance: int = 0,
    rows: int = 40,
    columns: int = 1024,
    bits: int = 8,
    bytes: int = 32768,
    width: int = 4,
    cache: Literal["on", "off", "miss"] = "on",
    capacity: int | Literal["unlimited"] = 100,
    replacement: Literal["lru", "random"] = "lru",
    cached_puts: bool = True,
    pinning: Literal["everything", "chunks"] = "everything",
    chunk: int = 131072,
    copy_limit: int = 8192,
    near: Literal["direct", "remote"] = "direct",
) -> Callable[[ProgramEndpoint], Generator[Any, Any, Output | None]]:
    """Return a program that runs a stressmark of the DIS suite over shared arrays, for `gasmeter.launch`.

    The program is the code of kernel ``stressmark`` (``gasmeter measure stressmark`` times it), with its options, and
    an input from the seed. It makes its own shared space; the arrays must fit into the segments.

    Parameters
    ----------
    op : {"pointer", "update", "neighborhood", "field"}
        Kind of stressmark: chains through an array of words; one chain that writes; pairs of pixels of an image; tokens
        that are searched for in bytes and changed.
    seed : int, default 1
        Seed of the input.
    length : int, optional
        Most hops of a chain (256 by default), first columns of the image (all), tokens (16).
    chains : int or "all", default "all"
        Pointer: number of ranks of each node that follow a chain, the first ones; ``"all"``: each rank.
    window : int, default 1
        Pointer, Update: words read at each hop, an odd number to 15.
    words : int, default 8192
        Pointer, Update: words of 8 B per rank.
    distance : int, default 10
        Neighborhood: pixels from one to its partner.
    short_distance : int, default 0
        Neighborhood: pixels between the partners of further pairs; 0: no such pairs.
    rows : int, default 40
        Neighborhood: rows of the image per rank.
    columns : int, default 1024
        Neighborhood: columns of the image.
    bits : int, default 8
        Neighborhood: bits of a pixel, 7 to 15.
    bytes : int, default 32768
        Field: bytes per rank.
    width : int, default 4
        Field: bytes of a token, at most 8.
    cache, capacity, replacement, cached_puts, pinning, chunk, copy_limit, near
        Parameters of the space, see `gasmeter.shared_space`; the capacity may be ``"unlimited"``.

    Returns
    -------
    callable
        The program. At rank 0 it returns the stressmark's output (`PointerOutput`, `UpdateOutput`, `NeighborhoodOutput`
        or `FieldOutput` of `gasmeter.programs.stressmark`), at other ranks None.

    Raises
    ------
    UsageError
        For an unknown op or choice. In the run, at all ranks, for a number that the suite does not allow for so many
        ranks, and for arrays larger than the segments.

    Examples
    --------
    >>> import gasmeter as gm
    >>> program = gm.stressmark("pointer", seed=7, words=64, window=3, length=200)
    >>> told, other = gm.launch(program, conduit="ideal", ranks=2)
    >>> for chain in told.chains:
    ...     print(f"rank {chain.rank}: {chain.hops} hops to {chain.index}")
    rank 0: 60 hops to 113
    rank 1: 89 hops to 62
    """
    given = {
        "chains": chains, "window": window, "words": words, "distance": distance, "short_distance": short_distance,
        "rows": rows, "columns": columns, "bits": bits, "bytes": bytes, "width": width, "cache": cache,
        "capacity": capacity, "replacement": replacement, "cached_puts": cached_puts, "pinning": pinning,
        "chunk": chunk, "copy_limit": copy_limit, "near": near,
    }  # fmt: skip
    kernel = catalogue().kernel("stressmark")
    kernel.op(op)
    options = {each.name: each.parse(given[each.name], "kernel stressmark") for each in kernel.options
               if each.name in given}  # fmt: skip
    if length is None:
        length = {"neighborhood": columns, "field": 16}.get(op, 256)
    return functools.partial(_run, op, seed, length, options)


_OUTPUTS: dict[str, Callable[[Any], Output]] = {
    "pointer": lambda output: PointerOutput(tuple(Chain(*each) for each in output)),
    "update": lambda output: UpdateOutput(*output),
    "neighborhood": lambda output: NeighborhoodOutput(tuple(Pairs(*each) for each in output)),
    "field": lambda output: FieldOutput(tuple(map(_token, output[0])), output[1]),
}


def _token(output: tuple[Any, Any]) -> Token:
    parts, rest = output
    return Token(tuple(SubField(*each) for each in parts), SubField(*rest))


def _run(op: str, seed: int, length: int, options: dict[str, str],
         ep: ProgramEndpoint) -> Generator[Any, Any, Output | None]:  # fmt: skip
    output = yield Operation("stressmark", op, seed, length, options)
    return None if output is None else _OUTPUTS[op](output)
