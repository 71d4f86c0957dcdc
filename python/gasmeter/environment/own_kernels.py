"""Kernels of the user's own worker program (environment variable ``GASMETER_RANK``)."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from gasmeter.environment.installed import worker_binary
from gasmeter.errors import EnvironmentLacks

__all__ = ["own_kernels", "parse_kernels"]

_TIMEOUT_S = 30.0


def own_kernels() -> list[dict[str, Any]]:
    """Return the kernels that the user's worker program has beyond the installed one.

    There are none without ``GASMETER_RANK``, or for an older build that does not tell. Raises UsageError if the
    variable names no executable file, EnvironmentLacks if the program cannot run here.
    """
    if not os.environ.get("GASMETER_RANK"):
        return []
    binary = worker_binary()
    try:
        listing = subprocess.run(
            [binary, "--kernels"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentLacks(f"GASMETER_RANK={binary} cannot be run ({error}); rebuild it or unset it") from None
    return parse_kernels(listing.stdout) if listing.returncode == 0 else []


def parse_kernels(text: str) -> list[dict[str, Any]]:
    """Return kernels from the ``key=value`` lines of ``gasmeter-rank --kernels``.

    ``kernel``, ``option``, ``op`` and ``metric`` begin an entry of the last kernel or op.
    """
    kernels: list[dict[str, Any]] = []
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key == "kernel":
            kernels.append({"name": value, "summary": "", "variants": [], "raw": [], "options": [], "ops": []})
        elif key == "option":
            kernels[-1]["options"].append({"name": value, "choices": []})
        elif key == "op":
            kernels[-1]["ops"].append({"name": value, "metrics": []})
        elif key == "metric":
            kernels[-1]["ops"][-1]["metrics"].append({"name": value})
        elif key in {"variant", "raw"}:
            kernels[-1]["variants" if key == "variant" else "raw"].append(value)
        else:
            _describe(kernels[-1], key, value)
    return kernels


def _describe(kernel: dict[str, Any], key: str, value: str) -> None:
    owner, _, name = key.rpartition(".")
    if key == "option.choice":
        kernel["options"][-1]["choices"].append(value)
    elif key == "op.sized":
        kernel["ops"][-1]["sized"] = value == "true"
    elif key == "option.default_is_most":
        kernel["options"][-1]["default_is_most"] = value == "true"
    elif key == "measures_simulation":
        kernel[key] = value == "true"
    elif owner == "option":
        kernel["options"][-1][name] = value
    elif owner == "op":
        kernel["ops"][-1][name] = value
    elif owner == "metric":
        kernel["ops"][-1]["metrics"][-1][name] = value
    else:
        kernel[key] = value
