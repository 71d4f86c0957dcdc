"""Machine files that say only what differs: their base, the hosts they share, and files of one's own."""

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.cli.app import cli
from gasmeter.errors import UsageError
from gasmeter.machines import folder, named
from gasmeter.machines.files import read_machine
from gasmeter.machines.provenance import ledger, ledger_digest, ledger_problems

PAGE = Path(__file__).resolve().parents[3] / "docs" / "machines.md"
ORIGINAL = folder.FOLDER
WIDE = """
base = "extoll"
summary = "EXTOLL R1 with links of twice the bandwidth"
link.bandwidth = { value = "1.25 GB/s", confidence = "high", source = "choice: twice what machine extoll has" }
"""
BOUND = 'confidence = "low", source = "estimate: s", low = "1 ns", high = "1 s" }'


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A copy of the installed files, and how to write one more of them."""
    monkeypatch.setattr(folder, "FOLDER", tmp_path)
    copied = {path.relative_to(ORIGINAL): path.read_text() for path in ORIGINAL.rglob("*.toml")}
    for path, text in copied.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    caches = (named._labelled, named._from_file)
    for cache in caches:
        cache.cache_clear()
    yield lambda name, text: (tmp_path / f"{name}.toml").write_text(text)
    for cache in caches:
        cache.cache_clear()


def refused(name):
    with pytest.raises(UsageError) as caught:
        gm.machine(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def flattened(content, prefix=""):
    """Entries by dotted key, as plain text."""
    for name, entry in content.items():
        if isinstance(entry, dict) and "value" not in entry:
            yield from flattened(entry, f"{prefix}{name}.")
        elif isinstance(entry, dict):
            yield f"{prefix}{name}", json.dumps(entry, sort_keys=True)


def said(path):
    return dict(flattened(tomllib.loads(path.read_text())))


def below(path):
    """What base and hosts of a file say."""
    content = tomllib.loads(path.read_text())
    base, hosts = (content.get(field) for field in ("base", "hosts"))
    lower = ORIGINAL / f"{base}.toml"
    found = {**below(lower), **said(lower)} if base else {}
    return {**found, **(said(ORIGINAL / "hosts" / f"{hosts}.toml") if hosts else {})}


# ---- base


def test_a_machine_with_a_base_is_the_base_but_for_what_it_says():
    wide, extoll = read_machine(WIDE, "wide"), gm.machine("extoll")
    assert (wide.name, wide.network, wide.summary) == ("wide", "extoll", "EXTOLL R1 with links of twice the bandwidth")
    assert wide.values() == extoll.with_(link_bandwidth="1.25 GB/s").values()
    assert [number.key for number in wide.numbers] == [number.key for number in extoll.numbers]
    assert wide["link.bandwidth"].source == "choice: twice what machine extoll has"
    assert wide["link.bandwidth"].hardware == ()
    assert {number.origin for number in wide.numbers} == {"file"}
    others = [number for number in wide.numbers if number.key != "link.bandwidth"]
    assert all(number == extoll[number.key] for number in others)
    assert wide.with_(link_bandwidth="625 MB/s").overrides() == {"link.bandwidth": "625 MB/s"}


def test_bases_may_have_bases(installed):
    installed("a", WIDE)
    installed("b", 'base = "a"\nsummary = "s"\nlink.latency = { value = "1 us", ' + BOUND)
    machine = gm.machine("b")
    assert (machine["link.bandwidth"].value, machine["link.latency"].value) == (1.25e9, 1e-6)


def test_moving_a_number_into_a_base_or_into_hosts_moves_no_digest(installed):
    text = (ORIGINAL / "ideal.toml").read_text()
    head, mark, rest = text.partition("[nic.gap]")
    entry, _, tail = rest.partition("\n\n")
    other = entry.replace('"300 ns"', '"200 ns"')
    assert other != entry
    whole = read_machine(text, "ideal")
    (folder.FOLDER / "hosts" / "toy.toml").write_text(mark + entry)
    installed("below", head + mark + other + "\n\n" + tail)
    below = gm.machine("below")
    by_base = read_machine(f'base = "below"\nsummary = "s"\n{mark}{entry}', "ideal")
    by_hosts = read_machine(head.replace("summary", 'hosts = "toy"\nsummary', 1) + tail, "ideal")
    for machine in (by_base, by_hosts):
        assert (machine.digest, ledger_digest(machine)) == (whole.digest, ledger_digest(whole))
        assert machine.numbers == whole.numbers
    assert below.digest != whole.digest
    assert ledger_digest(below) != ledger_digest(whole)


def test_a_change_below_wants_a_line_of_the_ledger_for_each_machine_it_reaches(installed):
    def changed(name, key, old, new):
        path = folder.FOLDER / f"{name}.toml"
        assert old in path.read_text().partition(key)[2]
        before, _, after = path.read_text().partition(key)
        path.write_text(before + key + after.replace(old, new, 1))
        for cache in (named._labelled, named._from_file):
            cache.cache_clear()
        return sorted(line.split(":")[0] for line in ledger_problems(ledger()))

    assert ledger_problems(ledger()) == []
    assert changed("ethernet", "[link.buffer]", "64 packets", "65 packets") == [
        "machine ethernet", "machine ethernet-10g",
    ]  # fmt: skip
    assert changed("hosts/l5530", "[kernel.send]", "1.75 us", "1.76 us") == [
        "machine ethernet", "machine ethernet-10g", "machine ipoib",
    ]  # fmt: skip


@pytest.mark.parametrize("name", gm.machines())
def test_an_installed_file_says_only_what_its_base_and_hosts_do_not(name):
    path = ORIGINAL / f"{name}.toml"
    lower = below(path)
    assert [key for key, entry in said(path).items() if lower.get(key) == entry] == []


def test_no_machine_file_is_a_copy_of_another():
    """A file that says more than half of what another machine is could be based on it, or share its hosts."""
    files = {name: ORIGINAL / f"{name}.toml" for name in gm.machines()}
    bases = {name: tomllib.loads(path.read_text()).get("base") for name, path in files.items()}
    whole = {name: {**below(path), **said(path)} for name, path in files.items()}
    for one, path in files.items():
        own = said(path)
        for other in (name for name in files if name != one and bases[name] != one):
            same = [key for key in own if whole[other].get(key) == own[key]]
            assert 2 * len(same) <= len(own), (one, other, same)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('base = "extol"', "unknown base in machine file m.toml 'extol'; did you mean 'extoll'? allowed: aries, "),
        ('base = "ledger"', "unknown base in machine file m.toml 'ledger'; allowed: aries, "),
        ('base = "../extoll"', "unknown base in machine file m.toml '../extoll'; did you mean 'extoll'? allowed: "),
        ('base = ["extoll"]', "unknown base in machine file m.toml \"['extoll']\"; did you mean 'extoll'? allowed: "),
        (
            'base = "extoll"\nnetwork = "ibv"',
            "machine file m.toml: its network is ibv, that of its base extoll is extoll; allowed: a base of the same"
            " network",
        ),
        ('base = "extoll"\nnetwork = "x"', "unknown network in machine file m.toml 'x'; allowed: "),
        ('base = "extoll"', "machine file m.toml: the summary is missing; allowed: one line of text"),
        (
            'base = "extoll"\nsummary = "s"\nhca.descriptor = { value = "64 B" }',
            "unknown parameter in machine file m.toml 'hca.descriptor'; did you mean 'rma.descriptor'? allowed: ",
        ),
        (
            'base = "extoll"\nsummary = "s"\nlink.latency = { value = "1 us" }',
            "machine file m.toml: link.latency: source is missing; allowed: an entry with value, source, confidence",
        ),
        (
            'base = "extoll"\nsummary = "s"\nlink.latency = "1 us"',
            "machine file m.toml: link.latency: '1 us' is not allowed; allowed: a table of fields",
        ),
        (
            'base = "ethernet"\nhosts = "l5531"\nsummary = "s"',
            "unknown hosts in machine file m.toml 'l5531'; did you mean 'l5530'? allowed: l5530,"
            " xc40-haswell, xc40-knl (see `python/gasmeter/machines/hosts`)",
        ),
        (
            'network = "ideal"\nhosts = "l5530"\nsummary = "s"',
            "machine file m.toml: host.call, host.header_build, host.dispatch, host.nic_post, host.nic_take,"
            " host.registration, host.registration_per_page, host.deregistration, host.deregistration_per_page,"
            " nic.latency, nic.gap, nic.bandwidth, nic.send_slots, nic.reply_slots missing; allowed: every"
            " parameter of network ideal",
        ),
    ],
)
def test_a_base_or_hosts_that_do_not_fit_are_named_with_the_file(text, message):
    with pytest.raises(UsageError) as caught:
        read_machine(text, "m")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("bases", "message"),
    [
        (
            {"a": "a"},
            "machine file a.toml: its base a goes round in a circle (a -> a); allowed: bases that end at a machine"
            " without",
        ),
        ({"a": "b", "b": "a"}, "machine file b.toml: its base a goes round in a circle (a -> b -> a); allowed: "),
        ({"a": "b", "b": "c", "c": "b"}, "machine file c.toml: its base b goes round in a circle (a -> b -> c -> b);"),
        ({"a": "b", "b": "none"}, "unknown base in machine file b.toml 'none'; "),
    ],
)
def test_bases_in_a_circle_are_named(installed, bases, message):
    for name, base in bases.items():
        installed(name, f'base = "{base}"\nsummary = "s"')
    assert refused("a").startswith(message)
    found = CliRunner().invoke(cli, ["list", "machines"])
    assert found.exit_code == 2
    assert message in found.stderr
    assert found.stderr.count("\n") == 1


# ---- hosts


def test_hosts_come_between_base_and_file(installed):
    bound = BOUND
    (folder.FOLDER / "hosts" / "slow.toml").write_text(
        f'host.call = {{ value = "1 ms", {bound}\nhost.dispatch = {{ value = "2 ms", {bound}\n'
    )
    text = f'base = "ethernet"\nhosts = "slow"\nsummary = "s"\nhost.dispatch = {{ value = "3 ms", {bound}'
    machine, below = read_machine(text, "m"), gm.machine("ethernet")
    moved = {"host.call": 1e-3, "host.dispatch": 3e-3}
    assert machine.values() == {**below.values(), **moved}


def test_hosts_may_know_what_one_network_does_not_ask_for():
    text = (ORIGINAL / "ibv.toml").read_text().replace("summary", 'hosts = "l5530"\nsummary', 1)
    assert read_machine(text, "ibv") == gm.machine("ibv")


def test_a_parameter_of_hosts_that_no_network_has_is_named(installed):
    path = folder.FOLDER / "hosts" / "l5530.toml"
    path.write_text(path.read_text().replace("[host.update]", "[host.updat]"))
    assert refused("ipoib").startswith(
        "unknown parameter in machine file hosts/l5530.toml 'host.updat'; did you mean 'host.update'? allowed: "
    )


def test_a_mistake_in_hosts_is_said_of_them(installed):
    path = folder.FOLDER / "hosts" / "l5530.toml"
    whole = path.read_text()
    path.write_text(whole.replace('"0.375 ns"', '"6 MHz"', 1))
    assert refused("ipoib").startswith(
        "machine file hosts/l5530.toml: host.instruction: '6 MHz' has unit 'MHz'; allowed: "
    )
    path.write_text(whole + "[")
    assert refused("ipoib").startswith("machine file hosts/l5530.toml is not TOML (")


def test_installed_hosts_are_shared_and_in_effect():
    files = {one: tomllib.loads((ORIGINAL / f"{one}.toml").read_text()) for one in gm.machines()}
    # A machine with the cards of its base and hosts of its own: both kinds of hosts stand apart from the cards.
    other = [one for one in files.values() if "base" in one and "hosts" in one]
    apart = {name for one in other for name in (one["hosts"], files[one["base"]].get("hosts"))}
    for name in folder.hosts():
        users = [one for one, file in files.items() if file.get("hosts") == name]
        shared = len(users) > 1 or name in apart
        assert shared, f"hosts {name} are those of one machine: its own file has room for them"
        for key, entry in said(ORIGINAL / "hosts" / f"{name}.toml").items():
            value = json.loads(entry)["value"]
            assert any(key in gm.machine(one) and gm.machine(one)[key].text == value for one in users), key


# ---- files of one's own


@pytest.fixture
def wide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wide.toml").write_text(WIDE)
    return tmp_path / "wide.toml"


def test_the_file_of_the_page_is_one(wide):
    assert WIDE.strip() in PAGE.read_text()
    assert gm.machine("wide.toml").name == "wide.toml"


def test_a_machine_may_be_the_path_of_a_file(wide):
    machine = gm.machine("wide.toml")
    assert machine.label == machine.name == "wide.toml"
    assert machine["link.bandwidth"].value == 1.25e9
    label = gm.machine("wide.toml + link.latency=1 us").label
    assert label == "wide.toml+link.latency=1 us"
    assert gm.machine(label) == machine.with_(link_latency="1 us")
    assert gm.machine(str(wide)).digest == machine.digest
    assert "wide.toml" not in gm.machines()


def test_a_file_that_was_changed_is_read_again(wide):
    assert gm.machine("wide.toml")["link.bandwidth"].value == 1.25e9
    wide.write_text(WIDE.replace("1.25 GB/s", "12.5 GB/s"))
    assert gm.machine("wide.toml")["link.bandwidth"].value == 12.5e9


def test_a_file_that_cannot_be_read_is_one_line(wide, tmp_path):
    assert refused("narrow.toml").startswith(
        "machine file narrow.toml: No such file or directory; allowed: the path of a file, or one of aries, "
    )
    (tmp_path / "latin.toml").write_bytes(b'summary = "\xe9"')
    assert refused("latin.toml").startswith("machine file latin.toml: 'utf-8' codec can't decode")
    (tmp_path / "folder.toml").mkdir()
    assert refused("folder.toml").startswith("machine file folder.toml: ")
    (tmp_path / "cut.toml").write_text(WIDE + "[")
    assert refused("cut.toml").startswith("machine file cut.toml is not TOML (")


def test_the_command_line_takes_files(wide):
    run = CliRunner()
    text = run.invoke(cli, ["list", "machines", "wide.toml"]).stdout
    assert text.startswith("machines:\n  wide.toml      EXTOLL R1 with links of twice the bandwidth\n")
    assert "high confidence: choice: twice what machine extoll has" in text
    (entry,) = json.loads(run.invoke(cli, ["list", "machines", "wide.toml", "--json"]).stdout)
    assert (entry["name"], entry["network"]) == ("wide.toml", "extoll")
    assert run.invoke(cli, ["list", "machines", "narrow.toml"]).exit_code == 2


def test_a_point_runs_on_a_file(wide):
    found = gm.measure("ping-pong", conduit="extoll", op="am-short", machine=["extoll", "wide.toml"])
    times = {row["machine"]: row["value"] for row in found.rows}
    assert times["wide.toml"] < times["extoll"]
    what_if = gm.measure("ping-pong", conduit="extoll", op="am-short", machine="extoll+link.bandwidth=1.25 GB/s")
    assert times["wide.toml"] == what_if.rows[0]["value"]
