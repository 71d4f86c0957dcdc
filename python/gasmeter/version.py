"""The version of gasmeter, without loading any other module."""

from __future__ import annotations

__all__ = ["package_version"]


def package_version() -> str:
    """Return the installed version of gasmeter, ``0+source`` from a source tree that is not installed."""
    import importlib.metadata  # noqa: PLC0415 - loads a parser of messages

    try:
        return importlib.metadata.version("gasmeter")
    except importlib.metadata.PackageNotFoundError:
        return "0+source"
