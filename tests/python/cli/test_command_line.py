"""Rules of every command: variables for every option, whole help, one line where output is refused."""

import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from gasmeter.cli import cli
from gasmeter.cli.common import EnvOption


def commands(command=cli, context=None):
    """Every command with its context, groups among them."""
    context = context or click.Context(cli, info_name="gasmeter", auto_envvar_prefix="GASMETER")
    yield context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            yield from commands(child, click.Context(child, info_name=name, parent=context))


def options():
    for context in commands():
        for parameter in context.command.params:
            if isinstance(parameter, click.Option) and parameter.opts != ["--version"]:
                typed = max(parameter.opts, key=len)
                words = [*context.command_path.split()[1:], typed.removeprefix("--")]
                variable = "_".join(["GASMETER", *words]).upper().replace("-", "_")
                yield pytest.param(context, parameter, variable, id=f"{context.command_path} {typed}")


OPTIONS = list(options())


@pytest.mark.parametrize(("context", "option", "variable"), OPTIONS)
def test_every_option_has_the_variable_that_the_help_promises(context, option, variable, monkeypatch):
    assert isinstance(option, EnvOption)
    monkeypatch.setenv(variable, "1=2")
    value, source = option.consume_value(context, {})
    assert source is click.core.ParameterSource.ENVIRONMENT
    assert value in ("1=2", ["1=2"], ("1=2",))
    assert f"env var: {variable}" in " ".join(option.get_help_record(context)[1].split())


def test_there_are_as_many_variables_as_options():
    assert len(OPTIONS) == len({case.values[2] for case in OPTIONS}) > 100
    names = {case.values[2] for case in OPTIONS}
    assert {"GASMETER_COMPARE_OUT", "GASMETER_COMPARE_PLANT", "GASMETER_RANK_JOB", "GASMETER_RANK_MEASURE"} <= names
    assert {"GASMETER_RANK_FORMAT", "GASMETER_EXPORT_GOOGLE_BENCHMARK_OUT", "GASMETER_FIT_LOGGP_OP"} <= names


@pytest.mark.parametrize("name", ["export", "fit"])
def test_a_command_that_needs_another_shows_its_help_whole(name):
    result = CliRunner().invoke(cli, [name])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == CliRunner().invoke(cli, [name, "--help"]).stdout
    assert len(result.stderr.splitlines()) > 5


WORDS = [("--version",), ("--help",), ("list", "conduits"), ("measure", "--help"), ("list", "claims", "--json")]


def gasmeter(words, stdout, unbuffered=""):
    return subprocess.run(
        [sys.executable, "-m", "gasmeter", *words], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_output_that_nobody_reads_any_more_is_the_status_of_sigpipe_and_no_error(words, unbuffered):
    reading, writing = os.pipe()
    os.close(reading)
    done = gasmeter(words, writing, unbuffered)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_a_full_disk_is_one_line_and_status_three(words, unbuffered):
    with open("/dev/full", "w") as full:
        done = gasmeter(words, full, unbuffered)
    assert done.returncode == 3
    assert done.stderr == "Error: standard output cannot be written: No space left on device\n"


def test_a_closed_output_is_one_line_and_status_three():
    command = f'"{sys.executable}" -m gasmeter list conduits >&-'
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == "Error: standard output is closed; allowed: a terminal, file, pipe or /dev/null\n"


def test_other_errors_of_the_system_are_not_taken_for_it(monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device", "elsewhere")

    monkeypatch.setattr("gasmeter.cli.listing.catalogue", fail)
    result = CliRunner().invoke(cli, ["list", "kernels"])
    assert result.exit_code == 70
    assert "OSError: [Errno 28] No space left on device: 'elsewhere'" in result.stderr


def test_no_memory_is_one_line_and_status_three(monkeypatch, capsys):
    def without_memory(*_, **__):
        raise MemoryError

    monkeypatch.setattr(click.Group, "main", without_memory)
    assert cli.main(["doctor"], standalone_mode=False) == 3
    assert capsys.readouterr().err.startswith("Error: out of memory")
