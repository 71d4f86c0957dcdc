"""The LogGP model of a conduit, fitted to rows of kernel `loggp`: L, o_s, o_r, g, G with intervals, by protocol."""

from gasmeter.loggp.curves import Curves, curves_of, read_curves
from gasmeter.loggp.fitting import LogGP, Parameter, Segment, fit_curves

__all__ = ["Curves", "LogGP", "Parameter", "Segment", "curves_of", "fit_curves", "read_curves"]
