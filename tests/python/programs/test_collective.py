import pytest

from gasmeter import _core
from gasmeter.errors import UsageError

OPS = ("barrier", "named-barrier", "broadcast", "reduce", "reduce-all", "exchange", "gather", "scan")


def latency(op, size=64, ranks=5, conduit="ideal", **options):
    """Nanoseconds of virtual time that one takes, after its data were found right."""
    job = _core.ModelJob(
        kernel="collective", op=op, conduit=conduit, size_bytes=size, seed=7, ranks=ranks, options=options
    )
    block = job.block(3)
    assert job.verify()["verified"]
    job.close()
    return block["metric.latency"]


@pytest.mark.parametrize("ranks", [2, 5, 8])
@pytest.mark.parametrize("op", OPS)
def test_every_collective_is_verified_in_virtual_time(op, ranks):
    assert latency(op, ranks=ranks) > 0


def test_automatic_is_the_cheaper_algorithm():
    for size, cheap, dear in ((8, "recursive-doubling", "ring"), (256 * 1024, "ring", "recursive-doubling")):
        times = {name: latency("reduce-all", size, 8, algorithm=name) for name in ("auto", cheap, dear)}
        assert times["auto"] == times[cheap] < times[dear]


@pytest.mark.parametrize(
    ("op", "size", "given", "named"),
    [
        ("reduce-all", 8, "auto", "recursive-doubling"),
        ("reduce-all", 256 * 1024, "auto", "ring"),
        ("reduce-all", 8, "ring", "ring"),
        ("barrier", 0, "auto", "dissemination"),
        ("named-barrier", 0, "auto", None),
    ],
)
def test_a_job_names_the_algorithm_that_ran(op, size, given, named):
    job = _core.ModelJob(
        kernel="collective",
        op=op,
        conduit="ideal",
        size_bytes=size,
        ranks=8,
        options={"algorithm": given, "nodes": "8"},
    )
    job.block(1)
    assert job.resolved() == ({"algorithm": named} if named else {})
    job.close()


@pytest.mark.parametrize(
    ("op", "size", "options", "text"),
    [
        ("broadcast", 8, {"algorithm": "bruck"}, "no algorithm bruck; it has auto, binomial, scatter-ring"),
        ("named-barrier", 8, {"algorithm": "dissemination"}, "no algorithm dissemination; it has auto"),
        ("reduce", 12, {}, "size 12 B; it adds up words of 8 B"),
    ],
)
def test_what_makes_no_sense_is_refused(op, size, options, text):
    with pytest.raises(UsageError, match=text):
        latency(op, size, **options)
