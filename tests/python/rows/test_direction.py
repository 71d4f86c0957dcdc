"""Better direction of a quantity: from the catalogue, or by its unit if the catalogue lacks it."""

import pytest

from gasmeter.catalogue import declared
from gasmeter.rows.direction import better


def test_what_the_catalogue_knows_gets_better_as_it_says():
    assert {name: better(name, "?") for name in declared().metrics} == {
        name: metric.better for name, metric in declared().metrics.items()
    }
    assert {better(name, "?") for name in ("train", "gap", "send_overhead", "receive_overhead")} == {"smaller"}


@pytest.mark.parametrize(("unit", "way"), [("us", "smaller"), ("B", "smaller"), ("B/s", "bigger"), ("1", "neither")])
def test_another_quantity_gets_better_by_its_unit(unit, way):
    assert better("time_per_message", unit) == way
