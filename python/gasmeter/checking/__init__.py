"""Machines against independent measurements of their hardware: check rows run, and rows that nobody used.

`points` lists the points of a machine's check rows and turns their rows into values; `checked` runs them. `curves` has
whole measured curves, `overlay` the modelled lines over them. `held` runs both, and `writing` makes a page from the
result.
"""

from gasmeter.checking.candidates import check_draws
from gasmeter.checking.checked import Checked, Finding, check, findings
from gasmeter.checking.held import Held, hold
from gasmeter.checking.points import check_points, modelled

__all__ = ["Checked", "Finding", "Held", "check", "check_draws", "check_points", "findings", "hold", "modelled"]
