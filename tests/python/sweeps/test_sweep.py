import pytest

import gasmeter as gm
from gasmeter.errors import UsageError
from gasmeter.sweeps.series import Series
from gasmeter.sweeps.sweep import plan, plan_series

pytestmark = pytest.mark.usefixtures("machine")


def experiment(**settings):
    return gm.Experiment(
        **{"name": "test", "kernel": "ping-pong", "conduit": "smp", "op": "put", "sizes": "8", **settings}
    )


def described(groups):
    return [[point.describe() for point in group.points] for group in groups]


def test_axes_are_crossed():
    points = experiment(op=("put", "get"), sizes="8,64", ranks="2,4").points()
    assert len(points) == 8
    assert len({point.id for point in points}) == 8


def test_what_has_no_size_is_one_point_where_none_are_asked_for():
    (group,) = plan_series(Series(kernel="barrier", conduit=("smp",), ranks=(2,)))
    assert [point.size_bytes for point in group.points] == [0]
    assert len(plan_series(Series(kernel="ping-pong", op=("put",), conduit=("smp",)))) > 10


def test_zipped_axes_advance_together():
    points = experiment(op=("put", "get"), sizes="8,64", zip=(("op", "size"),)).points()
    assert [(point.op, point.size_bytes) for point in points] == [("put", 8), ("get", 64)]


def test_zipped_axes_must_be_equally_long():
    with pytest.raises(UsageError, match="op has 2, size has 1"):
        experiment(op=("put", "get"), zip=(("op", "size"),)).points()


def test_an_option_with_a_list_is_an_axis():
    points = experiment(options={"threads": ["false", "true"]}).points()
    assert [point.options for point in points] == [{}, {"threads": "true"}]


def test_options_are_canonical_and_defaults_left_out():
    points = experiment(options={"threads": True, "debug_spin": 0.0}).points()
    assert points[0].options == {"threads": "true"}


def test_an_option_reaches_only_those_who_know_it():
    groups = experiment(options={"threads": "true"}, against="raw@shm").groups()
    assert [point.options for point in groups[0].points] == [{}, {"threads": "true"}]


def test_operations_without_size_have_one_point():
    points = experiment(op="am-short", sizes="8:1M").points()
    assert [point.size_bytes for point in points] == [0]


def test_points_that_differ_in_conduit_only_stand_in_one_group():
    groups = experiment(op=("put", "get"), sizes="8,64", conduit=("smp", "raw@shm"), against="raw@shm").groups()
    assert len(groups) == 4
    assert all(group.points[group.reference].conduit == "raw@shm" for group in groups)
    assert all(len(group.points) == 2 for group in groups)


def test_the_reference_is_added_if_it_is_not_an_axis_value():
    (group,) = experiment(against="raw@shm").groups()
    assert [point.conduit for point in group.points] == ["raw@shm", "smp"]


def test_every_variant_is_compared_with_the_raw_network():
    (group,) = experiment(kernel="random-access", op="update", sizes="1M", variant="all", against="raw@shm").groups()
    assert [point.variant for point in group.points] == ["raw", "am", "put-get", "direct"]


def test_an_option_can_be_the_reference():
    (group,) = experiment(options={"threads": ("false", "true")}, against={"threads": "false"}).groups()
    assert group.reference_name == "threads=false"
    assert [point.options for point in group.points] == [{}, {"threads": "true"}]


def test_an_operation_can_be_the_reference():
    groups = experiment(op=("put", "get"), sizes="8,64", against={"op": "call"}).groups()
    assert [[point.op for point in group.points] for group in groups] == [["call", "put", "get"]] * 2


def test_seeds_and_repetitions_are_axes():
    points = experiment(seed=(1, 2), repetitions=3).points()
    assert sorted((point.seed, point.repetition) for point in points) == [(s, r) for s in (1, 2) for r in range(3)]


def test_a_quick_run_has_shorter_axes_and_budgets():
    sweep = experiment(sizes="8:1M", quick={"sizes": "8,1M"})
    points = sweep.points(quick=True)
    assert [point.size_bytes for point in points] == [8, 1 << 20]
    assert points[0].budget.time_s == 0.08
    assert {point.id for point in points}.isdisjoint(point.id for point in sweep.points())


def test_axes_can_be_replaced():
    sweep = experiment(sizes="8:1M", options={"threads": "false"})
    points = plan(sweep.series, replace={"size": "8,16", "ping-pong.ranks": "4", "threads": "true"})
    assert [(point.points[0].size_bytes, point.points[0].ranks) for point in points] == [(8, 4), (16, 4)]
    assert all(group.points[0].options == {"threads": "true"} for group in points)


def test_growing_a_sweep_keeps_the_identity_of_its_points():
    small = {group.id for group in experiment(sizes="8,64").groups()}
    large = {group.id for group in experiment(sizes="8,64,512", op=("put", "get")).groups()}
    assert small < large


def test_the_bypass_is_off_except_on_smp():
    (point,) = experiment(conduit="ideal").points()
    assert point.options == {}
    (point,) = experiment(conduit="ideal", options={"neighbourhood": "on"}).points()
    assert point.options == {"neighbourhood": "true"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": "ping"}, "unknown kernel 'ping'; did you mean 'ping-pong'?"),
        ({"conduit": "smpp"}, "unknown conduit 'smpp'; did you mean 'smp'?"),
        ({"conduit": "smp@extoll"}, "smp does not run on network 'extoll'"),
        ({"conduit": "raw@ofi"}, "unknown raw network of kernel ping-pong 'ofi'"),
        ({"op": "puts"}, "unknown op of kernel ping-pong 'puts'; did you mean 'put'?"),
        ({"variant": "am"}, "unknown variant of kernel ping-pong 'am'"),
        ({"options": {"ram": 1}}, "unknown option of ping-pong on smp 'ram'"),
        (
            {"conduit": "ideal", "options": {"sync": "late"}},
            "option sync='late' of conduit ideal is not allowed; allowed: lazy | strict",
        ),
        ({"options": {"threads": "maybe"}}, "allowed: true | false"),
        ({"options": {"debug_spin": "wide"}}, "allowed: a number"),
        ({"machine": "extoll-r2"}, "unknown machine 'extoll-r2'"),
        ({"machine": "extoll"}, "belongs to network extoll, but smp runs on this host"),
        ({"conduit": "ideal", "machine": "extoll"}, "belongs to network extoll, but ideal runs on ideal"),
        ({"topology": "mesh4d:4x4x4x4"}, "unknown topology 'mesh4d'; did you mean 'mesh3d'?"),
        (
            {"topology": "mesh3d:4x4x4"},
            "topology 'mesh3d:4x4x4': smp has no topology; allowed: conduits on a machine with one, aries, raw@aries, ",
        ),
        ({"ranks": 100000}, "ranks 100000 is not what this machine carries; allowed: 1 to"),
        ({"sizes": "512G"}, "is beyond any segment"),
        ({"against": {"colour": "red"}}, "unknown axis in against 'colour'"),
        ({"zip": (("op", "colour"),)}, "unknown axis in zip 'colour'"),
    ],
)
def test_a_wrong_name_or_value_gets_one_line(change, message):
    with pytest.raises(UsageError) as caught:
        experiment(**change).points()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "allowed" in str(caught.value) or "there is none" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ops": "put"}, "no field 'ops'; did you mean 'op'?"),
        ({"name": "a b"}, "Experiment.name"),
        ({"sizes": "big"}, "size 'big' is not a size"),
        ({"ranks": 0}, "ranks 0: a job needs at least 1 rank"),
        ({"ci": "200%"}, "share '200%' is not allowed"),
        ({"time_s": "soon"}, "duration 'soon' is not allowed"),
        ({"plots": ({"kind": "pie"},)}, "kind"),
        ({"plots": ({"kind": "latency", "metric": "speed"},)}, "unknown metric 'speed'"),
        ({"quick": {"sise": "8"}}, "quick has no field 'sise'; did you mean 'sizes'?"),
        ({"compare": "sum"}, "compare"),
        ({"repetitions": 0}, "repetitions"),
    ],
)
def test_a_wrong_field_gets_one_line(change, message):
    with pytest.raises(UsageError) as caught:
        experiment(**change)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_experiment_needs_a_name():
    with pytest.raises(UsageError, match="field 'name' is missing"):
        gm.Experiment(kernel="ping-pong", conduit="smp")


def test_an_experiment_is_a_value():
    assert experiment() == experiment()
    with pytest.raises(Exception, match="frozen"):
        experiment().name = "other"
