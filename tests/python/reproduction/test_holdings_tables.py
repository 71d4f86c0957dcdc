"""Table of a conduit's memory: rows come from objects alone, and published values stand beside them."""

import pytest

from gasmeter.errors import UsageError
from gasmeter.papers.portals import PORTALS
from gasmeter.reproduction.report.holdings_tables import held, holdings_table, settled
from gasmeter.reproduction.report.published_tables import PublishedTable, published_table

PUBLISHED = PublishedTable(("portal", "offset"), {"A": ("AM", "LOCAL"), "B": ("none", "none"), "C": ("AM", "LOCAL")})
ASKED = {"conduit": "portals", "machine": "portals", "op": "put", "sizes": 65536}


def thing(name, portal, offset, kind="MD"):
    return {"kind": kind, "name": name, "portal": portal, "offset": offset}


def test_equal_objects_are_one_row_and_others_of_their_name_another():
    objects = [thing("A", "39", "LOCAL"), thing("A", "39", "LOCAL"), thing("A", "39", "REMOTE")]
    table = holdings_table("T", "MD", [*objects, thing("Q", "1", "x", kind="EQ")])
    assert table.heads == ("MD", "live", "portal", "offset")
    assert table.rows == [("A", "2", "39", "LOCAL"), ("A", "1", "39", "REMOTE")]


def test_what_is_published_stands_beside_and_what_differs_or_is_missing_is_said():
    objects = [thing("A", "39", "REMOTE"), thing("B", "none", "none"), thing("Z", "39", "LOCAL")]
    table = holdings_table("T", "MD", objects, PUBLISHED)
    assert table.heads[-3:] == ("portal, published", "offset, published", "as published")
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["A"] == ("1", "39", "REMOTE", "AM", "LOCAL", "no")
    assert rows["B"] == ("1", "none", "none", "none", "none", "yes")
    assert rows["Z"] == ("1", "39", "LOCAL", "", "", "not named")
    assert rows["C"] == ("0", "", "", "AM", "LOCAL", "not there")


def test_a_portal_that_the_paper_has_is_not_none_here():
    table = holdings_table("T", "MD", [thing("A", "none", "LOCAL")], PUBLISHED)
    assert table.rows[0][-1] == "no"
    assert holdings_table("T", "MD", [thing("B", "39", "none")], PUBLISHED).rows[0][-1] == "no"


def test_without_published_values_there_is_no_table():
    assert published_table("portals", "no such table") == PublishedTable()


def at(registration):
    return held(
        "flood", operations=8, options={"local": "outside", "window": "1", "registration": registration}, **ASKED
    )


def test_table_1_comes_from_the_objects_of_a_job():
    objects = at("tmpmd")
    table = holdings_table("T", "MD", objects, published_table("portals", "table-1"))
    rows = {row[0]: dict(zip(table.heads, row, strict=True)) for row in table.rows}
    named = {name: row for name, row in rows.items() if row["as published"] != "not named"}
    assert len(named) == 9
    assert {row["as published"] for row in named.values()} == {"yes"}
    assert rows["TMPMD"]["bytes"] == "65536"
    assert rows["ReqRB"]["live"] == "2"
    assert [each["name"] for each in objects if each["kind"] == "EQ"] == ["SAFE_EQ", "AM_EQ", "SYS_EQ"]


def test_rows_follow_the_objects():
    three = held("flood", operations=8, options={"local": "outside", "window": "1", "registration": "tmpmd",
                                                 "request_buffers": "3"}, **ASKED)  # fmt: skip
    assert sum(each["name"] == "ReqRB" for each in three) == 3
    by_regions = at("firehose")
    assert not [each for each in by_regions if each["name"] == "TMPMD"]
    assert [each["bytes"] for each in by_regions if each["name"] == "region of Firehose"] == ["65536"]


def test_the_figure_prints_it():
    figure = next(entry for entry in PORTALS.figures if entry.number == "table-1")
    first, queues, regions = figure.extras(None, figure)
    assert sum(row[-1] == "yes" for row in first.rows) == 9
    assert [row[0] for row in queues.rows] == ["SAFE_EQ", "AM_EQ", "SYS_EQ"]
    assert "TMPMD" not in {row[0] for row in regions.rows}


def test_an_instant_that_the_block_does_not_reach_is_refused():
    with pytest.raises(UsageError, match="is not to be seen in it"):
        held("flood", operations=8, share=100.0, options={"local": "outside"}, **ASKED)


def test_a_conduit_that_does_not_tell_is_named():
    with pytest.raises(UsageError, match="conduit gm does not tell what rank 0 holds"):
        held("flood", operations=8, options={}, **{**ASKED, "conduit": "gm", "machine": "gm"})


@pytest.mark.parametrize(("order", "misses", "evictions"), [("cyclic", 4608, 3584), ("sweep", 1536, 512)])
def test_beyond_1024_buffers_going_round_misses_always_and_up_and_down_at_the_far_end(order, misses, evictions):
    # Four times each of 1152. The least recently used of 1024 regions goes: going round that is the next one. Down and
    # up again 1024 are there, and 128 are not.
    options = {"local": "outside", "registration": "firehose", "sources": "1152", "order": order}
    objects, counted = settled(
        "put", operations=4 * 1152, options=options, **{"conduit": "portals", "machine": "portals", "sizes": 2048}
    )
    assert sum(each["name"] == "region of Firehose" for each in objects) == 1024
    assert (counted["region_misses"], counted["region_evictions"]) == (misses, evictions)
    assert counted["region_hits"] == 4608 - misses
