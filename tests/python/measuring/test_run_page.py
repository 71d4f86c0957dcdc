"""What the page of a run says in words."""

import re

import gasmeter as gm


def lead(page):
    return re.search(r'<p class="lead">(.*?)</p>', page, re.DOTALL)[1]


def test_a_page_of_what_ifs_begins_with_what_moves_most(tmp_path):
    wider = gm.machine("extoll").with_(link_bandwidth="2 GB/s")
    put = gm.Series(kernel="ping-pong", conduit="extoll", op="put", sizes="8,64K", machine=["extoll", wider])
    other = gm.Series(kernel="fetch-add", conduit="ideal", op="hot-spot", ranks=4, iterations=20)
    gm.Experiment(name="links", series=[put, other]).run(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    said = "The largest effect is that of link.bandwidth = 2 GB/s: latency of ping-pong put (extoll, 64 KiB) is "
    assert said in lead(page)
    assert re.search(r" in place of [\d.]+ µs, a ratio of 0\.\d+ \(better\)\.$", lead(page))
    assert 'data-label=""' not in page
    assert re.search(r"<p[^>]*>\s*·", page) is None  # a separator stands between two
    assert "rows good" not in lead(page)


def test_a_page_says_first_that_rows_are_not_good(machine, tmp_path):
    machine.others = 1.0
    gm.Experiment(name="busy", kernel="ping-pong", conduit="smp", op="put", sizes="8").run(tmp_path)
    assert re.search(r"\d+ of \d+ rows good, \d+ load\.", lead((tmp_path / "report.html").read_text(encoding="utf-8")))
