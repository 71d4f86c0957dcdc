"""Kernel stressmark on rank processes and modelled conduits: each run comes to what the program of one process does."""

import importlib.util
import itertools

import pytest

import gasmeter as gm
from gasmeter.measuring.workers import WorkerPool

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("gasmeter._core") is None, reason="needs the compiled core"),
    pytest.mark.timeout(240),
]
OPS = ["pointer", "update", "neighborhood", "field"]
CACHES = ["on", "off"]
SMALL = {"near": "remote", "words": 64, "window": 3, "rows": 3, "distance": 1, "columns": 30, "bytes": 900, "width": 2}
LENGTH = 5


@pytest.mark.parametrize("conduit", ["smp", "udp"])
@pytest.mark.parametrize("ranks", [1, 2, 5, 16])
def test_stressmarks_of_processes_verify(conduit, ranks):
    with WorkerPool(ranks) as pool:
        for number, (op, cache) in enumerate(itertools.product(OPS, CACHES)):
            session = {"session": str(number)}
            options = {f"option.{name}": str(value) for name, value in {**SMALL, "cache": cache}.items()}
            opened = {"verb": "open", "kernel": "stressmark", "op": op, "conduit": conduit, "variant": "",
                      "size_bytes": "0", "seed": "7", "ranks": str(ranks)}  # fmt: skip
            assert all(reply["status"] == "ok" for reply in pool.command(session | opened | options))
            pool.command(session | {"verb": "block", "iterations": str(LENGTH)}, timeout=120)
            replies = pool.command(session | {"verb": "verify"}, timeout=120)
            assert [(reply["verified"], reply["errors"]) for reply in replies] == [("true", "0")] * ranks, (op, cache)
            assert sum(int(reply["checked"]) for reply in replies) >= ranks
            pool.command(session | {"verb": "close"})


@pytest.mark.parametrize("conduit", ["gm", "lapi"])
@pytest.mark.parametrize("cache", CACHES)
def test_stressmarks_of_virtual_ranks_verify(conduit, cache):
    result = gm.measure(
        "stressmark",
        conduit=conduit,
        op="all",
        ranks=[1, 2, 5, 16],
        iterations=LENGTH,
        options={**SMALL, "cache": cache},
    )
    assert len(result.frame().groupby(["op", "ranks"])) == 16
    assert result.verified
