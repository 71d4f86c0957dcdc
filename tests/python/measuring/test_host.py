"""Facts of a host, read from invented files of a kernel and from a kernel that reports nothing."""

import json

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from gasmeter.cli.app import cli
from gasmeter.cli.schema import SCHEMAS
from gasmeter.diagnosis import doctor
from gasmeter.measuring import host
from gasmeter.measuring.host import TRAITS, Watch, host_traits, stolen_since_boot, told_against

CALM = {
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0,2\n",
    "sys/devices/system/cpu/cpu1/topology/thread_siblings_list": "1,3\n",
    "sys/devices/system/cpu/cpufreq/boost": "0\n",
    "sys/devices/system/cpu/smt/active": "0\n",
    "proc/sys/kernel/randomize_va_space": "0\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu sse\n",
    "proc/loadavg": "0.10 0.20 0.30 1/100 1234\n",
    "proc/stat": "cpu  0 0 0 0\ncpu0 10 0 0 90 0 0 0 0 5 0\ncpu1 10 0 0 90 0 0 0 0 0 0\ncpu2 9 9 9 9 9 9 9 9 9 9\n",
}
NOTHING = {
    "governor": None, "boost": None, "smt": None, "siblings": None, "aslr": None, "huge_pages": None,
    "virtual_machine": None,
}  # fmt: skip
EXPERIMENT = """
import gasmeter as gm
experiment = gm.Experiment(name="s", kernel="ping-pong", conduit="{}", op="put", sizes="8", time_s=0.02)
"""


@pytest.fixture
def kernel(tmp_path):
    """Write files of a kernel that has nothing against measuring, some in other words; return their root."""

    def write(**changed):
        names = {name.replace("/", "_").replace(".", "_"): name for name in CALM}
        names |= {"siblings1": "sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
                  "no_turbo": "sys/devices/system/cpu/intel_pstate/no_turbo",
                  "governor1": "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
                  "boost": "sys/devices/system/cpu/cpufreq/boost", "smt": "sys/devices/system/cpu/smt/active",
                  "aslr": "proc/sys/kernel/randomize_va_space", "personality": "proc/self/personality",
                  "pages": "sys/kernel/mm/transparent_hugepage/enabled"}  # fmt: skip
        root = tmp_path / "kernel"
        for name, text in (CALM | {names[key]: text for key, text in changed.items()}).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return root

    return write


def test_a_calm_host_has_nothing_against_it(kernel):
    watch = Watch(kernel(), (0, 1))
    assert watch.facts == {
        "governor": "performance", "boost": False, "smt": False, "siblings": [], "aslr": 0, "huge_pages": "madvise",
        "virtual_machine": False, "load": [0.1, 0.2, 0.3],
    }  # fmt: skip
    assert told_against(watch.facts | {"most_ranks": 2, "steal_share": 0.01}, (0, 1)) == ""


def test_a_kernel_that_says_nothing_is_not_guessed_at(tmp_path):
    watch = Watch(tmp_path, (0, 1))
    assert watch.facts == host_traits(tmp_path, (0, 1)) == NOTHING
    ended = watch.ended([row("cpus 0 1")])
    assert ended == {"steal_share": None, "most_ranks": 2, "ranks_on_siblings": None}
    assert stolen_since_boot(tmp_path, (0, 1)) is None
    assert told_against(watch.facts | ended, (0, 1)) == ""


@pytest.mark.parametrize(
    ("changed", "key", "value", "message"),
    [
        ({"governor1": "powersave\n"}, "governor", "performance and powersave", "governor performance and powersave"),
        ({"boost": "1\n"}, "boost", True, "boost on"),
        ({"no_turbo": "0\n"}, "boost", True, "boost on"),
        ({"no_turbo": "1\n", "boost": "1\n"}, "boost", False, ""),
        ({"smt": "1\n"}, "smt", True, "SMT on"),
        ({"aslr": "2\n"}, "aslr", 2, "ASLR on"),
        ({"aslr": "1\n"}, "aslr", 1, "ASLR on, heap left out"),
        ({"aslr": "2\n", "personality": "00040000\n"}, "aslr", 0, ""),
        ({"aslr": "2\n", "personality": "00000000\n"}, "aslr", 2, "ASLR on"),
        ({"aslr": "full\n"}, "aslr", None, ""),
        ({"pages": "[always] madvise never\n"}, "huge_pages", "always", "huge pages always"),
        ({"proc_cpuinfo": "flags\t: fpu hypervisor\n"}, "virtual_machine", True, "virtual machine"),
        ({"proc_cpuinfo": "Features\t: fp asimd\n"}, "virtual_machine", None, ""),
        ({"proc_loadavg": "1.50 0.20 0.30 1/100 1\n"}, "load", [1.5, 0.2, 0.3], "load 1.50 before the run"),
        ({"siblings1": "0-1\n"}, "siblings", [[0, 1]], ""),
    ],
)  # fmt: skip
def test_each_thing_that_disturbs_is_read_and_told(kernel, changed, key, value, message):
    facts = Watch(kernel(**changed), (0, 1)).facts
    assert facts[key] == value
    text = told_against(facts | {"most_ranks": 2}, (0, 1))
    assert text == (f"against this host: {message}; what to do: `gasmeter doctor`" if message else "")
    assert told_against(facts | {"most_ranks": None}, (0, 1)) == ""  # nothing was measured


def row(placement, label="measured", ranks=2):
    return {"label": label, "placement": placement, "ranks": ranks}


def test_ranks_on_siblings_are_told_in_place_of_siblings_as_such(kernel):
    watch = Watch(kernel(siblings1="0-1\n", smt="1\n"), (0, 1, 2))
    assert watch.facts["siblings"] is None  # the kernel reports nothing about processor 2
    watch = Watch(kernel(siblings1="0-1\n", smt="1\n"), (0, 1))
    together, apart, unknown = (watch.ended([row(place)]) for place in ("cpus 0 1", "cpus 0 2", ""))
    assert [entry["ranks_on_siblings"] for entry in (together, apart, unknown)] == [True, False, None]
    assert "ranks share a core" in told_against(watch.facts | together, (0, 1))
    assert told_against(watch.facts | apart, (0, 1)) == ""
    assert "SMT on" in told_against(watch.facts | unknown, (0, 1))


def test_ranks_that_have_no_processor_each_are_told_and_virtual_ones_are_not(kernel):
    watch = Watch(kernel(), (0, 1))
    assert "4 ranks on 2 usable processors" in told_against(watch.facts | watch.ended([row("", ranks=4)]), (0, 1))
    assert watch.ended([row("", "predicted", 4)])["most_ranks"] is None


def test_what_is_stolen_between_two_readings_counts_of_the_usable_processors_alone(kernel):
    watch = Watch(kernel(), (0, 1))
    assert watch.ended([])["steal_share"] is None  # no tick has passed
    kernel(proc_stat="cpu0 20 0 0 170 0 0 0 10 99 0\ncpu1 60 0 0 140 0 0 0 0 0 0\ncpu2 0 0 0 0 0 0 0 9999 0 0\n")
    ended = watch.ended([row("")])
    assert ended["steal_share"] == pytest.approx(0.05)  # 10 of 200 ticks
    assert "5.0 % of its time stolen" in told_against(watch.facts | ended, (0, 1))
    assert stolen_since_boot(kernel(proc_stat="cpu0 1 1 1 1\n"), (0,)) is None  # this kernel has no such column


def test_starts_with_addresses_of_their_own_are_no_objection(kernel):
    facts = Watch(kernel(aslr="2\n"), (0, 1)).facts | {"most_ranks": 2}
    assert "ASLR" in told_against(facts, (0, 1), starts=1)
    assert told_against(facts, (0, 1), starts=10) == ""


@pytest.mark.parametrize(("conduit", "message"), [("smp", 1), ("ideal", 0)])
def test_a_run_says_it_once_and_keeps_the_facts(machine, kernel, tmp_path, monkeypatch, conduit, message):
    monkeypatch.setattr(host, "ROOT", kernel(governor1="powersave\n"))
    monkeypatch.setattr(host, "cpus", lambda: (0, 1))
    (tmp_path / "s.py").write_text(EXPERIMENT.format(conduit))
    done = CliRunner().invoke(cli, ["run", str(tmp_path / "s.py"), "--out", str(tmp_path / "store")])
    assert done.exit_code == 0, done.output
    assert (done.stdout + done.stderr).count("against this host: governor performance and powersave;") == message
    run = json.loads((tmp_path / "store/run.json").read_text())
    Draft202012Validator(json.loads((SCHEMAS / "run.json").read_text())).validate(run)
    facts = run["runs"][-1]["host"]
    assert (facts["governor"], facts["load"], facts["most_ranks"]) == (
        "performance and powersave", [0.1, 0.2, 0.3], 2 if message else None,
    )  # fmt: skip
    assert {"steal_share", "ranks_on_siblings", *NOTHING} <= set(facts)
    wrong = {**run, "runs": [{**run["runs"][-1], "host": {**facts, "aslr": 3}}]}
    assert not Draft202012Validator(json.loads((SCHEMAS / "run.json").read_text())).is_valid(wrong)


def test_doctor_has_a_line_for_each_and_says_what_to_do(kernel, monkeypatch):
    monkeypatch.setattr(host, "ROOT", kernel(governor1="powersave\n", pages="always madvise [never]\n", smt="1\n"))
    monkeypatch.setattr(host, "cpus", lambda: (0, 1))
    results = {finding.name: finding for finding in doctor._host()}
    assert [*results] == [*(trait.name for trait in TRAITS), "siblings", "steal time"]
    assert {name for name, result in results.items() if result.state == "warning"} == {"governor", "SMT", "huge pages"}
    assert "cpupower frequency-set" in results["governor"].remedy
    assert "address translation" in results["huge pages"].remedy
    assert results["steal time"].value == 0
    monkeypatch.setattr(host, "ROOT", host.ROOT / "nowhere")
    assert {(entry.state, entry.value) for entry in doctor._host()} == {("ok", None)}
