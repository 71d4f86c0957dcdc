"""``python -m gasmeter.rank``: a rank process that runs Python programs, see `gasmeter.programs.rank`."""

from __future__ import annotations

import sys

from gasmeter.programs.rank import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
