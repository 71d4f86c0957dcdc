"""Modelled lines over measured curves: the files, errors by hand on a machine of numbers, the page, Aries for real."""

import csv
import errno
import io
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import gasmeter as gm
from gasmeter.checking import curves, held, hold, writing
from gasmeter.checking.curves import Curves, Line, read_curves
from gasmeter.checking.overlay import Laid, LaidPoint, laid_over, line_series
from gasmeter.cli import cli
from gasmeter.errors import UsageError
from gasmeter.machines.check_row import in_si
from gasmeter.machines.hardware import facts
from gasmeter.measuring.experiment import Experiment
from gasmeter.stores.pictures import verify_picture
from gasmeter.sweeps.sweep import plan_series
from invented_hardware import CURVES, POINTS, measured
from stored import edit_rows


@pytest.fixture
def invented(machine, monkeypatch):
    """Curves that nobody published, beside which the fake machine is held."""
    return measured(monkeypatch, machine)


def call(*words):
    return CliRunner().invoke(cli, ["hardware", *map(str, words)])


# ---- errors, by hand


def test_an_error_is_how_much_more_is_modelled_than_was_published():
    assert LaidPoint(8, published=2.0, modelled=1.5).error == pytest.approx(-25)
    assert LaidPoint(8, published=2.0, modelled=5.0).error == pytest.approx(150)


def test_each_line_has_a_value_where_its_parts_and_the_curve_have_points(invented, tmp_path):
    mpi, card = hold("extoll", tmp_path / "out").laid
    # Half of 2900 ns against 1, 2 and 1.5 us; the curve's 4096 B are in no part.
    assert [(point.size, point.published) for point in mpi.points] == [(0, 1.0), (8, 2.0), (128, 1.5)]
    assert [point.modelled for point in mpi.points] == pytest.approx([1.45] * 3)
    assert [point.error for point in mpi.points] == pytest.approx([45, -27.5, -10 / 3])
    assert (mpi.median, mpi.largest.size, mpi.beyond) == (pytest.approx(-10 / 3), 0, ())
    # Half of 4200 ns against 2 us: meant to be at most as much, and 5 % more.
    assert [(point.size, point.error) for point in card.points] == [(8, pytest.approx(5))]
    assert [point.size for point in card.beyond] == [8]


def test_bounds_hold_on_their_side():
    line = Line(label="l", over=("c",), kind="at_least", kernel="flood", conduit="raw@extoll", metric="bandwidth",
                modelled="bandwidth", parts=[{"op": "put", "from": 1, "iterations": 1}], note="")  # fmt: skip
    assert line.bounded(2.0, 1.0)
    assert not line.bounded(1.0, 2.0)
    assert line.model_copy(update={"kind": "at_most"}).bounded(1.0, 2.0)
    assert line.model_copy(update={"kind": "equals"}).bounded(1.0, 2.0)


def test_expressions_are_over_the_metric_and_the_bytes_of_a_point():
    line = Line(label="l", over=("c",), kind="equals", kernel="ping-pong", conduit="raw@extoll", metric="latency",
                modelled="size / latency", parts=[{"op": "put", "from": 1, "iterations": 1}], note="")  # fmt: skip
    assert line.value(4096, 2e-6) == pytest.approx(2.048e9)


def test_a_point_that_was_refused_is_said_to_be_missing(invented, tmp_path):
    machine = gm.machine("extoll")
    rows = Experiment(name="e", series=tuple(line_series(invented, machine))).run(tmp_path / "out").rows
    assert [one.missing for one in laid_over(rows, invented, machine)] == [(), ()]
    rows = [row for row in rows if row["size_bytes"] != 128]
    mpi, _ = laid_over(rows, invented, machine)
    assert (mpi.missing, [point.size for point in mpi.points]) == ((128,), [0, 8])


# ---- the command


class Elements(HTMLParser):
    """Attributes and text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(page)
        self.words = " ".join(" ".join(self.text).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_the_folder_has_page_pictures_points_and_run(invented, tmp_path):
    out = tmp_path / "out"
    result = call("extoll", "--out", out)
    assert (result.exit_code, result.stderr) == (1, "")  # its check row is off by 40 %
    assert {"index.html", "curves.csv", "plots", "run.json", "results.csv"} <= {path.name for path in out.iterdir()}
    assert sorted(path.name for path in (out / "plots").iterdir()) == ["latency-published.svg", "latency.svg"]
    ElementTree.fromstring((out / "plots" / "latency.svg").read_bytes())
    rows = list(csv.DictReader(io.StringIO((out / "curves.csv").read_text())))
    assert tuple(rows[0]) == writing.CURVE_COLUMNS
    assert [(row["curve"], row["line"], row["size_bytes"]) for row in rows] == [
        *(("a-mpi", "MPI (raw@mpi@extoll)", size) for size in ("0", "8", "128")),
        ("a-mpi", "card alone (raw@extoll)", "8"), ("a-other", "", "0"), ("a-other", "", "8"),
    ]  # fmt: skip
    assert [float(row["error_percent"]) for row in rows[:4]] == pytest.approx([45, -27.5, -10 / 3, 5])
    assert [(row["published"], row["modelled"], row["error_percent"]) for row in rows[4:]] == [
        ("1.0", "", ""), ("1.1", "", ""),
    ]  # fmt: skip
    run = json.loads((out / "run.json").read_text())
    assert (run["experiment"], run["state"], run["machine"]) == ("check-machine", "complete", "extoll")
    assert [entry["hardware"] for entry in run["checks"]] == ["hw.a.trip"]
    mpi, card = run["curves"]
    assert (mpi["points"], mpi["largest_at_bytes"], mpi["largest_error_percent"]) == (3, 0, pytest.approx(45))
    assert (card["kind"], card["beyond_bytes"], card["inputs"]) == ("at_most", [8], [])


def test_the_page_labels_what_is_published_and_what_is_modelled_and_needs_no_other_file(invented, tmp_path):
    call("extoll", "--out", tmp_path / "out")
    page = Elements((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe"}
    sources = [attrs["src"] for tag, attrs in page.tags if tag == "img"]
    assert len(set(sources)) == 2  # the machine's group, and the curve of a processor that no machine has
    assert all(source.startswith("data:image/svg+xml,") for source in sources)
    assert {attrs["href"] for tag, attrs in page.tags if tag == "a"} <= {
        f"#{attrs['id']}" for _, attrs in page.tags if "id" in attrs
    }
    for words in (
        "Machine extoll beside measured hardware", "0 of 1 check rows are in.", "published only", "Latency of <nodes>",
        "No machine here has this processor", "somebody, somewhere", "by eye, a tenth", "MPI & co.", "+45.0 %",
        "half a round trip in µs", "card alone (raw@extoll): software on top", "half a trip",
    ):  # fmt: skip
        assert words in page.words, words


def test_the_page_and_its_pictures_say_which_rows_they_are_made_of(invented, tmp_path):
    out = tmp_path / "out"
    call("extoll", "--out", out)
    for name, count in (("index.html", 5), ("plots/latency.svg", 4)):  # the check row is in no picture
        found = verify_picture(out / name)
        assert found.same, found.text
        assert f"made from {count} rows of check-machine, revision " in found.text
    found = verify_picture(out / "plots" / "latency-published.svg")
    assert not found.same
    assert "is what others measured and published (Latency of <nodes>), nothing modelled beside it" in found.text
    assert found.text.endswith("; no rows of a run to look for")
    edit_rows(out, lambda text: text.replace("2900.0", "2901.0"))
    for name in ("index.html", "plots/latency.svg"):
        assert not verify_picture(out / name).same


def test_the_terminal_has_a_line_for_each_line_over_a_curve(invented, tmp_path):
    lines = call("extoll", "--out", tmp_path / "out").stdout.splitlines()
    mpi = next(line for line in lines if "MPI (raw@mpi@extoll)" in line)
    assert re.sub(r"\s+", " ", mpi).endswith("same benchmark 3 -3.3 % +45.0 % 0 B")
    card = next(line for line in lines if "card alone" in line)
    assert re.sub(r"\s+", " ", card).endswith("lower bound 1 +5.0 % +5.0 % 8 B 1")
    # Check rows that are all in stand beside curves that are not: neither is said alone.
    assert re.sub(r"\s+", " ", " ".join(lines)).startswith(
        "machine extoll: 0 of 1 check rows are in. Lines of the same benchmark: 1 of 3 values are within 25 %"
        " of the published one; the largest error is +45.0 %. Lines of bounds hold at 0 of 1 points. Check rows"
    )
    assert "published only: a-other: no machine has its processor, Pentium" in lines
    assert lines[-1] == str(tmp_path / "out" / "index.html")


def test_other_forms_keep_their_standard_output(invented, tmp_path):
    found = call("extoll", "--out", tmp_path / "out", "--format", "json")
    said = json.loads(found.stdout)
    assert [entry["curve"] for entry in said["curves"]] == ["a-mpi", "a-mpi"]
    assert found.stderr.splitlines()[-1] == str(tmp_path / "out" / "index.html")
    found = call("extoll", "--out", tmp_path / "other", "--format", "csv")
    assert len(list(csv.DictReader(io.StringIO(found.stdout)))) == 1
    assert "curves" not in json.loads(call("extoll", "--format", "json").stdout)


def test_a_number_that_rests_on_a_curves_text_is_named(invented, monkeypatch, tmp_path):
    own = gm.machine("extoll").numbers
    number = next(number for number in own if number.hardware)
    curve = invented.curves[0].model_copy(update={"hardware": number.hardware[:1]})
    said = invented.model_copy(update={"curves": (curve, *invented.curves[1:])})
    monkeypatch.setattr(held, "curves", lambda: said)
    found = call("extoll", "--out", tmp_path / "out")
    named = next(line for line in found.stdout.splitlines() if line.startswith("no test: a-mpi: "))
    assert number.key in named
    assert f"{number.key} ({number.hardware[0]})" in Elements((tmp_path / "out" / "index.html").read_text()).words


def test_a_machine_that_no_curve_is_about_has_its_check_rows_alone(invented, monkeypatch, tmp_path):
    monkeypatch.setattr(held, "curves", lambda: Curves(groups=(), curves=(), lines=()))
    found = call("extoll", "--out", tmp_path / "out")
    line = "No measured curve is about machine extoll; only check rows exist."
    assert f" {line} Check rows" in " ".join(found.stdout.split())
    assert found.stdout.splitlines()[-1] == str(tmp_path / "out" / "index.html")
    page = Elements((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    assert line in page.words
    assert "img" not in {tag for tag, _ in page.tags}
    assert not (tmp_path / "out" / "plots").exists()
    assert (tmp_path / "out" / "curves.csv").read_text().splitlines() == [",".join(writing.CURVE_COLUMNS)]


def test_a_folder_that_holds_an_earlier_page_is_kept_under_another_name(invented, tmp_path):
    for _ in range(2):
        call("extoll", "--out", tmp_path / "out")
    assert (tmp_path / "out.1" / "index.html").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"out", "out.1"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("extol", "unknown machine 'extol'; did you mean 'extoll'?"),
        ("ideal", "machine ideal has no check rows: nobody measured such hardware; allowed: extoll"),
    ],
)
def test_a_machine_that_cannot_be_checked_leaves_no_folder(invented, tmp_path, name, message):
    found = call(name, "--out", tmp_path / "out")
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith(f"Error: {message}")
    assert len(found.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_one_line(invented, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    found = call("extoll", "--out", tmp_path / "file")
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr == (
        f"Error: --out {tmp_path / 'file'} is a file; allowed: a folder, new or written by `gasmeter run`\n"
    )

    def refuse(path, content):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(writing, "write_atomically", refuse)
    found = call("extoll", "--out", tmp_path / "out")
    assert (found.exit_code, found.stdout) != (0, "")
    assert found.stderr.splitlines()[-1].startswith(f"Error: cannot write {tmp_path / 'out'}")


# ---- files


GROUP = '[[group]]\nname = "rates"\ntitle = ""\nquantity = ""\nunit = "us"\n'
CARD, MPI = "line 'card alone (raw@extoll)' in curves.toml: ", "line 'MPI (raw@mpi@extoll)' in curves.toml: "


@pytest.mark.parametrize(
    ("stands", "instead", "message"),
    [
        (CURVES, "group = [", "curves.toml is not TOML"),
        ("[[group]]", "[[lines]]\n[[group]]", "curves.toml: unknown lines; allowed: group, curve, line"),
        ('kind = "at_most"', 'kind = "about"', "curves.toml: line 2: kind: 'about' is not allowed; allowed: "),
        ('unit = "us"', 'unit = "hours"', "unknown unit of a check 'hours'"),
        ('over = ["a-mpi"]', 'over = ["a-mpj"]', "unknown curve of line 'card alone"),
        ('machines = ["extoll"]', 'machines = ["ibv"]', "curve a-mpi in curves.toml: machine ibv is of network ibv"),
        ('machines = ["extoll"]', 'machines = ["extol"]', "unknown machine of curve a-mpi"),
        ("hw.a.trip", "hw.a.trap", "unknown hardware fact of curve a-mpi"),
        ('group = "latency"', 'group = "rate"', "unknown group of curve a-mpi"),
        ("[[curve]]", f"{GROUP}[[curve]]", "curves.toml: group 'rates' stands there twice; allowed: once"),
        ('id = "a-other"', 'id = "a-mpi"', "curves.csv: curve 'a-other' does not stand in curves.toml"),
        ('conduit = "raw@extoll"', 'conduit = "raw@exto"', f"{CARD}unknown raw network 'exto'"),
        ('conduit = "raw@extoll"', 'conduit = "raw@ibv"', f"{CARD}conduit raw@ibv is of network ibv"),
        ('kernel = "ping-pong"', 'kernel = "pong"', f"{MPI}unknown kernel 'pong'"),
        ('op = "am-medium", ', 'op = "am", ', f"{CARD}unknown"),
        ('metric = "round_trip"', 'metric = "rate"', "unknown name of line 'MPI"),
        ("round_trip / 2", "round_trip / trips", "unknown name of line 'MPI (raw@mpi@extoll)'"),
        ("from = 65", "from = 66", f"{MPI}its parts do not follow each other"),
    ],
)
def test_a_mistake_in_the_table_of_curves_is_named(invented, stands, instead, message):
    assert stands in CURVES
    with pytest.raises(UsageError) as raised:
        read_curves(CURVES.replace(stands, instead), POINTS)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("stands", "instead", "message"),
    [
        ("size_bytes", "bytes", "curves.csv: the header is 'curve,bytes,value'; allowed: curve,size_bytes,value"),
        (POINTS, "", "curves.csv: the header is ''"),
        ("a-other,0", "b,0", "curves.csv: curve 'b' does not stand in curves.toml"),
        ("a-mpi,128", "a-mpi,8", "curves.csv: line 4: 8 B of a-mpi do not ascend"),
        ("1.1", "-1.1", "curves.csv: line 7: 'a-other,8,-1.1'; allowed: bytes from 0"),
        ("1.1", "nan", "curves.csv: line 7: 'a-other,8,nan'"),
        ("1.1", "about 1", "curves.csv: line 7: 'a-other,8,about 1' is no curve, bytes and value"),
        ("a-other,8,1.1\n", "", "curve a-other in curves.toml has 1 points"),
    ],
)
def test_a_mistake_in_the_points_is_named(invented, stands, instead, message):
    assert stands in POINTS
    with pytest.raises(UsageError) as raised:
        read_curves(CURVES, POINTS.replace(stands, instead))
    assert str(raised.value).startswith(message)


def test_installed_curves_have_units_sources_and_points_that_ascend():
    said = curves.curves()
    assert len({curve.id for curve in said.curves}) == len(said.curves)
    for curve in said.curves:
        assert in_si(said.group(curve).unit)[0] in {"s", "B/s"}
        sizes = [size for size, _ in curve.points]
        assert sizes == sorted(set(sizes))
        assert curve.source
        assert curve.read
        assert any(curve.id in line.over for line in said.lines)
        assert not any(facts()[row].tainted_by for row in curve.hardware)
    assert sum(len(curve.points) for curve in said.curves) == 141


def test_facts_of_a_curves_text_stand_with_it_and_are_points_of_it():
    said = curves.curves()
    told = {row for curve in said.curves for row in curve.hardware}
    for fact in facts().values():
        assert fact.source not in {curve.source for curve in said.curves} or fact.id in told, fact.id
    for curve in said.curves:
        rows = [facts()[name] for name in curve.hardware if facts()[name].source == curve.source]
        values = {value for _, value in curve.points}
        if said.group(curve).unit == "us":
            assert {float(row.value) for row in rows} <= values


def test_the_installed_page_says_which_numbers_rest_on_a_curve():
    said = curves.curves()
    resting = {
        (name, curve.id): sorted(curve.inputs(gm.machine(name)))
        for name in ("aries", "aries-cori1", "aries-cori2")
        for curve in said.about(gm.machine(name))
    }
    assert {key: rows for key, rows in resting.items() if rows} == {
        ("aries-cori1", "aries-array-put-fma"): ["host.fma_bandwidth", "nic.bandwidth"],
        ("aries-cori1", "aries-array-put-gasnet"): ["nic.bandwidth"],
    }
    assert {curve.processor for curve in said.beside(gm.machine("aries"))} == {"Broadwell"}
    assert said.about(gm.machine("extoll")) == ()


# ---- for real


def _ends(line):
    """Return the ends of each part that a curve has, and no long messages: what iterations have to do for."""
    said = curves.curves()
    sizes = sorted(
        {size for curve in said.curves if curve.id in line.over and curve.machines for size, _ in curve.points}
    )
    for part in line.parts:
        own = [size for size in sizes if part.has(size) and size <= 1 << 17]
        yield from dict.fromkeys((part, size) for size in own[:1] + own[-1:])


@pytest.mark.parametrize("line", curves.curves().lines, ids=lambda line: f"{line.label}: {line.over[0]}")
def test_four_times_the_work_moves_no_point(line):
    said = curves.curves()
    curve = next(curve for curve in said.curves if curve.id == line.over[0])
    machine = gm.machine(curve.machines[0])
    kept = {size for _, size in _ends(line)}
    short = curve.model_copy(update={"id": "short", "points": tuple((size, 1.0) for size in sorted(kept))})

    def values(times):
        parts = tuple(part.model_copy(update={"iterations": times * part.iterations}) for part in line.parts)
        found = Curves(
            groups=said.groups, curves=(short,),
            lines=(line.model_copy(update={"over": ("short",), "parts": parts}),),
        )  # fmt: skip
        rows = Experiment(name="e", series=tuple(line_series(found, machine))).run().rows
        (laid,) = laid_over(rows, found, machine)
        assert not laid.missing
        return [point.modelled for point in laid.points]

    assert values(4) == pytest.approx(values(1), rel=0.02)


def test_aries_has_a_page_of_its_latencies(monkeypatch, tmp_path):
    said = curves.curves()
    own = tuple(curve for curve in said.curves if curve.group in {"latency-knl", "latency-broadwell"})
    monkeypatch.setattr(held, "curves", lambda: said.model_copy(update={"curves": own}))
    found = call("aries", "--out", tmp_path / "out")
    assert found.exit_code in {0, 1}
    assert sorted(path.name for path in (tmp_path / "out" / "plots").iterdir()) == [
        "latency-broadwell.svg", "latency-knl.svg",
    ]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "curves.csv").read_text())))
    assert {row["curve"] for row in rows} == {curve.id for curve in own}
    for row in rows:
        assert (row["modelled"] == "") == row["curve"].startswith("aries-latency-broadwell")
        if row["modelled"]:
            error = 100 * (float(row["modelled"]) / float(row["published"]) - 1)
            assert float(row["error_percent"]) == pytest.approx(error)


def test_mpi_on_aries_is_as_far_off_as_its_readme_says():
    """cpp/gasmeter/networks/aries/README.md: Haswell to 4 KiB, beyond with memory that stays registered; Xeon Phi."""
    said = curves.curves()
    errors = {}
    for name, curve in (("aries-cori1", "aries-latency-haswell-ob1"), ("aries", "aries-latency-knl-ob1")):
        lines = tuple(
            line.model_copy(update={"over": (curve,)})
            for line in said.lines if curve in line.over and line.kind == "equals"
        )  # fmt: skip
        machine, found = gm.machine(name), said.model_copy(update={"lines": lines})
        rows = Experiment(name="e", series=tuple(line_series(found, machine))).run().rows
        for laid in laid_over(rows, found, machine):
            kept = laid.line.options.get("registration", "")
            errors[name, kept] = {point.size: round(point.error) for point in laid.points}
    haswell, kept = errors["aries-cori1", ""], errors["aries-cori1", "cached"]
    near = [error for size, error in haswell.items() if size <= 4096]
    assert (min(near), max(near)) == (1, 9)
    between = {size for size in kept if 16384 < size < 262144}
    assert {abs(kept[size]) for size in set(kept) - between} <= set(range(3, 10))
    assert min(kept[size] for size in between) == -32
    assert all(-60 <= error <= -54 for error in errors["aries", ""].values())


def test_every_installed_line_can_be_planned_on_the_machines_of_its_curves():
    said = curves.curves()
    for name in ("aries", "aries-cori1", "aries-cori2"):
        machine = gm.machine(name)
        planned = [group for series in line_series(said, machine) for group in plan_series(series)]
        assert len(planned) >= len(
            {line.label for line in said.lines} if name == "aries-cori1" else said.about(machine)
        )
    assert isinstance(laid_over([], said, gm.machine("aries"))[0], Laid)
