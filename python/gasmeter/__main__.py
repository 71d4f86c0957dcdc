"""``python -m gasmeter`` and the command ``gasmeter``: the command line."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C ends it with status 130 also while its modules are still being loaded."""
    try:
        from gasmeter.cli import main as command_line  # noqa: PLC0415 - inside, so that Ctrl-C is caught
    except KeyboardInterrupt:
        sys.exit(130)
    command_line()


if __name__ == "__main__":
    main()
