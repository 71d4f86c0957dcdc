"""Immediate puts and gets of any size: an idle network takes them, by the loop that the documentation shows."""

from __future__ import annotations

import numpy as np
import pytest

import gasmeter as gm
from gasmeter.catalogue import catalogue

pytestmark = pytest.mark.timeout(240)

VIRTUAL = [name for name, conduit in catalogue().conduits.items() if conduit.virtual and not conduit.raw]
SIZES = (1, 512, 4096, 4097, 65536, 65537, 200_001)
MOST_TRIES = 100


def patient(ep):
    """Return how often rank 0 tried each put and get, and whether all data arrived."""
    data = np.resize(np.arange(251, dtype=np.uint8), max(SIZES))
    tries, is_right = [], True
    yield ep.barrier()
    for size in SIZES if ep.rank == 0 else ():
        tried = 1
        while not (yield ep.put(1, 0, data[:size], flags=gm.IMMEDIATE)) and tried < MOST_TRIES:
            tried += 1
            yield ep.poll()
        tries.append(tried)
        tried = 1
        while (answer := (yield ep.get(1, 0, size, flags=gm.IMMEDIATE))) is None and tried < MOST_TRIES:
            tried += 1
            yield ep.poll()
        tries.append(tried)
        is_right = is_right and answer == data[:size].tobytes()
        data = np.roll(data, 1)
    yield ep.barrier()
    return tries, is_right


@pytest.mark.parametrize("conduit", ["smp", *VIRTUAL])
def test_an_idle_network_takes_a_put_and_a_get_of_every_size(conduit):
    tries, is_right = gm.launch(patient, conduit=conduit, ranks=2, segment="1M", timeout=60.0)[0]
    assert is_right
    assert len(tries) == 2 * len(SIZES)
    assert max(tries) < MOST_TRIES
