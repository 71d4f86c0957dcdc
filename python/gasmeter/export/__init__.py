"""Runs of modelled blocks for other simulators: as GOAL, and as a SimGrid platform with a program that replays them.

``recording(...)`` runs a block and keeps each rank's operations; `write_goal` and `write_simgrid` write them.
"""

from __future__ import annotations

from gasmeter.export.goal import write_goal
from gasmeter.export.record import Record, record_point, recording
from gasmeter.export.simgrid import write_simgrid

__all__ = ["Record", "record_point", "recording", "write_goal", "write_simgrid"]
