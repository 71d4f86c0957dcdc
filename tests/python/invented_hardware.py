"""Hardware that nobody measured: facts, a check row and curves, beside which the fake machine is held."""

from gasmeter.checking import checked, curves, held, points
from gasmeter.checking.curves import Curves, read_curves
from gasmeter.machines import check_row, checks, hardware
from gasmeter.machines.checks import read_checks
from gasmeter.machines.hardware import Fact

FACTS = {
    "hw.a.trip": Fact("hw.a.trip", "n", "half a trip", "1.5", "us", "somebody, somewhere", "high", ()),
    "hw.a.links": Fact("hw.a.links", "n", "links", "45", "Gbit/s", "somebody else", "high", ()),
}
POINT = """\
kernel = "ping-pong"
op = "am-medium"
conduit = "raw@extoll"
metric = "round_trip"
size = 8
iterations = 10
"""
"""Point that a check row runs."""
TRIP = f"""
[machines.extoll]
describes = ["hw.a."]
[[check]]
machine = "extoll"
hardware = "hw.a.trip"
published = "1.5 us"
kind = "equals"
modelled = "trip / 2"
[check.points.trip]
{POINT}"""
"""A check row on `hw.a.trip`."""
CURVES = """
[[group]]
name = "latency"
title = "Latency of <nodes>"
quantity = "Half a round trip"
unit = "us"
[[curve]]
id = "a-mpi"
group = "latency"
label = "MPI & co."
network = "extoll"
processor = "Opteron"
machines = ["extoll"]
source = "somebody, somewhere"
read = "printed"
hardware = ["hw.a.trip"]
note = ""
[[curve]]
id = "a-other"
group = "latency"
label = "MPI elsewhere"
network = "extoll"
processor = "Pentium"
machines = []
source = "somebody else"
read = "by eye, a tenth"
hardware = []
note = "far away"
[[line]]
label = "MPI (raw@mpi@extoll)"
over = ["a-mpi", "a-other"]
kind = "equals"
kernel = "ping-pong"
conduit = "raw@mpi@extoll"
metric = "round_trip"
modelled = "round_trip / 2"
note = "the same"
[[line.parts]]
op = "am-medium"
from = 0
to = 64
iterations = 20
[[line.parts]]
op = "am-medium"
from = 65
to = 128
iterations = 4
[[line]]
label = "card alone (raw@extoll)"
over = ["a-mpi"]
kind = "at_most"
kernel = "ping-pong"
conduit = "raw@extoll"
metric = "round_trip"
modelled = "round_trip / 2"
parts = [{ op = "am-medium", from = 8, to = 64, iterations = 20 }]
note = "software on top"
"""
POINTS = "curve,size_bytes,value\na-mpi,0,1.0\na-mpi,8,2.0\na-mpi,128,1.5\na-mpi,4096,9\na-other,0,1.0\na-other,8,1.1\n"
TRIP_NS, CARD_NS = 2900.0, 4200.0  # round trip by MPI, and on the card alone


def published(monkeypatch, facts, text=""):
    """Put facts, and check rows if any, in the place of those that come with the package."""
    for module in (hardware, check_row, checks, checked, curves):
        monkeypatch.setattr(module, "facts", lambda: facts)
    if text:
        result = read_checks(text)
        for module in (checks, points, checked):
            monkeypatch.setattr(module, "checks", lambda: result)


def measured(monkeypatch, machine) -> Curves:
    """Hold the fake machine, which takes times of its own, beside a check row and curves; return these."""
    published(monkeypatch, FACTS, TRIP)
    curves = read_curves(CURVES, POINTS)
    monkeypatch.setattr(held, "curves", lambda: curves)
    monkeypatch.setattr("fakes.cost_ns", lambda kernel, op, conduit, size: TRIP_NS if "mpi" in conduit else CARD_NS)
    machine.noise = 0.0
    return curves
