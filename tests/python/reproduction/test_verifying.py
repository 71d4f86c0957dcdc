"""`gasmeter reproduce PAPER --verify` and `--from FOLDER --publish DIR` on a published paper."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from gasmeter.cli import cli
from gasmeter.papers.registry import paper
from gasmeter.reproduction.run import verifying

PUBLISHED = Path(__file__).parents[3] / "results" / "portals"


def run(*arguments):
    return CliRunner().invoke(cli, [*map(str, arguments)])


def test_chosen_points_come_to_the_published_values(tmp_path):
    result = run(
        "reproduce", "portals", "--verify", "--points", "1", "--published", PUBLISHED, "--out", tmp_path / "again"
    )
    assert result.exit_code == 0, result.output
    assert "none differ" in result.output


def test_a_value_that_differs_is_named():
    points = verifying.chosen(verifying.published(PUBLISHED, paper("portals")).points(), 1, seed=1)
    rows = [dict(row) for row in points[0][0]]
    assert verifying.compared_points(points, rows).same
    rows[0]["value"] *= 1 + 1e-12
    compared = verifying.compared_points(points, rows)
    assert not compared.same
    assert len(compared.differing) == 1


@pytest.mark.slow
def test_what_is_published_gives_the_same_verdicts(tmp_path):
    small = tmp_path / "small"
    assert run("reproduce", "--from", PUBLISHED, "--publish", small).exit_code == 0
    assert (small / "claims.csv").read_bytes() == (PUBLISHED / "claims.csv").read_bytes()
    assert run("reproduce", "--from", small).exit_code == 0
    shutil.copy(small / "claims.csv", tmp_path / "kept.csv")
    (small / "claims.csv").write_text((tmp_path / "kept.csv").read_text().replace(",within,", ",outside,", 1))
    assert run("reproduce", "--from", small, "--publish", tmp_path / "other").exit_code == 1
    assert not (tmp_path / "other").exists()
