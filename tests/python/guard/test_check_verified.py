"""`gasmeter check` and data that are no longer checked."""

import json

from test_check import MEASURED, MODELLED, check, edit_journal, measure

import gasmeter as gm


def state(verified, op="put"):
    def change(entry):
        for row in entry["rows"]:
            if row["op"] == op:
                row["verified"] = verified

    return change


def test_a_row_that_was_verified_and_is_not_checked_any_more_fails(machine, tmp_path):
    for name, series in (("modelled", MODELLED), ("measured", MEASURED)):
        first, second = (measure(tmp_path / name / place, (series,)) for place in "ab")
        assert check(first, second)[0] == 0
        edit_journal(second, state("not_checked"))
        status, text, _ = check(first, second)
        assert status == 1
        assert "FAILED: " in text
        assert " unchecked" in text
        assert "UNCHECKED" in text
        assert "the baseline's data verified, these were not checked" in text
        document = json.loads(check(first, second, "--format", "json")[1])
        failed = [result for result in document["findings"] if result["failed"]]
        assert {finding["verdict"] for finding in failed} == {"unchecked"}
        assert {finding["op"] for finding in failed} == {"put"}


def test_what_was_never_checked_is_compared_and_counted(machine, tmp_path):
    first, second = (measure(tmp_path / place, (MODELLED,)) for place in "ab")
    edit_journal(first, state("not_checked"))
    status, text, _ = check(first, second)
    assert status == 0
    assert "data not checked: 2 of 2 figures of the baseline, 0 of the new store" in text
    edit_journal(second, state("not_checked"))
    assert check(first, second)[0] == 0
    assert gm.check(second, baseline=first).summary() == "passed: 2 same"
