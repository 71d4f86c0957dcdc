import json
import subprocess
import sys

import pytest
from pydantic import ValidationError

from gasmeter.sweeps.point import Budget, Group, Point


def point(**changes):
    return Point(**{"kernel": "ping-pong", "op": "put", "conduit": "smp", "size_bytes": 8, **changes})


def test_the_same_content_has_the_same_identity_in_every_process():
    build = "Point(kernel='ping-pong', op='put', conduit='smp', size_bytes=8)"
    program = f"from gasmeter.sweeps.point import Point; print({build}.id)"
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == point().id
    assert len(point().id) == 16


@pytest.mark.parametrize(
    "change",
    [
        {"op": "get"},
        {"conduit": "raw@shm"},
        {"size_bytes": 16},
        {"ranks": 4},
        {"options": {"am": "reference"}},
        {"seed": 2},
        {"repetition": 1},
        {"budget": Budget(ci=0.02)},
        {"variant": "am"},
    ],
)
def test_any_change_of_content_changes_the_identity(change):
    assert point(**change).id != point().id


def test_the_order_of_options_does_not_matter():
    assert point(options={"a": "1", "b": "2"}).id == point(options={"b": "2", "a": "1"}).id


def test_a_point_survives_json():
    original = point(options={"am": "reference"}, budget=Budget(ci=0.02))
    assert Point(**json.loads(original.model_dump_json())).id == original.id


def test_a_point_cannot_be_changed():
    with pytest.raises(ValidationError):
        point().ranks = 3


def test_a_group_is_known_by_its_points_and_what_is_compared():
    first, second = point(), point(conduit="raw@shm")
    assert Group(points=(first, second)).id != Group(points=(second, first)).id
    assert Group(points=(first, second)).id != Group(points=(first, second), reference=0).id
    assert Group(points=(first,)).id != first.id


def test_a_point_describes_itself():
    assert point(options={"am": "reference"}).describe() == "ping-pong put 8 B on smp, 2 ranks (am=reference)"
