"""Atomic domains: a type and a set of operations on any rank's segment, without interference between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gasmeter.errors import UsageError

if TYPE_CHECKING:
    import numpy.typing as npt

    from gasmeter._core import Endpoint

__all__ = ["AtomicDomain", "blocking_domain", "domain_of"]

Number = int | float


class AtomicDomain:
    """Atomic operations on one type; `ep.atomic_domain` makes a domain.

    Its operations are atomic with each other and with no other access, whoever executes them. In a program that is a
    generator or coroutine each returns an operation to yield (await), in a plain function each blocks.

    Parameters
    ----------
    core : gasmeter._core.AtomicDomain
        The compiled domain.
    call : callable
        Function ``call(name, *arguments, flags=)`` that executes or makes an operation of the endpoint.

    Notes
    -----
    Every operation takes ``rank`` (int, owner of the segment), ``offset`` (int, bytes from the start of the segment, a
    multiple of the type's size), its operands (int or float, in the type's range; integers wrap around) and ``flags``
    (0 or `gasmeter.IMMEDIATE`). Fetching operations yield the old value (int or float; None: refused), the others None
    (with `gasmeter.IMMEDIATE` whether it was done). With ``_nb`` behind its name an operation only begins and yields an
    event (None: refused), whose ``value`` is the old value.

    A rank, offset or operand outside its range, or an operation outside the set, raises `gasmeter.UsageError`.
    """

    def __init__(self, core: Any, call: Callable[..., Any]) -> None:
        self._core = core
        self._call = call

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        name: str = self._core.dtype
        return np.dtype(name)

    @property
    def ops(self) -> list[str]:
        """Names of the operations."""
        return list(self._core.ops)

    @property
    def path(self) -> str:
        """Executor of the operations: ``direct`` (this rank's processor), ``messages`` (the target's) or both.

        Both are ``direct+messages``. ``network`` is the network itself; ``messages to all`` means the option
        ``atomics=messages``.
        """
        return str(self._core.path)

    def __repr__(self) -> str:
        """Return type, path and operations."""
        return f"AtomicDomain({self._core.dtype}, {self.path}: {', '.join(self.ops)})"

    def set(self, rank: int, offset: int, value: Number, *, flags: int = 0) -> Any:
        """Store `value`; parameters as `do`."""
        return self._call("atomic", self._core, "set", rank, offset, value, flags=flags)

    def get(self, rank: int, offset: int, *, flags: int = 0) -> Any:
        """Fetch the value; parameters as `do`."""
        return self._call("atomic", self._core, "get", rank, offset, flags=flags)

    def swap(self, rank: int, offset: int, value: Number, *, flags: int = 0) -> Any:
        """Store `value` and fetch the old value; parameters as `do`."""
        return self._call("atomic", self._core, "swap", rank, offset, value, flags=flags)

    def cas(self, rank: int, offset: int, expected: Number, value: Number, *, flags: int = 0) -> Any:
        """Store `value` if the old value is `expected`, bit by bit; fetch the old value; parameters as `do`."""
        return self._call("atomic", self._core, "cas", rank, offset, expected, value, flags=flags)

    def fetch_add(self, rank: int, offset: int, value: Number, *, flags: int = 0) -> Any:
        """Add `value` and fetch the old value; parameters as `do`."""
        return self._call("atomic", self._core, "fetch_add", rank, offset, value, flags=flags)

    def do(self, op: str, rank: int, offset: int, *operands: Number, flags: int = 0) -> Any:
        """Execute any operation by its name.

        Parameters
        ----------
        op : str
            ``set get swap cas``, and ``add sub mult min max inc dec bit_and bit_or bit_xor``, which fetch with
            ``fetch_`` before them (``fetch_and``, ``fetch_or``, ``fetch_xor``).
        rank, offset, flags
            Parameters of all operations, see the class.
        *operands : int or float
            No operand for get, inc and dec, two for cas, else one.

        Returns
        -------
        object
            The operation's result, see the class.
        """
        return self._call("atomic", self._core, op, rank, offset, *operands, flags=flags)

    def do_nb(self, op: str, rank: int, offset: int, *operands: Number, flags: int = 0) -> Any:
        """Begin any operation by its name; parameters as `do`.

        Returns
        -------
        object
            An event, or an operation that yields one; None: refused.
        """
        return self._call("atomic_nb", self._core, op, rank, offset, *operands, flags=flags)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return any other operation as a method; with ``_nb`` behind its name it only begins."""
        plain = name.removesuffix("_nb")
        if plain.startswith("_") or plain not in self._core.ops:
            raise AttributeError(f"atomic domain of {self._core.dtype} has no operation {name!r}; it has {self.ops}")
        do = self.do if plain == name else self.do_nb
        return lambda rank, offset, *operands, flags=0: do(plain, rank, offset, *operands, flags=flags)


def domain_of(endpoint: Endpoint, dtype: npt.DTypeLike, ops: Sequence[str], call: Callable[..., Any]) -> AtomicDomain:
    """Return a new atomic domain; every rank makes the same ones in the same order.

    Types are int32, uint32, int64, uint64, float32 and float64. Without `ops` it has all operations of the type. Raises
    UsageError for an unknown type or operation.
    """
    from gasmeter._core import AtomicDomain as Core  # noqa: PLC0415 - loads the extension

    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = str(dtype)
    if isinstance(ops, str):
        raise UsageError(f"atomic_domain: ops is a list of names, not {ops!r}", ops)
    return AtomicDomain(Core(endpoint, name, list(ops)), call)


def blocking_domain(endpoint: Endpoint, dtype: npt.DTypeLike, ops: Sequence[str] = ()) -> AtomicDomain:
    """Return a new atomic domain whose methods block and return results; see `domain_of`."""

    def call(name: str, *arguments: Any, flags: int = 0) -> Any:
        return getattr(endpoint, name)(*arguments, flags=flags)

    return domain_of(endpoint, dtype, ops, call)
