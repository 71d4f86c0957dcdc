"""Figures of papers, run again: what they consist of, their points and bands, plots, claims.csv and the report."""

from gasmeter.reproduction.figure import Figure, Line, Paper
from gasmeter.reproduction.papers import PAPERS, figures_of, paper

__all__ = ["PAPERS", "Figure", "Line", "Paper", "figures_of", "paper"]
