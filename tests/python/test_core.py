"""The compiled core as Python sees it: catalogue, jobs in virtual time, errors, stub."""

from __future__ import annotations

import ast
import inspect
import os
import signal
import threading
import time
from pathlib import Path

import pytest

import gasmeter as gm
from gasmeter import _core, catalogue
from gasmeter.environment import own_kernels
from gasmeter.environment.limits import VIRTUAL_RANKS
from gasmeter.measuring.sessions import ModelSession
from gasmeter.sweeps.series import Series
from gasmeter.sweeps.sweep import plan_series

PACKAGE = Path(gm.__file__).parent
OPTION_KEYS = {"name", "type", "default", "default_is_most", "unit", "choices", "summary", "neutral"}


def test_catalogue_describes_everything():
    declared = _core.catalogue()
    assert set(declared) == {"kernels", "conduits", "networks", "metrics", "counters"}
    kernels = {kernel["name"]: kernel for kernel in declared["kernels"]}
    assert {"ping-pong", "flood", "barrier", "random-access"} <= set(kernels)
    for kernel in kernels.values():
        assert set(kernel) == {"name", "summary", "raw", "variants", "ops", "options", "measures_simulation"}
        assert kernel["summary"]
        assert kernel["ops"]
        for op in kernel["ops"]:
            assert set(op) == {"name", "summary", "metrics", "sized"}
            assert isinstance(op["sized"], bool)
            assert op["metrics"]
            assert all(set(metric) == {"name", "unit", "semantics", "in_memory"} for metric in op["metrics"])
        assert all(set(option) == OPTION_KEYS for option in kernel["options"])
    assert "shm" in kernels["ping-pong"]["raw"]
    conduits = {conduit["name"]: conduit for conduit in declared["conduits"]}
    assert conduits["smp"]["kind"] == "measured"
    assert conduits["smp"]["network"] == "shm"
    assert conduits["ideal"]["kind"] == "modelled"
    for conduit in conduits.values():
        assert all(set(option) == OPTION_KEYS for option in conduit["options"])


def test_every_fact_that_is_said_once_is_in_the_catalogue():
    declared = _core.catalogue()
    metrics = {metric["name"]: metric for metric in declared["metrics"]}
    used = {(m["name"], m["unit"]) for k in declared["kernels"] for op in k["ops"] for m in op["metrics"]}
    assert {(name, metrics[name]["unit"]) for name, _ in used} == used
    assert set(metrics) - {name for name, _ in used} == {"overhead"}  # Python derives it from two metrics
    assert {metric["better"] for metric in metrics.values()} == {"smaller", "bigger"}
    networks = {network["name"]: network for network in declared["networks"]}
    assert {conduit["network"] for conduit in declared["conduits"]} == set(networks)
    assert all(bool(network["parameters"]) == (network["kind"] == "modelled") for network in networks.values())
    assert [network["name"] for network in declared["networks"] if network["shares_memory"]] == ["shm"]
    neutral = {o["name"] for conduit in declared["conduits"] for o in conduit["options"] if o["neutral"]}
    assert neutral == {"fibres", "sync", "threads"}
    assert not any(
        o["neutral"] for conduit in declared["conduits"] if conduit["name"] == "smp" for o in conduit["options"]
    )
    assert {counter["unit"] for counter in declared["counters"]} == {"1", "B", "ns"}


def test_build_info_names_compiler_and_version():
    info = _core.build_info()
    assert set(info) == {"version", "compiler", "build_type", "flags", "sanitizers"}
    assert info["version"] == gm.__version__
    assert info["compiler"]


def job(**changes):
    return _core.ModelJob(**{"kernel": "ping-pong", "op": "am-short", "conduit": "ideal", "ranks": 2, **changes})


def test_modelled_job_runs_in_exact_virtual_time():
    results = []
    for _ in range(2):
        model = job()
        results.append([model.block(10), model.block(20), model.verify()])
        model.close()
        model.close()
    assert results[0] == results[1]
    first, second, verified = results[0]
    assert first["operations"] == 10
    assert second["operations"] == 20
    assert first["elapsed_ns"] > 0
    assert first["metric.round_trip"] == pytest.approx(first["elapsed_ns"] / 10)
    assert verified["verified"] is True
    assert verified["errors"] == 0
    assert verified["checked"] > 0


@pytest.mark.parametrize(("network", "is_moved"), [("portals", False), ("extoll", True)])
def test_draws_move_what_conduits_hold_where_an_estimate_is_a_size(network, is_moved):
    """No time does: a reproduction looks at a few draws whether it may take what the machine as given holds."""

    def held(name):
        series = Series(kernel="barrier", conduit=(network,), machine=(name,), ranks=(8,), iterations=1, blocks=1)
        (group,) = plan_series(series)
        session = ModelSession(group.points[0])
        metrics = session.block(1).metrics
        session.close()
        return metrics["latency"], metrics["reserved_bytes"]

    drawn = [held(f"{network}+{kind}={number}") for kind in ("draw", "null") for number in range(4)]
    assert len({latency for latency, _ in drawn}) == len(drawn)
    assert ({bytes_ for _, bytes_ in drawn} != {held(network)[1]}) == is_moved


def test_modelled_job_takes_options():
    assert job(options={"sync": "strict"}).block(5) == job(options={"sync": "lazy"}).block(5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kernel": "ping"}, "kernel 'ping' is unknown; known: "),
        ({"op": "am"}, "kernel ping-pong has no op 'am'; it has am-short"),
        ({"conduit": "idle"}, "conduit 'idle' is unknown; known: smp"),
        ({"conduit": "smp"}, "conduit smp runs on rank processes, not in virtual time"),
        ({"kernel": "random-access", "op": "", "variant": "x"}, "random-access has no "),
        ({"ranks": 0}, "ranks=0; at least 1"),
        ({"ranks": VIRTUAL_RANKS + 1}, f"virtual time carries 1..{VIRTUAL_RANKS}"),
        ({"options": {"sync": "late"}}, "option 'sync=late': allowed are lazy, strict"),
        ({"options": {"speed": "1"}}, "option 'speed=1' is unknown"),
    ],
)
def test_wrong_modelled_job_is_refused_in_one_line(changes, words):
    with pytest.raises(gm.UsageError) as caught:
        job(**changes)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_closed_job_and_empty_block_are_refused():
    model = job()
    with pytest.raises(gm.UsageError, match="iterations=0; at least 1"):
        model.block(0)
    model.close()
    with pytest.raises(gm.UsageError, match="it is closed"):
        model.block(1)
    model.stop()


def test_interrupt_ends_a_modelled_run():
    model = job()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.block(10**12)
    assert time.monotonic() - start < 10


def test_other_threads_run_during_a_modelled_run_and_can_stop_it():
    model = job()
    outcome = []

    def run():
        try:
            model.block(10**12)
        except gm.GasmeterError as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.2)
    with pytest.raises(gm.UsageError, match="runs in another thread"):
        model.block(1)
    with pytest.raises(gm.UsageError, match="runs in another thread"):
        model.close()
    model.stop()
    thread.join(timeout=10)
    assert not thread.is_alive()
    assert type(outcome[0]) is gm.GasmeterError


def test_rank_outside_a_job_is_a_usage_error(monkeypatch):
    monkeypatch.delenv("GASMETER_RANK_LINK", raising=False)
    with pytest.raises(gm.UsageError, match="GASMETER_RANK_LINK is not set"):
        _core.Rank()
    monkeypatch.setenv("GASMETER_RANK_LINK", "nonsense")
    with pytest.raises(gm.UsageError, match="GASMETER_RANK_LINK=nonsense"):
        _core.Rank()


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_stub_and_module_have_the_same_names():
    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    assert functions | set(classes) == public(dir(_core))
    for name, node in classes.items():
        stubbed = public(member.name for member in node.body if isinstance(member, ast.FunctionDef))
        assert stubbed == public(vars(getattr(_core, name))), name


def test_every_public_name_is_documented():
    for name in public(dir(_core)):
        entry = getattr(_core, name)
        assert inspect.getdoc(entry), name
        if inspect.isclass(entry):
            for member in public(vars(entry)):
                assert inspect.getdoc(getattr(entry, member)), f"{name}.{member}"


def test_listing_of_a_worker_is_read_as_a_catalogue():
    text = (
        "kernel=one\nsummary=first\nvariant=a\nvariant=b\nraw=shm\n"
        "option=o\noption.type=choice\noption.default=x\noption.unit=\noption.summary=s=t\noption.choice=x\noption.choice=y\n"
        "op=put\nop.summary=puts\nop.sized=true\nmetric=latency\nmetric.unit=ns\nmetric.semantics=done\n"
        "metric.better=smaller\nmetric.scale=0.001\n"
        "kernel=two\nsummary=second\nop=go\nop.summary=goes\nop.sized=false\n"
    )
    first, two = own_kernels.parse_kernels(text)
    assert first["variants"] == ["a", "b"]
    assert first["raw"] == ["shm"]
    assert first["options"] == [
        {"name": "o", "type": "choice", "default": "x", "unit": "", "summary": "s=t", "choices": ["x", "y"]}
    ]
    latency = {"name": "latency", "unit": "ns", "semantics": "done", "better": "smaller", "scale": "0.001"}
    assert first["ops"] == [{"name": "put", "summary": "puts", "sized": True, "metrics": [latency]}]
    assert two["ops"] == [{"name": "go", "summary": "goes", "sized": False, "metrics": []}]


def test_metric_that_a_kernel_of_ones_own_brings_is_known_and_others_stay_as_they_are(monkeypatch):
    listing = own_kernels.parse_kernels(
        "kernel=spin\nsummary=turns\nop=turn\nop.summary=turns\nop.sized=false\n"
        "metric=turns\nmetric.unit=1\nmetric.semantics=of a coil\nmetric.in_memory=\nmetric.better=bigger\n"
        "metric.label=Turns\nmetric.shown=k\nmetric.scale=0.001\n"
        "metric=latency\nmetric.unit=s\nmetric.better=bigger\nmetric.label=L\nmetric.shown=s\nmetric.scale=1\n"
    )
    monkeypatch.setattr(catalogue, "own_kernels", lambda: listing)
    catalogued = catalogue.catalogue.__wrapped__().metrics
    assert catalogued["turns"] == catalogue.KnownMetric("turns", "1", "bigger", "Turns", "k", 1e-3)
    assert catalogued["latency"] == catalogue.declared().metrics["latency"]
