"""The command line: one file per command."""

from __future__ import annotations

from gasmeter.cli.app import cli, main

__all__ = ["cli", "main"]
