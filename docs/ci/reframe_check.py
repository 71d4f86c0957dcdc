"""A ReFrame check to copy: what a conduit adds to the network below it, on any system that has gasmeter.

``reframe -c reframe_check.py -r`` measures blocks of both that alternate in one run, so that the state of the node does
not decide. ReFrame keeps the references by system, for instance
``reference = {"cluster:compute": {"overhead": (0.2, None, 0.1, "ratio")}}``.
"""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_before, sanity_function

NETWORKS = {"smp": "raw@shm", "udp": "raw@udp"}


@rfm.simple_test
class ShortRoundTrip(rfm.RunOnlyRegressionTest):
    """The round trip of a Short active message, and its overhead over the network alone."""

    conduit = parameter(list(NETWORKS))
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "gasmeter"
    num_cpus_per_task = 2

    @run_before("run")
    def measured(self) -> None:
        """Name what is measured."""
        command = f"measure ping-pong --op am-short --conduit {self.conduit} --against {NETWORKS[self.conduit]}"
        self.executable_opts = [*command.split(), "--format", "json"]

    @sanity_function
    def verified(self) -> object:
        """Every row is of data that were looked at and found right."""
        return sn.all([sn.assert_found(r'"verified": true', self.stdout),
                       sn.assert_not_found(r'"verified": (false|"not_checked")', self.stdout)])  # fmt: skip

    @performance_function("ratio")
    def overhead(self) -> float:
        """Value / reference - 1: 0.12 is 12 %."""
        return self.figure("overhead")

    @performance_function("ns")
    def round_trip(self) -> float:
        """Median round trip of the conduit."""
        return self.figure("round_trip")

    def figure(self, metric: str) -> float:
        """Return a figure of the conduit's rows."""
        rows = json.loads(Path(self.stagedir, sn.evaluate(self.stdout)).read_text(encoding="utf-8"))
        return next(row["value"] for row in rows if row["metric"] == metric and row["conduit"] == self.conduit)
