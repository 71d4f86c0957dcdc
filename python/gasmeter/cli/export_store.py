"""`gasmeter export osu|google-benchmark|…`: a store, for other tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from gasmeter.cli.common import note, option, out

__all__ = ["A_FILE", "STORE_EXPORTS"]

A_FILE = "a file in a folder that you may write (--out)"
"""Places that may be written, for messages."""


def _command(
    name: str, what: str, summary: str, *, several: bool = False
) -> Callable[[Callable[[Any], str | Mapping[str, str]]], click.Command]:
    """Return a decorator that makes a command from a format's function of one or several stores."""

    def decorate(render: Callable[[Any], str | Mapping[str, str]]) -> click.Command:
        def run(*, store: Path | tuple[Path, ...], target: Path) -> None:
            from gasmeter.stores.files import refused

            content = render(store)
            files = (
                {target: content} if isinstance(content, str) else {target / key: text for key, text in content.items()}
            )
            for path, text in files.items():
                try:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8")
                except OSError as error:
                    raise refused(path, error, A_FILE) from error
                out(str(path))
            of = f"{len(store)} stores" if isinstance(store, tuple) else store
            note(f"{of}: {len(files)} {'file' if len(files) == 1 else 'files'} for {name}")

        function: Any = option(
            "--out", "target", required=True, metavar=what, type=click.Path(path_type=Path),
            help=f"{what.capitalize()} to write.",
        )(run)  # fmt: skip
        how: Any = {"nargs": -1, "required": True, "metavar": "STORE..."} if several else {}
        function = click.argument("store", type=click.Path(path_type=Path), **how)(function)
        return click.command(name, help=summary)(function)

    return decorate


@_command("osu", "FILE", "Write STORE as text in the layout of the OSU benchmarks.")
def _osu(store: Path) -> str:
    from gasmeter.exchange.writing import stored
    from gasmeter.rows.formats import to_osu

    return to_osu(stored(store)[0])


@_command("google-benchmark", "FILE", "Write STORE as Google Benchmark's JSON, an entry for each block.")
def _google(store: Path) -> str:
    from gasmeter.exchange import to_google_benchmark

    return to_google_benchmark(store)


@_command("asv", "DIR", "Write STORE as a results folder of asv.")
def _asv(store: Path) -> Mapping[str, str]:
    from gasmeter.exchange import to_asv

    return to_asv(store)


@_command("otava", "DIR", "Write stores as a history for Apache Otava: a table and its configuration.", several=True)
def _otava(stores: tuple[Path, ...]) -> Mapping[str, str]:
    from gasmeter.exchange import to_otava

    return to_otava(stores)


STORE_EXPORTS = (_osu, _google, _asv, _otava)
"""Commands of `gasmeter export` that take a store."""
