"""LogGP fits: parameters of `ideal` machines found again under noise, protocols, and what cannot be told."""

import csv
import io
import json
import math
import re
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.cli import cli
from gasmeter.errors import UsageError
from gasmeter.loggp import Curves, fit_curves
from gasmeter.loggp.curves import METRICS
from gasmeter.loggp.fitting import PARAMETERS
from gasmeter.loggp.segments import find_segments
from gasmeter.plots.loggp import draw_loggp
from gasmeter.rows.pictures import read_facts
from gasmeter.stores.pictures import verify_picture
from stored import edit_rows

SIZES = np.array([8.0, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096])
RUNS = 100
BLOCKS = 16

# Numbers of the toy network's machine that make up LogGP's parameters (cpp/gasmeter/networks/ideal/README.md).
MACHINES = (
    {},
    {"nic.latency": "3 us", "host.nic_post": "120 ns"},
    {"nic.gap": "900 ns", "nic.bandwidth": "4 GB/s"},
    {"nic.latency": "400 ns", "host.nic_take": "350 ns", "nic.gap": "500 ns"},
)


def machine_of(changes):
    # A waiting rank looks every ns, so that what its look is late by hides in the noise.
    return gm.machine("ideal").with_({"host.poll_miss": "1 ns", **changes})


def truth_of(machine):
    def ns(name):
        return machine[name].value * 1e9

    return {
        "L": ns("nic.latency"), "o_s": ns("host.nic_post"), "o_r": ns("host.nic_take"), "g": ns("nic.gap"),
        "G": 1e9 / machine["nic.bandwidth"].value,
    }  # fmt: skip


@pytest.fixture(scope="module")
def modelled():
    """Times without noise, of each machine: shape (4, sizes), ns."""
    pytest.importorskip("gasmeter._core")
    results = []
    for changes in MACHINES:
        machine = machine_of(changes)
        result = gm.measure("loggp", conduit="raw@ideal", op="am-medium", sizes=[int(size) for size in SIZES],
                            machine=machine, iterations=2)  # fmt: skip
        rows = result.frame().set_index(["metric", "size_bytes"])["value"]
        times = np.array([[rows[metric, int(size)] for size in SIZES] for metric in METRICS])
        results.append((truth_of(machine), times))
    return results


def noisy(times, seed, share=0.02, *, blocks=BLOCKS, alike=0.0, sizes=SIZES):
    """Blocks with noise of a share of the time, of which `alike` stays from one block to the next."""
    rng = np.random.default_rng(seed)
    made = []
    for place in range(sizes.size):
        noise = rng.standard_normal((len(METRICS), blocks))
        for block in range(1, blocks):
            noise[:, block] = alike * noise[:, block - 1] + math.sqrt(1 - alike * alike) * noise[:, block]
        made.append(times[:, place : place + 1] * (1 + share * noise))
    return Curves("x", "measured", sizes, tuple(made), np.zeros((len(METRICS), sizes.size)))


@pytest.mark.parametrize("alike", [0.0, 0.5])
def test_known_parameters_are_inside_the_interval_in_90_of_100_runs(modelled, alike):
    hits = dict.fromkeys(PARAMETERS, 0)
    cut = 0
    for run in range(RUNS):
        truth, times = modelled[run % len(modelled)]
        fit = fit_curves(noisy(times, run, alike=alike), draws=300)
        cut += len(fit.segments) > 1
        for name, parameter in fit.parameters.items():
            hits[name] += parameter.low <= truth[name] <= parameter.high
    assert min(hits.values()) >= 90, hits
    assert cut <= 5


def test_intervals_are_no_wider_than_the_noise_asks_for(modelled):
    # An interval that holds everything would pass the test above.
    truth, times = modelled[0]
    parameters = fit_curves(noisy(times, 1), draws=300).parameters
    for name in ("L", "o_s", "o_r", "g", "G"):
        assert (parameters[name].high - parameters[name].low) / truth[name] < 0.06
    # A wrong truth is outside.
    assert not parameters["L"].low <= 1.1 * truth["L"] <= parameters["L"].high


def test_without_noise_the_numbers_are_the_machine_s(modelled):
    for truth, times in modelled:
        curves = Curves(
            "x", "modelled", SIZES, tuple(times[:, [n]] for n in range(SIZES.size)), np.zeros((4, SIZES.size))
        )
        parameters = fit_curves(curves).parameters
        for name, value in truth.items():
            slack = 1.0 if name == "L" else 1e-6 * value  # the look after an arrival
            assert abs(parameters[name].value - value) <= slack, (name, parameters[name], value)


def test_protocols_are_found_where_they_change(modelled):
    _, times = modelled[0]
    for place, extra, slope in ((3, 2000.0, 0.0), (5, 2000.0, 0.0), (7, 2000.0, 0.0), (5, 0.0, 4.0), (7, 0.0, 4.0)):
        changed = times.copy()
        changed[0, place:] += extra + slope * SIZES[place:]
        right = 0
        for seed in range(20):
            segments = fit_curves(noisy(changed, seed), draws=100).segments
            right += [(segment.first, segment.last) for segment in segments] == [
                (8, SIZES[place - 1]),
                (SIZES[place], 4096),
            ]
        assert right >= 18, (place, extra, slope, right)


def test_segments_of_a_straight_line_and_of_few_sizes():
    assert find_segments(SIZES, 100 + SIZES, np.full(10, 1.0)) == [(0, 10)]
    assert find_segments(SIZES[:4], 100 + SIZES[:4], np.full(4, 1.0)) == [(0, 4)]
    stairs = np.where(SIZES > 100, 5000.0, 100.0) + SIZES
    assert find_segments(SIZES, stairs, np.full(10, 1.0)) == [(0, 4), (4, 10)]


def test_what_cannot_be_identified_is_said(modelled):
    _, times = modelled[0]
    hidden = times.copy()
    hidden[1] = hidden[2]  # messages follow one another as fast as they are sent
    fit = fit_curves(noisy(hidden, 1), draws=200)
    assert not fit.parameters["g"].identified
    assert fit.parameters["g"].high == pytest.approx(200, rel=0.1)
    assert fit.parameters["G"].value == pytest.approx(1.0, rel=0.05)
    assert any("overhead" in line for line in fit.notes)
    swallowed = times.copy()
    swallowed[0] = 2 * (swallowed[2] + swallowed[3]) * 0.8
    assert not fit_curves(noisy(swallowed, 1), draws=200).parameters["L"].identified
    single_size = fit_curves(noisy(times[:, :1], 1, sizes=SIZES[:1]), draws=200)
    assert [name for name, each in single_size.parameters.items() if each.identified] == ["o_s", "o_r"]
    with pytest.raises(UsageError, match="100 or more"):
        fit_curves(noisy(times, 1), draws=10)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    pytest.importorskip("gasmeter._core")
    folder = tmp_path_factory.mktemp("loggp")
    series = gm.Series(kernel="loggp", conduit=("ideal", "extoll"), sizes="8:4K")
    gm.Experiment(name="loggp", title="LogGP", series=(series,)).run(out=folder / "store")
    return folder / "store"


def fit(*arguments):
    return CliRunner().invoke(cli, ["fit", "loggp", *map(str, arguments)])


def test_the_command_writes_what_was_agreed(store, tmp_path):
    done = fit(store, "--conduit", "ideal", "--format", "json")
    assert done.exit_code == 0, done.output
    numbers = json.loads(done.stdout)
    assert list(numbers) == ["L", "o_s", "o_r", "g", "G"]
    assert all(set(number) == {"value", "low", "high"} for number in numbers.values())
    # header_build 20, copy 10, nic_post 200; nic_take 200, dispatch 20; a header of 16 B counts to L and g.
    assert numbers["o_s"]["value"] == pytest.approx(230, abs=1)
    assert numbers["o_r"]["value"] == pytest.approx(220, abs=1)
    assert numbers["G"]["value"] == pytest.approx(1.0, abs=0.01)
    assert numbers["g"]["value"] == pytest.approx(316, abs=2)
    assert numbers["L"]["value"] == pytest.approx(1016, abs=12)
    done = fit(store, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["parameter"] for row in rows} == set(PARAMETERS)
    assert len({row["line"] for row in rows}) == 2
    assert "LogGP of am-medium on extoll" in fit(store).stdout
    by_file = fit(store / "results.csv", "--conduit", "ideal", "--format", "json")
    assert json.loads(by_file.stdout)["o_s"]["value"] == numbers["o_s"]["value"]
    picture = tmp_path / "fit.png"
    assert fit(store, "--conduit", "extoll", "--plot", picture).exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [len(entry.segments) >= 1 for entry in gm.open_result(store).fit_loggp()] == [True, True]


def test_a_picture_names_the_parameters_of_each_segment_with_their_units(store):
    ideal, extoll = gm.open_result(store).fit_loggp()
    assert re.search(
        r"8 B to [^:]*: L 1\.0\d+ µs, o_s 230 ns, o_r 220 ns, g 31\d\.?\d* ns, G (1|0\.99+) ns/B",
        labels_of(draw_loggp(ideal)),
    )
    assert len(extoll.segments) > 1
    labels = labels_of(draw_loggp(extoll))
    assert labels.count("o_s ") == len(extoll.segments)
    assert "g at most " in labels  # a bound, because g is not identified


def test_what_is_far_off_its_line_is_drawn(store):
    ideal, _ = gm.open_result(store).fit_loggp()
    offset, slope = ideal.segments[0].curves["gap"]
    ideal.segments[0].curves["gap"] = (offset / 90, slope / 90)
    lower = draw_loggp(ideal).axes[1]
    assert lower.get_yscale() == "symlog"
    assert max(y for line in lower.lines for y in line.get_ydata()) < lower.get_ylim()[1]


def labels_of(figure):
    """Return what stands below a picture, in one line."""
    return figure.get_supxlabel().replace("\n", " ")


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_rows_of_a_picture_are_found(store, tmp_path, ending):
    whole, by_file, alone = (tmp_path / f"{name}.{ending}" for name in ("whole", "by_file", "alone"))
    fit(store, "--conduit", "ideal", "--plot", whole)
    fit(store / "results.csv", "--conduit", "ideal", "--plot", by_file)
    assert read_facts(whole) == read_facts(by_file)
    origin = verify_picture(whole, [store])
    assert origin.same, origin.text
    assert f"made from {4 * SIZES.size} rows of loggp, revision " in origin.text  # only the rows of ideal
    other = shutil.copytree(store, tmp_path / f"other-{ending}")
    edit_rows(other, lambda text: text.replace(",2960.7999999999997,ns", ",2960.9,ns"))
    assert not verify_picture(whole, [other]).same
    fit(shutil.copy(store / "results.csv", tmp_path / "copied.csv"), "--conduit", "ideal", "--plot", alone)
    origin = verify_picture(alone)
    assert not origin.same
    assert f"is a fit of LogGP to {4 * SIZES.size} rows of copied.csv, digest " in origin.text
    assert "\n" not in origin.text


def test_bad_input_is_one_line(store, tmp_path):
    for arguments, part in (
        ((store, "--format", "json"), "2 lines of points"),
        ((store, "--conduit", "udp"), "nothing of udp"),
        ((tmp_path / "none",), "cannot be read"),
        ((store / "run.json",), "no results.csv"),
        ((store, "--conduit", "ideal", "--plot", tmp_path / "x.jpg"), "a file that ends in .png or .svg"),
    ):
        done = fit(*arguments)
        assert done.exit_code == 2, done.output
        assert done.stderr.startswith("Error:")
        assert part in done.stderr
        assert done.stderr.count("\n") == 1
    text = (store / "results.csv").read_text().splitlines()
    cut = tmp_path / "results.csv"
    cut.write_text("\n".join([*text[:2], text[2][:40]]))
    done = fit(cut)
    assert done.exit_code == 2
    assert "cut off" in done.stderr
    cut.write_text(text[0] + "\n")
    assert "no verified rows of kernel loggp" in fit(cut).stderr
