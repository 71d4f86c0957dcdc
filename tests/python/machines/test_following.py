"""Numbers that are a share of another one, and ranges that contradict each other."""

from dataclasses import replace

import pytest

import gasmeter as gm
from gasmeter.catalogue import Parameter, declared
from gasmeter.errors import UsageError
from gasmeter.machines.bounds import check_bounds
from gasmeter.machines.draws import DRAWS, draw
from gasmeter.machines.files import read_machine
from gasmeter.machines.machine import Machine
from gasmeter.machines.number import Number, number_value

EXTOLL = gm.machine("extoll")
SLOTS, POINTER = "velo.mailbox_slots", "velo.read_pointer_update"
HEAD = 'base = "ideal"\nsummary = "s"\n'
SHARE = '[nic.reply_slots]\nvalue = "8 slots"\nshare = "1/2"\nof = "nic.send_slots"\nconfidence = "low"\nsource = "s"\n'
ROW = 'hardware = ["hw.extoll.mailbox-ring-size"]\n'


def test_the_read_pointer_is_a_quarter_of_the_ring():
    """By the note of hw.extoll.mailbox-ring-size."""
    number = EXTOLL[POINTER]
    assert (str(number.share), number.of, number.estimate) == ("1/4", SLOTS, False)
    assert number.value == EXTOLL[SLOTS].value / 4
    assert EXTOLL.effective()[POINTER]["of"] == SLOTS
    assert "of" not in EXTOLL.effective()[SLOTS]


def test_a_share_follows_the_number_that_is_given():
    small = EXTOLL.with_({SLOTS: "64 slots"})
    assert small[POINTER].value == 16
    assert small.label == "extoll+velo.mailbox_slots=64"
    assert gm.machine(small.label) == small
    assert (small[POINTER].origin, small[POINTER].confidence, small[POINTER].text) == ("derived", "given", "16")
    assert small.with_({SLOTS: "512 slots"}) == EXTOLL
    assert EXTOLL.with_({SLOTS: 65})[POINTER].value == 16
    assert EXTOLL.with_({SLOTS: 1})[POINTER].value == 1


def test_a_share_may_be_given_itself():
    given = EXTOLL.with_({POINTER: "32 slots"})
    assert given.label == f"extoll+{POINTER}=32"
    assert given.with_({SLOTS: "64 slots"})[POINTER].value == 32
    assert gm.machine(given.with_({SLOTS: "64 slots"}).label) == given.with_({SLOTS: "64 slots"})
    # An override with the following value changes nothing. The value in the file differs once the other number moves.
    assert EXTOLL.with_({POINTER: "128 slots"}) == EXTOLL
    assert given.with_({POINTER: "128 slots"}) == EXTOLL
    kept = EXTOLL.with_({SLOTS: "1024 slots", POINTER: "128 slots"})
    assert kept[POINTER].value == 128
    assert kept.label == f"extoll+{SLOTS}=1024+{POINTER}=128"
    assert gm.machine(kept.label) == kept


def test_a_share_follows_what_is_drawn():
    for which in range(0, DRAWS, 20):
        drawn = draw(EXTOLL, which)
        assert drawn[POINTER].value == max(1, round(drawn[SLOTS].value / 4))
        assert drawn[POINTER].origin == "draw"
        assert drawn.with_({SLOTS: "64 slots"})[POINTER].value == 16
        assert draw(EXTOLL.with_({POINTER: 7}), which)[POINTER].value == 7


def test_a_share_that_a_base_states_follows_what_the_file_says():
    entry = 'value = "64 slots"\nlow = "8 slots"\nhigh = "64 slots"\nconfidence = "low"\nsource = "estimate: s"\n'
    machine = read_machine(f'base = "extoll"\nsummary = "s"\n[{SLOTS}]\n{entry}', "m")
    assert (machine[POINTER].value, machine[POINTER].text, machine[POINTER].origin) == (16, "16", "file")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SHARE + ROW.replace("hw.", "hx."), ""),
        (SHARE, "nic.reply_slots: it names no hardware; what says that it is such a share"),
        (SHARE.replace("8 slots", "9 slots") + ROW, "9 slots is not 1/2 of nic.send_slots; allowed: 8"),
        (SHARE.replace('share = "1/2"\n', "") + ROW, "what follows another number needs both share and of"),
        (SHARE.replace("1/2", "half") + ROW, "share 'half' is none; allowed: a fraction of whole numbers above 0"),
        (SHARE.replace("1/2", "1/0") + ROW, "share '1/0' is none"),
        (SHARE + ROW + 'low = "1 slots"\nhigh = "9 slots"\n', "it has a share of another number and a range; allowed"),
        (SHARE.replace("send_slots", "slots") + ROW, "of: 'nic.slots' is nothing to have a share of; allowed: another"),
        (SHARE.replace("send_slots", "reply_slots") + ROW, "of: 'nic.reply_slots' is nothing to have a share of"),
    ],
)
def test_a_share_with_a_mistake_is_refused_in_one_line(text, message):
    if not message:
        assert read_machine(HEAD + text, "m")["nic.reply_slots"].share
        return
    with pytest.raises(UsageError) as caught:
        read_machine(HEAD + text, "m")
    assert message in str(caught.value)
    assert str(caught.value).startswith("machine file m.toml: nic.reply_slots: ")
    assert "\n" not in str(caught.value)


# ---- bounds


def count(key, text, low="", high="", **more):
    return Number(key, "count", text, number_value(text, "count", key), "s", "low", (), low, high, **more)


def contradiction(bound, kept, slots):
    parameters = (Parameter("kept", "count", ""), Parameter("slots", "count", ""))
    check_bounds((replace(parameters[0], **bound), parameters[1]), {"kept": kept, "slots": slots}, "file m")


def test_ranges_whose_ends_contradict_are_refused():
    slots = count("slots", "16", "8", "32")
    contradiction({"at_most": "slots"}, count("kept", "4", "2", "8"), slots)
    contradiction({"below": "slots"}, count("kept", "4", "2", "7"), slots)
    contradiction({"below": "elsewhere"}, count("kept", "99"), slots)
    with pytest.raises(UsageError) as caught:
        contradiction({"at_most": "slots"}, count("kept", "4", "2", "9"), slots)
    assert str(caught.value) == (
        "file m: kept may be 9, and slots 8; allowed: a range that ends at the least slots, or a share of it"
    )
    with pytest.raises(
        UsageError, match="kept may be 8, and slots 8; allowed: a range that ends below the least slots"
    ):
        contradiction({"below": "slots"}, count("kept", "4", "2", "8"), slots)
    with pytest.raises(UsageError, match="kept may be 12, and slots 8"):
        contradiction({"at_most": "slots"}, count("kept", "12"), slots)


def test_numbers_that_move_together_are_held_against_each_other_by_their_shares():
    from fractions import Fraction

    slots = count("slots", "16", "8", "32")
    half = count("kept", "8", share=Fraction(1, 2), of="slots")
    contradiction({"below": "slots"}, half, slots)
    whole = replace(half, share=Fraction(1))
    contradiction({"at_most": "slots"}, whole, slots)
    with pytest.raises(UsageError, match="kept may be 32"):
        contradiction({"below": "slots"}, whole, slots)
    with pytest.raises(UsageError, match="kept may be 64"):
        contradiction({"at_most": "slots"}, replace(half, share=Fraction(2)), slots)


def test_no_machine_contradicts_itself_and_a_file_that_does_is_not_read():
    bounds = {
        parameter.key: parameter.at_most or parameter.below
        for network in declared().networks.values()
        for parameter in network.parameters
    }
    assert {key: bound for key, bound in bounds.items() if bound} == {
        POINTER: SLOTS, "hca.inline_limit": "link.mtu", "mpi.inline": "mpi.eager",
        "nic.reply_slots": "nic.send_slots",
    }  # fmt: skip
    entry = 'value = "4 slots"\nlow = "2 slots"\nhigh = "8 slots"\nconfidence = "low"\nsource = "estimate: s"\n'
    with pytest.raises(UsageError) as caught:
        read_machine(f"{HEAD}[nic.reply_slots]\n{entry}", "m")
    assert str(caught.value) == (
        "machine file m.toml: nic.reply_slots may be 8, and nic.send_slots 8; allowed: a range that ends below the"
        " least nic.send_slots, or a share of it"
    )


@pytest.mark.parametrize("name", ["extoll", "ibv", "ideal"])
def test_the_network_takes_what_bounds_let_through_and_refuses_the_rest(name):
    """The declared bounds are those of the network's own code."""
    network = declared().networks[name]
    (bounded,) = (parameter for parameter in network.parameters if parameter.at_most or parameter.below)
    key, bound = bounded.key, bounded.at_most or bounded.below
    machine = gm.machine(name)
    most = machine[bound].value - (0 if bounded.at_most else 1)
    text = "{:.0f}" + (" B" if machine[key].kind == "size" else "")

    def run(value):
        changed = machine.with_({key: text.format(value)})
        return gm.measure("ping-pong", conduit=name, op="am-short", machine=changed, iterations=2)

    assert run(most).rows
    with pytest.raises(UsageError):
        run(most + 1)
    assert isinstance(machine, Machine)
