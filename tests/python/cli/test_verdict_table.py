"""Verdicts in a terminal: ids that other commands take are whole, columns without anything are not there."""

import dataclasses
import math

from gasmeter.cli.verdict_table import verdict_table
from invented import made


def renamed(entry):
    claim = dataclasses.replace(entry.claim, id=f"of-a-paper-with-a-long-name-{entry.claim.id}")
    return dataclasses.replace(entry, claim=claim)


def test_an_id_is_never_broken(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    judged = [renamed(entry) for entry in made().judged]
    begins = {line.split()[0] for line in verdict_table(judged, "Title").splitlines() if line.strip()}
    assert begins >= {entry.claim.id for entry in judged}


def test_what_only_draws_tell_has_no_column_without_them():
    judged = made().judged
    heads = ("claim", "published", "reproduced", "P (prior)", "verdict", "deciding")
    assert all(head in verdict_table(judged, "Title").splitlines()[2] for head in heads)
    undrawn = {"p_prior": math.nan, "p_conditioned": math.nan, "deciding": ()}
    judged = [
        dataclasses.replace(entry, readings=(dataclasses.replace(entry.judgement, **undrawn),)) for entry in judged
    ]
    assert verdict_table(judged, "Title").splitlines()[2].split() == ["claim", "published", "reproduced", "verdict"]
