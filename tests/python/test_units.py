import pytest
from hypothesis import given
from hypothesis import strategies as st

from gasmeter.arguments.sizes import parse_size, parse_sizes
from gasmeter.errors import UsageError
from gasmeter.sweeps.names import parse_assignments
from gasmeter.units import (
    QUANTITIES,
    format_bytes,
    format_duration,
    format_quantity,
    parse_duration,
    parse_in,
    parse_quantity,
    parse_ranks,
    parse_seeds,
    parse_share,
    quantity_text,
)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("8", (8,)),
        ("8,64,4K", (8, 64, 4096)),
        ("8:64", (8, 16, 32, 64)),
        ("1M:4M", (1 << 20, 1 << 21, 1 << 22)),
        ("8:16,1K,8", (8, 16, 1024)),
        ("0", (0,)),
        (" 2KiB , 1G ", (2048, 1 << 30)),
        (4096, (4096,)),
        ([8, "1K"], (8, 1024)),
        ("8:512:x4", (8, 32, 128, 512)),
        ("3:30:x2", (3, 6, 12, 24)),
        ("8:30:X1.5", (8, 12, 18, 27)),
        ("1:4:x1.25", (1, 2, 3, 4)),
        ("64~3", (61, 64, 67)),
        ("1K:2K~1,8", (1023, 1024, 1025, 2047, 2048, 2049, 8)),
        ("2~3", (2, 5)),
        ("8:128:x4~1", (7, 8, 9, 31, 32, 33, 127, 128, 129)),
    ],
)
def test_sizes_are_parsed_in_the_order_given(text, sizes):
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("-8", "negative"),
        ("x", "not a size"),
        ("", "not a size"),
        ("8:", "not a size"),
        ("4M:8", "reversed"),
        ("3:8", "power of two"),
        ("0:8", "power of two"),
        ("9999999T", "beyond any segment"),
        ("1.5K", "not a size"),
        ("8:64:4", "above 1"),
        ("8:64:x1", "above 1"),
        ("8:64:x", "above 1"),
        ("0:64:x2", "begins at 0"),
        ("1K:1T:x1.001", "over 1000 sizes"),
        ("8~", "no number of bytes"),
        ("8~0", "no number of bytes"),
        ("8~3K", "no number of bytes"),
    ],
)
def test_a_bad_size_names_the_value_and_what_is_allowed(text, reason):
    with pytest.raises(UsageError, match=reason) as caught:
        parse_sizes(text)
    assert "\n" not in str(caught.value)
    assert "allowed" in str(caught.value)


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_range_holds_every_power_of_two_between_its_ends(low, high):
    if low > high:
        with pytest.raises(UsageError):
            parse_sizes(f"{1 << low}:{1 << high}")
    else:
        assert parse_sizes(f"{1 << low}:{1 << high}") == tuple(1 << power for power in range(low, high + 1))


@given(st.integers(1, 1 << 40))
def test_any_number_of_bytes_is_a_size(size):
    assert parse_size(str(size)) == size


@given(st.text(max_size=8))
def test_any_text_is_a_size_or_a_usage_error(text):
    try:
        sizes = parse_sizes(text)
    except UsageError:
        return
    assert sizes
    assert all(size >= 0 for size in sizes)


@pytest.mark.parametrize(("text", "ranks"), [("2", (2,)), ("1,2,4", (1, 2, 4)), (3, (3,)), ([1, 2], (1, 2))])
def test_ranks_are_parsed(text, ranks):
    assert parse_ranks(text) == ranks


@pytest.mark.parametrize("text", ["0", "-1", "two", "1,0", "", "1.5"])
def test_bad_ranks_are_refused(text):
    with pytest.raises(UsageError, match="allowed"):
        parse_ranks(text)


@pytest.mark.parametrize(("text", "share"), [("2%", 0.02), ("0.02", 0.02), ("100%", 1.0), (0.5, 0.5)])
def test_shares_are_parsed(text, share):
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["0%", "-1%", "200%", "much", "", "nan", "inf"])
def test_bad_shares_are_refused(text):
    with pytest.raises(UsageError, match="allowed"):
        parse_share(text)


@pytest.mark.parametrize(("text", "seconds"), [("30s", 30), ("2m", 120), ("500ms", 0.5), ("1.5", 1.5), ("1h", 3600)])
def test_durations_are_parsed(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["0", "-1s", "soon", "3 weeks", ""])
def test_bad_durations_are_refused(text):
    with pytest.raises(UsageError, match="allowed"):
        parse_duration(text)


def test_values_are_shown_with_the_unit_people_read():
    assert [format_bytes(size) for size in (8, 4096, 1536, 1 << 30)] == ["8 B", "4 KiB", "1.5 KiB", "1 GiB"]
    assert format_quantity(1234.0, "ns") == "1.234 µs"
    assert format_quantity(5e9, "B/s") == "5 GB/s"
    assert format_quantity(6.1e7, "1/s") == "61 M/s"
    assert format_quantity(0.123, "ratio", "overhead") == "+12.3 %"
    assert format_quantity(20.5, "ratio", "overhead") == "21.5 times"
    assert format_quantity(4.546, "ratio", "speedup") == "4.55 x"
    assert format_quantity(0.01, "ratio", "error_fraction") == "1 %"
    assert format_quantity(float("nan"), "ns") == "-"
    assert format_duration(0.45) == "450 ms"
    assert format_duration(200) == "3 min 20 s"


@pytest.mark.parametrize("seconds", [1e-5, 9.999999999999999e-06, 1e30, 3])
def test_a_duration_that_is_a_number_already_stays_as_it_is(seconds):
    assert parse_duration(seconds) == seconds


@pytest.mark.parametrize(
    ("value", "seeds"), [(7, (7,)), ("0,1,1", (0, 1)), ([3, "4"], (3, 4)), (2**64 - 1, (2**64 - 1,))]
)
def test_seeds_are_parsed_in_the_order_given(value, seeds):
    assert parse_seeds(value) == seeds


@pytest.mark.parametrize("value", [-1, 2**64, "x", "", 1.5, True, ()])
def test_a_bad_seed_names_what_is_allowed(value):
    with pytest.raises(UsageError, match="allowed: whole numbers from 0"):
        parse_seeds(value)


def test_one_item_may_hold_several_assignments():
    assert parse_assignments(["loss=0.3,dup=0.1", "op=put,get"]) == {"loss": "0.3", "dup": "0.1", "op": "put,get"}


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("0.31 us", "time", 0.31e-6),
        ("20ns", "time", 20e-9),
        ("5 µs", "time", 5e-6),
        ("2 ms", "time", 2e-3),
        ("1e-6 s", "time", 1e-6),
        ("0 s", "time", 0.0),
        ("625 MB/s", "bandwidth", 625e6),
        ("1.25 GB/s", "bandwidth", 1.25e9),
        ("10 Gbit/s", "bandwidth", 1.25e9),
        ("1 MiB/s", "bandwidth", 1048576.0),
        ("64 B", "bytes", 64.0),
        ("0 B", "bytes", 0.0),
        ("4 KiB", "size", 4096.0),
        ("4 kB", "size", 4000.0),
        ("156.25 MHz", "frequency", 156.25e6),
        ("16", "count", 16.0),
        ("16 slots", "count", 16.0),
        (16, "count", 16.0),
    ],
)
def test_a_quantity_is_read_in_base_units(text, kind, value):
    assert parse_quantity(text, kind, "x") == value


@given(st.sampled_from(sorted(QUANTITIES)), st.floats(1e-18, 1e18, allow_nan=False), st.integers(1, 1 << 53))
def test_every_quantity_reads_back_as_written(kind, number, whole):
    value = float(whole) if QUANTITIES[kind].whole else number
    assert parse_quantity(quantity_text(value, kind), kind, "x") == value


@given(st.sampled_from(sorted(QUANTITIES)), st.text(max_size=12))
def test_any_text_is_a_quantity_or_a_usage_error(kind, text):
    try:
        value = parse_quantity(text, kind, "x")
    except UsageError:
        return
    assert value > 0 or (value == 0 and QUANTITIES[kind].zero)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (3e-7, "time", "300 ns"),
        (0.0, "time", "0 s"),
        (1e-13, "time", "0.1 ps"),
        (1.25e9, "bandwidth", "1.25 GB/s"),
        (4096.0, "size", "4 KiB"),
        (1500.0, "size", "1500 B"),
        (0.0, "bytes", "0 B"),
        (156.25e6, "frequency", "156.25 MHz"),
        (16.0, "count", "16"),
    ],
)
def test_a_quantity_has_one_spelling(value, kind, text):
    assert quantity_text(value, kind) == text


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("500", "us", 500), ("500us", "us", 500), ("500 us", "us", 500), ("0.5ms", "us", 500),
        ("2 \N{MICRO SIGN}s", "ns", 2000), ("1m", "s", 60), ("4096", "B", 4096), ("4K", "B", 4096),
        ("4 KiB", "B", 4096), ("3B", "B", 3), ("4%", "ratio", 0.04), ("30%", "", 0.3),
        ("64 messages", "messages", 64), ("1.5 GB/s", "MB/s", 1500), ("-1", "us", -1),
    ],
)  # fmt: skip
def test_a_number_takes_every_unit_of_its_kind(text, unit, value):
    assert float(parse_in(text, unit)) == value


@pytest.mark.parametrize(
    ("text", "unit"),
    [("5kg", "us"), ("5us", "B"), ("5B", "us"), ("5%", "us"), ("fast", ""), ("", "us"), ("5 puts", "messages")],
)
def test_a_number_takes_no_unit_of_another_kind(text, unit):
    with pytest.raises(UsageError, match="is not a"):
        parse_in(text, unit)
