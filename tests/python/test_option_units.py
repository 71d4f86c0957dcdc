"""Options that have a unit take it, wherever they are given."""

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.catalogue import catalogue
from gasmeter.cli import cli
from gasmeter.measuring.measurement import measurement

pytest.importorskip("gasmeter._core")
OWNERS = [*catalogue().kernels.values(), *catalogue().conduits.values()]
WITH_UNIT = [
    pytest.param(owner, option, id=f"{owner.name} {option.name}")
    for owner in OWNERS for option in owner.options if option.unit and not option.choices
]  # fmt: skip
OTHERS = {"us": ("0.003ms", "3000 ns"), "B": ("3B",), "ratio": ("300%",)}


@pytest.mark.parametrize(("owner", "option"), WITH_UNIT)
def test_every_option_with_a_unit_takes_it(owner, option):
    plain = option.parse("3", owner.name)
    for text in (f"3{option.unit}", f"3 {option.unit}", *OTHERS.get(option.unit, ())):
        if not (option.unit == "ratio" and "ratio" in text):
            assert option.parse(text, owner.name) == plain
    assert option.parse(option.default, owner.name) in {option.default, repr(float(option.default))}
    with pytest.raises(gm.UsageError, match=f"allowed: .*{option.unit}"):
        option.parse("3 bogus", owner.name)


def points(tmp_path, *words):
    """Return the identities of the points that the command line plans."""
    (tmp_path / "s.py").write_text(
        "import gasmeter as gm\nexperiment = gm.Experiment(name='s', kernel='immediate', conduit='ibv')\n"
    )
    done = CliRunner().invoke(cli, ["run", str(tmp_path / "s.py"), "--dry-run", *words])
    assert done.exit_code == 0, done.output
    return [line.split()[0] for line in done.stdout.splitlines()[:-1]]


@pytest.mark.parametrize("text", ["700us", "0.7 ms", "700000ns"])
def test_it_is_the_same_point_however_it_was_written(tmp_path, text):
    def planned(value):
        made = measurement("immediate", conduit="ibv", options={"sleep": value}).points()
        return [point.id for point in made]

    assert planned(text) == planned(700) == planned("700")
    assert points(tmp_path, "--set", f"sleep={text}") == points(tmp_path, "--set", "sleep=700")
    assert points(tmp_path, "--set", f"time_s={text}") == points(tmp_path, "--set", "time_s=0.0007")


def test_options_of_the_command_line_take_theirs():
    def chosen(*words):
        context = cli.commands["measure"].make_context("measure", ["ping-pong", "--conduit", "smp", *words])
        return context.params

    assert chosen("--time", "500us")["time"] == chosen("--time", "0.0005")["time"] == 0.0005
    assert chosen("--max-time", "500000ns")["max_time"] == 0.0005
    assert chosen("--ci", "2%")["ci"] == chosen("--ci", "0.02")["ci"]
    goal = cli.commands["export"].commands["goal"]
    for text, ps in (("1ns", 1000), ("1000", 1000), ("1 us", 10**6), ("1ps", 1)):
        words = ["ping-pong", "--conduit", "ideal", "--out", "x", "--unit", text]
        assert goal.make_context("goal", words).params["unit_ps"] == ps
    for text in ("0", "0.5ps", "2s", "1kg"):
        result = CliRunner().invoke(
            cli, ["export", "goal", "ping-pong", "--conduit", "ideal", "--out", "x", "--unit", text]
        )
        assert result.exit_code == 2
        assert f"time '{text}' is not allowed; allowed: whole ps from 1ps to 1s" in result.stderr


def test_programs_take_them_too():
    def program(ep):
        yield ep.barrier()
        return ep.size

    assert gm.launch(program, conduit="udp@ethernet", options={"delay_us": "2us", "datagram": "2K"}) == [2, 2]
