"""Places of elements of shared arrays: numbers of indices, in C order or tile by tile."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from gasmeter.errors import UsageError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Index", "Places", "dtype_of", "shape_of", "whole"]

Index = SupportsIndex | slice | tuple[SupportsIndex | slice, ...]
"""Index of a shared array: a number for each axis, or a slice on the last."""


class Places:
    """Place in memory of each element, in C order or tile by tile; edge tiles are complete in memory."""

    def __init__(self, shape: tuple[int, ...], tile: tuple[int, ...] | None) -> None:
        self.shape = shape
        self.tile = None if tile is None else tuple(tile)
        if self.tile is not None and (len(self.tile) != len(shape) or min(self.tile) < 1):
            raise UsageError(f"shared array: block {self.tile} of an array of shape {shape}; a number of 1 or more for"
                             " each axis")  # fmt: skip

    @property
    def in_tile(self) -> int:
        """Elements of a tile, or of the whole array without tiles."""
        return math.prod(self.tile or self.shape)

    @property
    def elements(self) -> int:
        """Elements in memory, in whole tiles."""
        if self.tile is None:
            return math.prod(self.shape)
        tiles = (-(-many // each) for many, each in zip(self.shape, self.tile, strict=True))
        return math.prod(tiles) * self.in_tile

    def element(self, i: Index) -> int:
        """Return the number, from 0, of a single element."""
        first, shape = self.run(i)
        if shape:
            raise UsageError(f"shared array: [{i}] names no single element")
        return first

    def run(self, i: Index) -> tuple[int, tuple[int, ...]]:
        """Return the number, from 0, of the first element and the shape of a run: () or (many,) for a slice.

        An index has a number for each axis; the last may be a slice of step 1. Raises UsageError outside the shape, for
        other slices, and for slices beyond a tile.
        """
        axes = i if isinstance(i, tuple) else (i,)
        if len(axes) != len(self.shape):
            raise UsageError(f"shared array: {len(axes)} indices for {len(self.shape)} axes")
        last = axes[-1]
        at = [self._along(axis, each) for axis, each in enumerate(axes[:-1])]
        if not isinstance(last, slice):
            return self._number([*at, self._along(len(axes) - 1, last)]), ()
        start, stop, step = last.indices(self.shape[-1])
        if step != 1:
            raise UsageError(f"shared array: slice of step {step}; allowed: 1")
        if stop > start and self.tile is not None and start // self.tile[-1] != (stop - 1) // self.tile[-1]:
            raise UsageError(f"shared array: slice {start}:{stop} goes beyond a tile of {self.tile[-1]}")
        first = self._number([*at, start]) if stop > start else 0
        return first, (max(0, stop - start),)

    def _along(self, axis: int, index: SupportsIndex | slice) -> int:
        if isinstance(index, slice):
            raise UsageError("shared array: a slice on another axis than the last")
        at, many = whole(index, "index"), self.shape[axis]
        if not -many <= at < many:
            raise UsageError(f"shared array: index {at} on axis {axis} of {many}; allowed: {-many}..{many - 1}")
        return at % many

    def _number(self, at: Sequence[int]) -> int:
        if self.tile is None:
            return _flat(at, self.shape)
        tiles = [-(-many // each) for many, each in zip(self.shape, self.tile, strict=True)]
        tile = _flat([each // of for each, of in zip(at, self.tile, strict=True)], tiles)
        return tile * self.in_tile + _flat([each % of for each, of in zip(at, self.tile, strict=True)], self.tile)


def _flat(at: Sequence[int], shape: Sequence[int]) -> int:
    number = 0
    for each, many in zip(at, shape, strict=True):
        number = number * many + each
    return number


def shape_of(shape: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, ...]:
    """Return a shape as whole numbers, 1 or more for each axis; raise UsageError for a shape without elements."""
    given = shape if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
    axes = tuple(whole(each, "shape") for each in given)
    if not axes or min(axes) < 1:
        raise UsageError(f"shared array: shape {axes} has no elements; allowed: 1 or more along each axis")
    return axes


def whole(value: Any, what: str) -> int:
    """Return a Python int from a whole number, NumPy's included; raise UsageError naming `what` otherwise."""
    try:
        return operator.index(value)
    except TypeError:
        raise UsageError(f"shared array: {what} {value!r} is not allowed; allowed: whole numbers") from None


def dtype_of(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return a dtype whose elements can be copied as bytes.

    Raises UsageError for objects, elements of no bytes, and invalid dtypes.
    """
    try:
        kind = np.dtype(dtype)
    except TypeError as error:
        raise UsageError(
            f"shared array: dtype {dtype!r} ({error}); allowed: a type of NumPy, for instance int64"
        ) from None
    if kind.hasobject or kind.itemsize == 0:
        raise UsageError(f"shared array: dtype {kind}; elements are bytes that can be copied")
    return kind
