"""Shared arrays: objects with equal names at all ranks, over a variable directory and a remote-address cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np

from gasmeter._core import AtomicDomain as CoreDomain
from gasmeter._core import Operation
from gasmeter._core import SharedArray as CoreArray
from gasmeter._core import SharedSpace as CoreSpace
from gasmeter.errors import UsageError
from gasmeter.programs.endpoint import ProgramEndpoint
from gasmeter.programs.places import Index, Places, dtype_of, shape_of, whole

if TYPE_CHECKING:
    import numpy.typing as npt

    from gasmeter._core import Endpoint

__all__ = ["SharedArray", "SharedLock", "SharedSpace", "SymmetricArray", "shared_space"]

_ADDED = ("int32", "uint32", "int64", "uint64", "float32", "float64")
"""Types of atomic domains."""
Block = SupportsIndex | Sequence[SupportsIndex] | None
Call = Callable[..., Any]


def shared_space(
    ep: ProgramEndpoint | Endpoint,
    *,
    cache: Literal["on", "off", "miss"] = "on",
    capacity: int | None = 100,
    replacement: Literal["lru", "random"] = "lru",
    cached_puts: bool = True,
    pinning: Literal["everything", "chunks"] = "everything",
    chunk: int = 131072,
    copy_limit: int = 8192,
    near: Literal["direct", "remote"] = "direct",
    reserve: int = 0,
) -> Any:
    """Make the shared space of a program: collective, once, with the same options at all ranks.

    Parameters
    ----------
    ep : ProgramEndpoint or gasmeter._core.Endpoint
        Endpoint of the program.
    cache : {"on", "off", "miss"}, default "on"
        Cache of remote addresses. Off: the owner translates every access. Miss: entries are looked up but not used.
    capacity : int or None, default 100
        Entries of the cache, one for an object and node; None for no limit.
    replacement : {"lru", "random"}, default "lru"
        Policy that chooses the entry to evict.
    cached_puts : bool, default True
        Whether puts use the cache as gets do.
    pinning : {"everything", "chunks"}, default "everything"
        Pinned part of an object at a rank's first touch, if the network reaches pinned memory alone.
    chunk : int, default 131072
        Bytes of a piece with ``pinning="chunks"``.
    copy_limit : int, default 8192
        Bytes up to which uncached accesses are copied; above it they make a rendezvous.
    near : {"direct", "remote"}, default "direct"
        Path between ranks of a node: through memory, or through the network.
    reserve : int, default 0
        Bytes at the start of each segment that stay the program's own (`ep.put` and the like).

    Returns
    -------
    SharedSpace
        The space; in a program that yields (awaits), an operation that yields it.

    Raises
    ------
    UsageError
        For an unknown choice, a number outside its range, or a second space.

    Examples
    --------
    >>> def tens(ep):
    ...     space = yield gm.shared_space(ep)
    ...     numbers = yield space.all_alloc(4, "int64")
    ...     yield numbers.put(ep.rank, 10 * ep.rank)
    ...     yield space.barrier()
    ...     return int((yield numbers[3]))
    >>> gm.launch(tens, conduit="ideal", ranks=4)
    [30, 30, 30, 30]
    """
    options = (cache, capacity, replacement, cached_puts, pinning, chunk, copy_limit, near, reserve)
    if isinstance(ep, ProgramEndpoint):
        return Operation("shared_space", *options, wrap=lambda core: SharedSpace(core, ep._endpoint, Operation))
    endpoint = ep

    def call(name: str, *arguments: Any, wrap: Callable[[Any], Any] | None = None) -> Any:
        result = getattr(endpoint, name)(*arguments)
        return result if wrap is None else wrap(result)

    return call("shared_space", *options, wrap=lambda core: SharedSpace(core, endpoint, call))


class SharedSpace:
    """A rank's view of a shared space; `gasmeter.shared_space` makes it.

    In a program that is a generator or coroutine each call returns an operation to yield (await), in a plain function
    each blocks and returns what is said to be yielded.

    A handle names an array at all ranks; owners, and ranks that reached them before, know where its parts lie. Memory
    is not cleared. Arrays take their memory from the segments (`segment_bytes` of `gasmeter.launch`). ``call(name,
    *arguments, wrap=)`` executes or makes an operation of the endpoint.
    """

    def __init__(self, core: CoreSpace, endpoint: Endpoint, call: Call) -> None:
        self._core = core
        self._endpoint = endpoint
        self._call = call
        self._domains: dict[str, CoreDomain] = {}
        self.rank = endpoint.rank
        self.size = endpoint.size

    def __repr__(self) -> str:
        """Return rank and size."""
        return f"SharedSpace(rank {self.rank} of {self.size})"

    def all_alloc(self, shape: SupportsIndex | Sequence[SupportsIndex], dtype: npt.DTypeLike = "float64", *,
                  block: Block = None) -> Any:  # fmt: skip
        """Make an array, all ranks together.

        `block` elements lie side by side at a rank, and blocks are dealt to ranks in turn. A sequence means tiles, with
        a number for each axis. None gives each rank one block of equal size as far as possible, 0 puts all at rank 0.
        Raises UsageError for a shape without elements, a dtype of objects, a block that does not fit, and at all ranks
        if a segment has no room.
        """
        return self._alloc("all", shape, dtype, block)

    def global_alloc(self, shape: SupportsIndex | Sequence[SupportsIndex], dtype: npt.DTypeLike = "float64", *,
                     block: Block = None) -> Any:  # fmt: skip
        """Make an array over all ranks by this rank alone; others open its `SharedArray.descriptor` with `at`."""
        return self._alloc("global", shape, dtype, block)

    def alloc(self, shape: SupportsIndex | Sequence[SupportsIndex], dtype: npt.DTypeLike = "float64") -> Any:
        """Make an array that lies at this rank alone; see `global_alloc`."""
        return self._alloc("own", shape, dtype, 0)

    def at(self, descriptor: tuple[Any, ...]) -> SharedArray:
        """Return an array that another rank made, by its `SharedArray.descriptor`; nothing to yield."""
        numbers, shape, dtype, tile = descriptor
        return SharedArray(CoreArray(self._core, tuple(numbers)), Places(tuple(shape), tile), np.dtype(dtype), self)

    def symmetric(self, shape: SupportsIndex | Sequence[SupportsIndex], dtype: npt.DTypeLike = "float64") -> Any:
        """Make an array of which every rank has a whole one, all ranks together [OpenSHMEM]."""
        extents, kind = shape_of(shape), dtype_of(dtype)
        many = math.prod(extents)
        # Every rank makes the domain, since domains have an order.
        adding = self._adding(kind) if kind.name in _ADDED else None

        def wrap(core: CoreArray) -> SymmetricArray:
            return SymmetricArray(SharedArray(core, Places((self.size * many,), None), kind, self), extents, adding)

        return self._new_array("all", self.size * many, kind, many, wrap)

    def lock(self) -> Any:
        """Make a lock, all ranks together."""
        return self._new_array("all", self.size, np.dtype("uint8"), 1, lambda core: SharedLock(core, self))

    def all_free(self, array: SharedArray | SymmetricArray) -> Any:
        """Free an array of all ranks, all ranks together; no rank may use it any more."""
        return self._call("space_all_free", array._core)

    def free(self, array: SharedArray) -> Any:
        """Free an array by one rank alone; no rank may use it any more.

        All caches drop its entries before its memory is given to another array.
        """
        return self._call("space_free", array._core)

    def fence(self) -> Any:
        """Wait until all ranks see the puts of this rank."""
        return self._call("space_fence", self._core)

    def barrier(self) -> Any:
        """Fence, and wait for all ranks."""
        return self._call("space_barrier", self._core)

    def stats(self) -> dict[str, int]:
        """Return the counts of this rank's accesses; nothing to yield.

        Since the space was made: ``lookups`` of the cache, ``hits``, ``misses``, ``evictions`` for lack of room,
        ``invalidations`` of freed arrays, ``remote_accesses``, ``local_accesses``. In use now: ``entries`` of the
        cache, ``pins`` of the table of pinned memory.
        """
        return dict(self._core.stats())

    def _adding(self, dtype: np.dtype[Any]) -> CoreDomain:
        if dtype.name not in self._domains:
            self._domains[dtype.name] = CoreDomain(self._endpoint, dtype.name, ["fetch_add"])
        return self._domains[dtype.name]

    def _alloc(self, makers: str, shape: SupportsIndex | Sequence[SupportsIndex], dtype: npt.DTypeLike,
               block: Block) -> Any:  # fmt: skip
        kind, places = dtype_of(dtype), Places(shape_of(shape), None)
        if block is None:
            many = -(-places.elements // self.size)
        elif isinstance(block, Sequence):
            places = Places(places.shape, tuple(whole(each, "block") for each in block))
            many = places.in_tile
        else:
            many = whole(block, "block")
        return self._new_array(makers, places.elements, kind, many, lambda core: SharedArray(core, places, kind, self))

    def _new_array(self, makers: str, elements: int, dtype: np.dtype[Any], block: int,
              wrap: Callable[[CoreArray], Any]) -> Any:  # fmt: skip
        return self._call("space_alloc", self._core, makers, elements, dtype.itemsize, block, wrap=wrap)


class SharedArray:
    """A rank's view of a shared array.

    ``yield a[i]`` and ``yield a[i:j]`` (in a plain function ``a[i]``) get elements, ``yield a.put(i, x)`` (plain also
    ``a[i] = x``) puts them. An index has a number for each axis; the last may be a slice of step 1. A put is done when
    the value may change. Its rank sees it at once, others after a fence or barrier.
    """

    def __init__(self, core: CoreArray, places: Places, dtype: np.dtype[Any], space: SharedSpace) -> None:
        self._core = core
        self._places = places
        self._call = space._call
        self.dtype = dtype
        self.space = space

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole array."""
        return self._places.shape

    @property
    def size(self) -> int:
        """Number of elements of the whole array."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        """Return the length of the first axis."""
        return self.shape[0]

    def __repr__(self) -> str:
        """Return shape and dtype."""
        return f"SharedArray(shape={self.shape}, dtype={self.dtype})"

    @property
    def descriptor(self) -> tuple[Any, ...]:
        """Name of the array at other ranks, for `SharedSpace.at`: numbers and texts that can be sent."""
        return self._core.descriptor, self.shape, self.dtype.str, self._places.tile

    @property
    def local(self) -> npt.NDArray[Any]:
        """Elements of this rank, in the order of its blocks: a writable view of one axis, without a copy."""
        return self._core.local().view(self.dtype)

    def owner(self, i: Index) -> int:
        """Return the rank that has an element."""
        return self._core.owner(self._places.element(i))

    def phase(self, i: Index) -> int:
        """Return the place of an element in its block, from 0."""
        return self._core.phase(self._places.element(i))

    def __getitem__(self, i: Index) -> Any:
        """Get elements: a scalar of the dtype, or a new array for a slice."""
        first, shape = self._places.run(i)
        into = np.empty(shape, self.dtype)
        if into.size == 0:
            raise UsageError(f"shared array: no elements in [{i}]")
        wrap = None if shape else (lambda value: value[()])
        return self._call("space_get", self._core, first, into, wrap=wrap)

    def get_into(self, i: Index, into: npt.NDArray[Any]) -> Any:
        """Get elements into C-contiguous memory of the array's dtype and the slice's length; return that memory."""
        first, shape = self._places.run(i)
        if into.dtype != self.dtype or into.size != math.prod(shape):
            raise UsageError(f"shared array: into has {into.size} of {into.dtype}; {math.prod(shape)} of {self.dtype}"
                             " are asked for")  # fmt: skip
        return self._call("space_get", self._core, first, into)

    def put(self, i: Index, value: Any) -> Any:
        """Put as many elements as the index names, or one for all; done when the value may change."""
        first, shape = self._places.run(i)
        try:
            values = np.ascontiguousarray(np.broadcast_to(np.asarray(value, self.dtype), shape))
        except ValueError as error:
            raise UsageError(f"shared array: {error}") from None
        return self._call("space_put", self._core, first, values)

    def __setitem__(self, i: Index, value: Any) -> None:
        """Put elements, in a plain function."""
        if self._call is Operation:
            raise UsageError("shared array: a program that yields puts by `yield a.put(i, x)`")
        self.put(i, value)


class SymmetricArray:
    """An array of which every rank has a whole one [OpenSHMEM: a symmetric object].

    `fetch_add` uses `adding`, which is None for a dtype without atomics.
    """

    def __init__(self, array: SharedArray, shape: tuple[int, ...], adding: CoreDomain | None) -> None:
        self._array = array
        self._adding = adding
        self._core = array._core
        self._places = Places(shape, None)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of each rank's array."""
        return self._places.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return self._array.dtype

    def __repr__(self) -> str:
        """Return shape and dtype."""
        return f"SymmetricArray(shape={self.shape}, dtype={self.dtype})"

    @property
    def local(self) -> npt.NDArray[Any]:
        """Array of this rank: a writable view, without a copy."""
        return self._array.local.reshape(self.shape)

    def get(self, pe: int, i: Index = slice(None)) -> Any:
        """Get new elements of rank `pe`."""
        return self._array[self._run(pe, i)]

    def put(self, pe: int, i: Index, value: Any) -> Any:
        """Put elements of rank `pe`; see `SharedArray.put`."""
        return self._array.put(self._run(pe, i), value)

    def fetch_add(self, pe: int, i: Index, value: float) -> Any:
        """Add to an element of rank `pe`, atomically among all `fetch_add` of the array; return the old value.

        `value` is in the range of the dtype; sums of integers wrap around.
        """
        if self._adding is None:
            raise UsageError(f"symmetric array: fetch_add on {self.dtype}; possible: {', '.join(_ADDED)}")
        first = pe * self._places.elements + self._places.element(i)
        self._check(pe)
        return self._array._call("space_atomic", self._adding, "fetch_add", self._core, first, value)

    def _check(self, pe: int) -> None:
        if not 0 <= pe < self._array.space.size:
            raise UsageError(f"symmetric array: rank {pe} does not exist; ranks are 0..{self._array.space.size - 1}")

    def _run(self, pe: int, i: Index) -> int | slice:
        self._check(pe)
        whole = isinstance(i, slice) and i == slice(None)
        first, shape = (0, (self._places.elements,)) if whole else self._places.run(i)
        first += pe * self._places.elements
        return slice(first, first + math.prod(shape)) if shape else first


class SharedLock:
    """A lock that ranks take in the order of their requests [UPC: upc_lock_t].

    ``with lock:`` in a plain function, ``async with lock:`` in a coroutine, ``yield lock.acquire()`` and ``yield
    lock.release()`` in a generator.

    The owner of `core` keeps the queue.
    """

    def __init__(self, core: CoreArray, space: SharedSpace) -> None:
        self._core = core
        self._call = space._call

    def acquire(self) -> Any:
        """Take the lock, behind all ranks that asked before."""
        return self._call("space_lock", self._core)

    def try_acquire(self) -> Any:
        """Take the lock if it is free; the result tells whether it was taken (bool)."""
        return self._call("space_try_lock", self._core)

    def release(self) -> Any:
        """Release the lock after a fence: the next owner sees this rank's puts."""
        return self._call("space_unlock", self._core)

    def __enter__(self) -> SharedLock:
        """Take the lock, in a plain function."""
        if self._call is Operation:
            raise UsageError("shared lock: a program that yields takes it by `yield lock.acquire()` or `async with`")
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:  # fmt: skip
        """Release the lock."""
        self.release()

    async def __aenter__(self) -> SharedLock:
        """Take the lock, in a coroutine."""
        await self.acquire()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:  # fmt: skip
        """Release the lock."""
        await self.release()
