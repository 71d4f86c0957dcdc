"""Machines held against independent measurements of their hardware: check rows run, and what nobody has used.

`points` says what is run for the check rows of a machine and makes their values of the rows; `checked` runs it.
`curves` has whole curves that were measured, `overlay` the modelled lines over them; `held` runs both, `writing` makes
a page of it.
"""

from gasmeter.checking.candidates import check_draws
from gasmeter.checking.checked import Checked, Finding, check, findings
from gasmeter.checking.held import Held, hold
from gasmeter.checking.points import check_points, modelled

__all__ = ["Checked", "Finding", "Held", "check", "check_draws", "check_points", "findings", "hold", "modelled"]
