"""An operation step by step: who spent time where, from initiation to completion, without gaps."""

from gasmeter.trace.steps import PHASES, Operation, Step, Trace
from gasmeter.trace.virtual import trace, trace_point
from gasmeter.trace.writing import TRACE_FILES, chrome_events, steps_frame, sums_table, trace_table, write_traces

__all__ = [
    "PHASES",
    "TRACE_FILES",
    "Operation",
    "Step",
    "Trace",
    "chrome_events",
    "steps_frame",
    "sums_table",
    "trace",
    "trace_point",
    "trace_table",
    "write_traces",
]
