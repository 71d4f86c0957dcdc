import html
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gasmeter as gm
from gasmeter.catalogue import declared
from gasmeter.errors import UsageError
from gasmeter.machines.files import read_machine
from gasmeter.machines.hardware import facts
from gasmeter.units import QUANTITIES

ROOT = Path(__file__).resolve().parents[3]
MACHINES = ROOT / "python" / "gasmeter" / "machines"
ALL = gm.machines()
KNOWN = ", ".join(ALL[:12]) + ", …"  # as many as a line names
PARAMETERS = {name: network.parameters for name, network in declared().networks.items() if network.parameters}
NUMBERS = [(name, number) for name in ALL for number in gm.machine(name).numbers]


TIME = "allowed: a time in ns, us, ms or s, for instance 0.3 us"
BANDWIDTH = (
    "allowed: a bandwidth in B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s or Gbit/s, above 0, for instance 1.25 GB/s"
)
SIZE = "allowed: bytes in B, kB, MB, KiB or MiB, above 0, for instance 4 KiB"
COUNT = "allowed: a whole number, above 0, for instance 16"


@pytest.mark.parametrize(
    ("key", "given", "message"),
    [
        ("link.bandwidth", "1.25", f"'1.25' has no unit; {BANDWIDTH}"),
        ("link.bandwidth", 1.25e9, f"'1250000000.0' has no unit; {BANDWIDTH}"),
        ("link.bandwidth", "1.25 GB", f"'1.25 GB' has unit 'GB'; {BANDWIDTH}"),
        ("link.bandwidth", "1 K", f"'1 K' has unit 'K'; {BANDWIDTH}"),
        ("link.bandwidth", "0 B/s", f"'0 B/s' is not above 0; {BANDWIDTH}"),
        ("link.bandwidth", "-1 GB/s", f"'-1 GB/s' is negative; {BANDWIDTH}"),
        ("link.bandwidth", "1e400 GB/s", f"'1e400 GB/s' is too large; {BANDWIDTH}"),
        ("link.bandwidth", "fast", f"'fast' is not a number with a unit; {BANDWIDTH}"),
        ("link.bandwidth", "nan B/s", f"'nan B/s' is not a number with a unit; {BANDWIDTH}"),
        ("link.bandwidth", "", f"'' is not a number with a unit; {BANDWIDTH}"),
        ("link.latency", "-1 ns", f"'-1 ns' is negative; {TIME}"),
        ("link.latency", "1 MHz", f"'1 MHz' has unit 'MHz'; {TIME}"),
        ("link.latency", "1e-400 s", f"'1e-400 s' is too small; {TIME}"),
        ("velo.payload", "0 B", f"'0 B' is not above 0; {SIZE}"),
        ("velo.payload", "1.5 B", f"'1.5 B' is not a whole number of bytes; {SIZE}"),
        ("velo.payload", "64", f"'64' has no unit; {SIZE}"),
        ("velo.mailbox_slots", "0", f"'0' is not above 0; {COUNT}"),
        ("velo.mailbox_slots", 2.5, f"'2.5' is not a whole number; {COUNT}"),
        ("velo.mailbox_slots", True, f"'True' is not a number; {COUNT}"),
        ("velo.mailbox_slots", "16 bananas", f"'16 bananas' has unit 'bananas'; {COUNT}"),
        ("velo.mailbox_slots", "1e300", f"'1e300' is too large; {COUNT}"),
        (
            "topology",
            "Ring 4",
            "'Ring 4' is not a topology; allowed: a name and its extents, for instance torus3d:4x4x4"
            " (see `gasmeter list topologies`)",
        ),
    ],
)
def test_a_bad_number_names_key_value_unit_and_an_example(key, given, message):
    with pytest.raises(UsageError) as caught:
        gm.machine("extoll").with_({key: given})
    assert str(caught.value) == f"{key} of machine extoll: {message}"


def test_a_machine_is_a_value_of_numbers():
    extoll = gm.machine("extoll")
    assert gm.machine("extoll") == extoll
    assert gm.machine(extoll) is extoll
    assert hash(gm.machine("extoll")) == hash(extoll)
    assert extoll.values()["link.bandwidth"] == 625e6
    assert extoll.values()["topology"] == extoll.topology == "mesh3d:4x4x4"
    stated = [parameter.key for parameter in PARAMETERS["extoll"] if parameter.key in extoll]
    assert list(extoll.values()) == stated
    assert {parameter.key for parameter in PARAMETERS["extoll"] if not parameter.optional} == {*stated} - {
        "host.shared_access"
    }
    assert json.loads(json.dumps(extoll.effective())) == extoll.effective()
    with pytest.raises(AttributeError):
        extoll.name = "other"


def test_a_changed_machine_leaves_the_first_one_alone():
    extoll = gm.machine("extoll")
    faster = extoll.with_(link_bandwidth="1250 MB/s", topology="torus3d:4x4x4", ranks_per_node=8)
    assert extoll["link.bandwidth"].value == 625e6
    assert faster.values() == {
        **extoll.values(), "link.bandwidth": 1.25e9, "topology": "torus3d:4x4x4", "ranks_per_node": 8.0,
    }  # fmt: skip
    assert faster.label == str(faster) == "extoll+link.bandwidth=1.25 GB/s+ranks_per_node=8+topology=torus3d:4x4x4"
    assert faster.column == "extoll+link.bandwidth=1.25 GB/s+ranks_per_node=8"
    assert gm.machine(faster.label) == faster
    number = faster.effective()["link.bandwidth"]
    assert (number["origin"], number["confidence"], number["text"]) == ("override", "given", "1.25 GB/s")
    assert number["source"].startswith("given; the machine's file says 625 MB/s (seed: extoll")
    assert number["hardware"] == list(extoll["link.bandwidth"].hardware)
    assert extoll.effective()["link.bandwidth"]["origin"] == "file"


def test_keys_are_spelt_with_dots_or_underscores():
    extoll = gm.machine("extoll")
    ways = [
        extoll.with_(link_bandwidth="1 GB/s"), extoll.with_({"link.bandwidth": "1 GB/s"}),
        extoll.with_({"link_bandwidth": "1 GB/s"}), extoll.with_(**{"link.bandwidth": "1 GB/s"}),
    ]  # fmt: skip
    assert len(set(ways)) == 1
    with pytest.raises(UsageError, match=r"^link.bandwidth of machine extoll is given twice; allowed: once$"):
        extoll.with_({"link.bandwidth": "1 GB/s"}, link_bandwidth="2 GB/s")


def test_a_machine_need_not_say_what_is_optional_and_may_be_given_it():
    extoll = gm.machine("extoll")
    assert "host.loop_turn" not in extoll
    turning = extoll.with_(host_loop_turn="2 ns")
    assert turning.values() == {**extoll.values(), "host.loop_turn": 2e-9}
    assert turning.label == "extoll+host.loop_turn=2 ns"
    assert gm.machine(turning.label) == turning
    assert list(turning.values()) == [key.key for key in PARAMETERS["extoll"] if key.key in turning]
    assert turning["host.loop_turn"].source == "given; the machine's file says nothing (no such cost)"
    assert turning.with_(host_loop_turn="3 ns").values()["host.loop_turn"] == 3e-9
    assert turning.with_(host_loop_turn="0 ns") == extoll
    with pytest.raises(UsageError, match=r"^host.loop_turn of machine extoll: '2' has no unit; allowed: a time in"):
        extoll.with_(host_loop_turn=2)


def test_what_a_file_says_of_the_optional_may_be_taken_away():
    extoll = gm.machine("extoll")
    assert extoll["host.shared_access"].estimate
    without = extoll.with_(host_shared_access="0 ns")
    assert without.values() == {key: value for key, value in extoll.values().items() if key != "host.shared_access"}
    assert without.label == "extoll+host.shared_access=0 s"
    assert gm.machine(without.label) == without
    assert without.digest != extoll.digest


def test_a_file_may_say_what_is_optional(tmp_path):
    entry = 'value = "2 ns"\nlow = "1 ns"\nhigh = "4 ns"\nconfidence = "low"\nsource = "estimate: a round number"\n'
    text = f'base = "ideal"\nsummary = "a toy"\n[host.loop_turn]\n{entry}'
    machine = read_machine(text, "turning")
    assert machine.values() == {**gm.machine("ideal").values(), "host.loop_turn": 2e-9}
    (tmp_path / "turning.toml").write_text(text)
    assert gm.machine(str(tmp_path / "turning.toml"))["host.loop_turn"].estimate


@pytest.mark.parametrize("network", sorted(PARAMETERS))
def test_no_two_keys_share_a_spelling_and_every_kind_is_known(network):
    keys = [parameter.key for parameter in PARAMETERS[network]]
    assert len({key.replace(".", "_") for key in keys}) == len(keys)
    assert {parameter.kind for parameter in PARAMETERS[network]} <= {*QUANTITIES, "topology"}
    assert all(parameter.summary for parameter in PARAMETERS[network])


def test_saying_what_the_file_says_changes_nothing():
    extoll = gm.machine("extoll")
    assert extoll.with_(link_bandwidth="0.625 GB/s") == extoll
    assert extoll.with_(link_bandwidth="1 GB/s").with_(link_bandwidth="625 MB/s") == extoll


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("extol", f"unknown machine 'extol'; did you mean 'extoll'? allowed: {KNOWN} (see `gasmeter list machines`)"),
        ("ledger", f"unknown machine 'ledger'; allowed: {KNOWN} (see `gasmeter list machines`)"),
        ("../extoll", f"unknown machine '../extoll'; did you mean 'extoll'? allowed: {KNOWN}"
         " (see `gasmeter list machines`)"),
        ("extoll+fast", "machine 'extoll+fast': 'fast' is not key=value; allowed: for instance"
         " extoll+link.bandwidth=1.25 GB/s"),
        ("extoll+link.latency=1 us+link.latency=2 us",
         "machine 'extoll+link.latency=1 us+link.latency=2 us': link.latency is given twice; allowed: once"),
    ],
)  # fmt: skip
def test_a_bad_name_of_a_machine_is_one_line(name, message):
    with pytest.raises(UsageError) as caught:
        gm.machine(name)
    assert str(caught.value) == message


def test_an_unknown_parameter_is_answered_with_the_nearest():
    with pytest.raises(UsageError) as caught:
        gm.machine("ideal").with_(nic_gab="1 us")
    assert str(caught.value).startswith(
        "unknown parameter of machine ideal 'nic_gab'; did you mean 'nic.gap'? allowed:"
    )


def test_the_digest_is_one_of_numbers():
    extoll = gm.machine("extoll")
    text = (MACHINES / "extoll.toml").read_text()
    assert read_machine(text.replace('"625 MB/s"', '"0.625 GB/s"'), "other").digest == extoll.digest
    assert read_machine(text.replace('"625 MB/s"', '"626 MB/s"'), "extoll").digest != extoll.digest
    assert extoll.with_(link_bandwidth="626 MB/s").digest != extoll.digest
    other = subprocess.run(
        [sys.executable, "-c", "import gasmeter as gm; print(gm.machine('extoll').digest)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert other.stdout.strip() == extoll.digest


@pytest.mark.parametrize(("name", "number"), NUMBERS, ids=[f"{name}.{number.key}" for name, number in NUMBERS])
def test_every_number_is_accounted_for(name, number):
    assert number.source
    assert number.hardware or number.estimate or number.source.startswith("choice: ")
    assert set(number.hardware) <= set(facts())
    assert number.estimate or number.share is not None or number.confidence != "low"
    if number.estimate:
        result = number.facts()
        assert result["low"] <= result["value"] <= result["high"]
        assert number.source.startswith(("estimate", "recalled"))


def test_estimates_that_restate_a_fact_have_its_range():
    units = {"us": 1e-6, "ns": 1e-9, "GB/s": 1e9, "B": 1.0, "slots": 1.0, "us/page": 1e-6, "KB": 1024.0}
    exempt = {  # made of several facts, or of a part of one: their sources say how
        "host.copy_start", "host.copy_bandwidth", "host.line_store", "host.pio_start",
        "host.pio_bandwidth", "host.update", "host.update_in_cache", "host.cache", "host.memory_bandwidth",
        "host.shared_access",
        "link.buffer", "velo.send_engine", "rma.descriptor", "rma.notification",
        "rma.requester", "rma.completer",
        "rma.responder", "mpi.match_element",
    }  # fmt: skip
    for number in gm.machine("extoll").estimates():
        if number.key in exempt:
            continue
        fact = facts()[number.hardware[0]]
        ends = [float(end) * units[fact.unit] for end in fact.value.split("..")]
        result = number.facts()
        assert [result["low"], result["high"]] == pytest.approx(ends), number.key


def test_the_parts_of_a_velo_message_add_up_to_the_published_latency():
    value = gm.machine("extoll").values()
    pio = value["host.pio_start"] + 64 / value["host.pio_bandwidth"]
    wire = (8 + value["link.header"]) / value["link.bandwidth"] + value["link.latency"]
    total = pio + value["velo.send_pipeline"] + wire + value["velo.receive_engine"] + value["host.line_transfer"]
    published = facts()["hw.extoll.velo-latency-between-two-machines"]
    assert total == pytest.approx(float(published.value) * 1e-6, rel=0.01)


def test_the_toy_machine_has_the_numbers_of_its_readme():
    text = (ROOT / "cpp/gasmeter/networks/ideal/README.md").read_text()
    value = gm.machine("ideal").values()
    table = dict(re.findall(r"^\| `(\w+)`[^|]*\| ([\d ]+)", text, re.MULTILINE))
    assert value["nic.latency"] == pytest.approx(int(table["latency"]) * 1e-9)
    assert value["nic.gap"] == pytest.approx(int(table["gap"]) * 1e-9)
    assert 1 / value["nic.bandwidth"] == pytest.approx(int(table["gap_per_byte_fs"].replace(" ", "")) * 1e-15)
    assert (value["nic.send_slots"], value["nic.reply_slots"]) == (int(table["send_slots"]), int(table["reply_slots"]))
    lines = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ([\d.]+)", text, re.MULTILINE)
    prices = {price: ns for names, ns in lines for price in re.findall(r"\w+", names)}
    assert {"header_build", "line_transfer", "nic_post", "poll_miss"} <= prices.keys()
    for price, ns in prices.items():
        if f"host.{price}" in value:
            assert value[f"host.{price}"] == pytest.approx(float(ns) * 1e-9), price
    assert value["host.copy_start"] == pytest.approx(float(prices["copy"]) * 1e-9)
    assert 1 / value["host.copy_bandwidth"] == pytest.approx(0.1e-9)


IDEAL = (MACHINES / "ideal.toml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('network = "ideal"', "network =", "machine file m.toml is not TOML"),
        (
            'network = "ideal"',
            'network = "idea"',
            "unknown network in machine file m.toml 'idea'; did you mean 'ideal'?",
        ),
        ('network = "ideal"', "", "machine file m.toml: network is missing, and so is base; allowed: base, a"),
        ("summary =", "title =", "machine file m.toml: the summary is missing; allowed: one line of text"),
        ("[nic.gap]", "[nic.gab]", "unknown parameter in machine file m.toml 'nic.gab'; did you mean 'nic.gap'?"),
        ("[nic.gap]", "[nic.latency.gap]", "nic.gap missing; allowed: every parameter of network ideal"),
        (
            'value = "300 ns"',
            'value = "300 MHz"',
            "machine file m.toml: nic.gap: '300 MHz' has unit 'MHz'; allowed: a time",
        ),
        ('value = "300 ns"', "value = 300", "machine file m.toml: nic.gap: value: 300 is not allowed; allowed: text"),
        ('value = "300 ns"', 'value = "1 ns"', "nic.gap: 1 ns does not lie between 150 ns and 600 ns; allowed: low <="),
        ('low = "150 ns"', 'low = "150 B"', "machine file m.toml: nic.gap: range: '150 B' has unit 'B'"),
        ('low = "150 ns"\n', "", "machine file m.toml: nic.gap: a range needs both low and high"),
        ('low = "150 ns"\nhigh = "600 ns"\n', "", "nic.gap: it names no hardware; a number without is an estimate"),
        ('low = "150 ns"\nhigh = "600 ns"\n', 'hardware = ["x"]\n', "nic.gap: confidence is low; such a number"),
        ('low = "150 ns"', 'lower = "150 ns"', "nic.gap: no field 'lower'; did you mean 'low'? allowed: value, source"),
        (
            'high = "600 ns"\nconfidence = "low"',
            'high = "600 ns"\nconfidence = "fair"',
            "nic.gap: confidence: 'fair' is not allowed; allowed: 'high', 'medium' or 'low'",
        ),
        ('value = "4 slots"', 'value = "4.5 slots"', "nic.reply_slots: '4.5 slots' is not a whole number"),
    ],
)
def test_a_machine_file_with_a_mistake_is_refused(old, new, message):
    assert old in IDEAL
    head, mark, tail = IDEAL.partition("[nic.gap]")
    text = head + (mark + tail).replace(old, new, 1) if old in mark + tail else IDEAL.replace(old, new, 1)
    with pytest.raises(UsageError) as caught:
        read_machine(text, "m")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def _tables(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.toml")}


def test_what_is_installed_holds_the_machine_files():
    ignored = subprocess.run(
        ["git", "check-ignore", *map(str, [*MACHINES.rglob("*"), MACHINES.parent / "published" / "hardware.csv"])],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ignored.returncode in {1, 128}, ignored.stdout  # 128: no working tree of git
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
    assert build["wheel"] == {"packages": ["python/gasmeter"]}
    package = Path(gm.__file__).parent
    assert _tables(MACHINES) == _tables(package / "machines")
    assert (package / "published" / "hardware.csv").is_file()


def test_a_machine_shows_itself_in_one_line_and_as_a_short_page():
    extoll = gm.machine("extoll")
    assert re.fullmatch(r"<Machine extoll: modelled network extoll on mesh3d:4x4x4, \d+ numbers, .*>", repr(extoll))
    wider = extoll.with_(link_bandwidth="1.25 GB/s")
    assert "extoll+link.bandwidth=1.25 GB/s" in repr(wider)
    assert len(repr(wider)) < 200
    page, _, folded = wider._repr_html_().partition("<details>")
    assert page.count("<tr>") == 2
    assert all(text in page for text in ("link.bandwidth", "1.25 GB/s", extoll["link.bandwidth"].text))
    assert folded.count("<tr>") == 1 + len(wider.numbers)
    assert html.escape(extoll["link.bandwidth"].source) not in page
