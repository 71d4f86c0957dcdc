"""A site of static pages made of stores: the history of every series, its steps, its hosts and samples."""

from gasmeter.dashboard.history import History, Run, Series, find_stores, read_history
from gasmeter.dashboard.site import Site, write_dashboard
from gasmeter.dashboard.steps import confirmed_steps

__all__ = [
    "History",
    "Run",
    "Series",
    "Site",
    "confirmed_steps",
    "find_stores",
    "read_history",
    "write_dashboard",
]
