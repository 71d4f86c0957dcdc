"""Programs, arguments and results as bytes, from process to process."""

import io
from collections import ChainMap
from collections.abc import Callable
from types import CodeType
from typing import Any, ClassVar

import cloudpickle

__all__ = ["shipped"]


def shipped(value: object) -> bytes:
    """Return a value as bytes for `pickle.loads`, with functions and classes of the caller's own file.

    Functions remember their file, so that a traceback on a rank shows their lines. Raises the exception of pickling for
    values that cannot be pickled.
    """
    buffer = io.BytesIO()
    _Pickler(buffer).dump(value)
    return buffer.getvalue()


def _code(name: str, make: Callable[..., CodeType], parts: tuple[Any, ...]) -> CodeType:
    return make(*parts).replace(co_filename=name)


def _reduced(code: CodeType) -> tuple[Callable[..., CodeType], tuple[Any, ...]]:
    # From 3.1.3 on cloudpickle drops the file's name, and with it the source line in a traceback.
    make, parts = cloudpickle.Pickler.dispatch_table[CodeType](code)
    return _code, (code.co_filename, make, parts)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # cloudpickle has no types
    dispatch_table: ClassVar = ChainMap({CodeType: _reduced}, cloudpickle.Pickler.dispatch_table)
