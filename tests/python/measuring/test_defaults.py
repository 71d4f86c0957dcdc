"""Every kernel, op and conduit by its defaults: good rows, or a refusal whose reason the catalogue states."""

import pytest

import gasmeter as gm
from gasmeter.catalogue import catalogue
from gasmeter.functions.listing import all_conduits
from gasmeter.measuring.execution import Run, execute
from gasmeter.measuring.measurement import measurement
from gasmeter.measuring.runner import Runner

CONDUITS = {conduit.name: conduit for conduit in all_conduits()}
MODELLED = [name for name, conduit in CONDUITS.items() if conduit.virtual]
REAL = [name for name, conduit in CONDUITS.items() if not conduit.virtual]
SHORTER = {"random-access": {"sizes": "64K"}, "immediate": {"options": {"messages": 600}}}
"""Options that shorten minutes of virtual time. No limit depends on them."""


def pairs(conduit):
    """The kernels that a conduit may run, with each of their ops."""
    for kernel in catalogue().kernels.values():
        if not conduit.raw or conduit.name.removeprefix("raw@") in kernel.raw:
            for op in kernel.ops:
                yield kernel, op


def stated(kernel, op, conduit, message):
    """Whether the catalogue says why something is refused."""
    if kernel.measures_simulation and not conduit.virtual:
        return True
    if any(words in message for words in ("no op", "raw alone", "on conduits, not on raw")):
        return any(words in op.summary for words in ("alone", "raw where the network has", f"not on {conduit.name}"))
    return any(f"{option.name}={choice}" in message for option in conduit.options for choice in option.choices)


def failed(conduit, ops, runner):
    """Return the points that neither give good rows nor are refused with a reason, by default at both ends of sizes."""
    wrong = []
    for kernel, op in ops:
        experiment = measurement(
            kernel.name, conduit=conduit.name, op=op.name, iterations=1, time="1ms", max_time="20s",
            **SHORTER.get(kernel.name, {}),
        )  # fmt: skip
        groups = experiment.groups()
        ends = [groups[0], groups[-1]] if len(groups) > 1 else groups
        try:
            result = execute(experiment, Run(runner=runner, planned=ends))
        except gm.UsageError as error:
            if not stated(kernel, op, conduit, str(error)):
                wrong.append(f"{kernel.name} {op.name}: {error}")
        else:
            if not result.rows or not result.verified or result.errors:
                wrong.append(f"{kernel.name} {op.name}: {len(result.rows)} rows, {result.errors or result.notes}")
    return wrong


@pytest.fixture(scope="module")
def runner():
    entry = Runner()
    yield entry
    entry.pools.close()


@pytest.mark.parametrize("name", MODELLED)
def test_the_first_op_of_every_kernel_runs_by_its_defaults_in_virtual_time(name, runner):
    conduit = CONDUITS[name]
    firsts = [(kernel, op) for kernel, op in pairs(conduit) if op is kernel.ops[0]]
    assert failed(conduit, firsts, runner) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELLED)
def test_every_op_runs_by_its_defaults_in_virtual_time(name, runner):
    assert failed(CONDUITS[name], pairs(CONDUITS[name]), runner) == []


@pytest.mark.parametrize("name", ["smp", "raw@shm"])
def test_the_first_op_of_every_kernel_runs_by_its_defaults_on_memory(name, runner):
    conduit = CONDUITS[name]
    firsts = [(kernel, op) for kernel, op in pairs(conduit) if op is kernel.ops[0]]
    assert failed(conduit, firsts, runner) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_every_op_runs_by_its_defaults_on_real_ranks(name, runner):
    try:
        assert failed(CONDUITS[name], pairs(CONDUITS[name]), runner) == []
    except gm.EnvironmentLacks as error:
        pytest.skip(str(error))


def test_a_refusal_that_the_catalogue_does_not_state_is_found():
    kernel, conduit = catalogue().kernel("ping-pong"), CONDUITS["sci"]
    assert not stated(kernel, kernel.op("put"), conduit, "payload=4032 exceeds the largest Medium payload")
    assert not stated(kernel, kernel.op("am-short"), CONDUITS["raw@gm"], "no op 'am-short'; it has put")
    assert stated(kernel, kernel.op("call"), CONDUITS["raw@gm"], "no op 'call'; it has put")
    assert stated(kernel, kernel.op("put"), conduit, "4194304 bytes; more with big_area=on")


# ---- defaults that follow limits


def resolved(**settings):
    """Return the resolved values of options that were not given, and the rows of the point."""
    shorter = {"messages": 600} if settings["kernel"] == "immediate" else {}
    options = {**shorter, **settings.pop("options", {})}
    result = gm.measure(iterations=1, progress=False, options=options, **settings)
    assert result.verified
    chosen = {}
    for record in result.records:
        for facts in record.resolved.values():
            chosen.update(facts)
    return {name: facts for name, facts in chosen.items() if name not in shorter}, result.rows


@pytest.mark.parametrize(("conduit", "most"), [("sci", "2048"), ("portals", "1984"), ("ibv", "4024")])
def test_the_default_payload_of_immediate_is_what_a_medium_holds(conduit, most):
    chosen, rows = resolved(kernel="immediate", conduit=conduit)
    assert chosen["payload"] == {"value": most, "origin": "auto"}
    assert {row["options"] for row in rows} == {"messages=600"}
    with pytest.raises(gm.UsageError, match=f"payload=4032 exceeds the largest Medium payload of {most} B"):
        gm.measure("immediate", conduit=conduit, options={"payload": 4032}, progress=False)


def test_a_default_that_fits_is_left_alone():
    assert resolved(kernel="immediate", conduit="extoll")[0] == {}
    given, rows = resolved(kernel="immediate", conduit="extoll", options={"payload": 4032})
    assert given["payload"] == {"value": "4032", "origin": "asked"}
    assert {row["options"] for row in rows} == {"messages=600;payload=4032"}
    assert [row["value"] for row in rows] == [row["value"] for row in resolved(kernel="immediate", conduit="extoll")[1]]


def test_the_default_window_of_local_completion_is_what_a_segment_holds():
    assert resolved(kernel="local-completion", conduit="sci", sizes="64K")[0]["window"]["value"] == "32"
    assert resolved(kernel="local-completion", conduit="sci", sizes="2M")[0]["window"]["value"] == "1"
    assert "window" not in resolved(kernel="local-completion", conduit="sci", sizes="32K")[0]
    assert resolved(kernel="local-completion", conduit="sci", sizes="64K", options={"big_area": "on"})[0].keys() == {
        "big_area"
    }
    with pytest.raises(gm.UsageError, match="exports a segment of 4194304 bytes"):
        gm.measure("local-completion", conduit="sci", sizes="64K", options={"window": 64}, progress=False)


def test_the_default_words_of_stressmarks_are_what_dis_allows_all_ranks():
    settings = {"kernel": "stressmark", "conduit": "ideal", "op": "update", "ranks": 4096, "max_time": "60s"}
    apart = {"nodes": 4096}
    assert resolved(**settings, options=apart)[0]["words"] == {"value": "4096", "origin": "auto"}
    with pytest.raises(gm.UsageError, match="option 'words=8192' with 4096 ranks: DIS allows 16 to 16777216"):
        gm.measure(**settings, options={**apart, "words": 8192}, progress=False)


def test_the_default_table_of_random_access_is_what_segments_hold():
    chosen, rows = resolved(kernel="random-access", conduit="sci")
    assert chosen == {}
    assert {row["size_bytes"] for row in rows} == {4 << 20}
    result = gm.measure("random-access", conduit="sci", ranks=4, iterations=1, progress=False)
    assert {row["size_bytes"] for row in result.rows} == {8 << 20}
    assert result.verified
    assert result.notes[0] == (
        "random-access: table of 8 MiB in place of the default of 32 MiB: "
        "sci holds at most 2 MiB in the segment of a rank"
    )
    plan = measurement("random-access", conduit="extoll", against="sci").groups()
    assert {point.size_bytes for group in plan for point in group.points} == {4 << 20}
    for others in ({"conduit": "extoll"}, {"conduit": "sci", "options": {"big_area": "on"}}, {"conduit": "smp"}):
        (group,) = measurement("random-access", **others).groups()
        assert (group.points[0].size_bytes, group.note) == (32 << 20, "")
    with pytest.raises(gm.UsageError, match="exports a segment of 16777216 bytes"):
        gm.measure("random-access", conduit="sci", sizes="32M", iterations=1, progress=False)


def test_one_rank_has_a_barrier_by_itself():
    chosen, rows = resolved(kernel="barrier", conduit="ideal", ranks=1)
    assert chosen == {}
    assert next(row["value"] for row in rows if row["metric"] == "latency") == 0
    assert gm.measure("barrier", conduit="ideal", ranks=1, progress=False).verified  # and ends by itself
    with pytest.raises(gm.UsageError, match=r"option 'nodes=2': allowed are 1..1"):
        gm.measure("barrier", conduit="ideal", ranks=1, options={"nodes": 2}, progress=False)


def test_a_size_that_nobody_asked_for_is_left_out_where_a_smaller_one_opens():
    result = gm.measure("vis", conduit="sci", op="strided-put", iterations=1, progress=False)
    assert max(row["size_bytes"] for row in result.rows) == 1 << 20
    assert sum("driver.segment_limit" in note for note in result.notes) == 2
    with pytest.raises(gm.UsageError, match=r"exports a segment of [0-9]+ bytes; the driver finds 2097152 bytes"):
        gm.measure("vis", conduit="sci", op="strided-put", sizes="4M", iterations=1, progress=False)
