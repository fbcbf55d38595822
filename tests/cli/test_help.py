"""Help names what works, and is quick: it imports neither Ray nor the database."""

import re
import shutil
import subprocess
import sys

import click
import pytest

from jury_cli import COMMANDS, CommandContext
from jury_cli.main import jury as jury_commands
from jury_debate import PRESETS

_PROBE = """
import sys
from contextlib import suppress
from jury_cli.main import COMMANDS, main

HEAVY = {"ray", "sqlalchemy", "alembic", "psycopg", "rich", "jury_actors", "jury_store", "prometheus_client"}
HEAVY |= {"opentelemetry"}
STATISTICS = {"numpy", "scipy", "sklearn"}
NEEDLESS = {"ray", "alembic", "mako", "psycopg", "rich", "openai", "anthropic", "google.genai", "pyarrow"} | STATISTICS

def imported(words, modules):
    sys.argv = ["jury", *words]
    with suppress(SystemExit):
        main()
    print("after:", *words, *sorted(modules & set(sys.modules)), file=sys.stderr)

for command in ([], *([name] for name in COMMANDS)):
    imported([*command, "--help"], HEAVY)
for words in (["list"], ["list", "--runs"], ["run", "cases.jsonl", "--run", "r1", "--display", "none"]):
    imported(words, NEEDLESS)
for words in (["show", "r1~leak"], ["verify", "--all"], ["replay", "--all"], ["export", "--all", "-o", "corpus"]):
    imported(words, STATISTICS)
"""


def test_help_names_every_command_and_each_has_help(jury):
    outcome = jury("--help")

    first, groups = outcome.out.partition("Commands:")[2].split("\n\n")
    named = [line.split()[0] for line in first.strip().splitlines()]
    for line in groups.splitlines()[1:]:
        named += line.split(maxsplit=1)[1].split(", ")
    assert sorted(named) == sorted(COMMANDS)
    assert len(outcome.out.splitlines()) <= 24
    assert all(jury(name, "--help").code == 0 for name in COMMANDS)


def test_without_a_command_help_is_shown_and_it_is_a_usage_error(jury):
    outcome = jury()

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("Usage: jury")


def test_the_version_is_printed(jury):
    outcome = jury("--version")

    assert (outcome.code, outcome.out.startswith("jury, version ")) == (0, True)


def test_help_imports_nothing_heavy_and_reading_a_store_no_migrations_drivers_sdks_or_statistics(judged, tmp_path):
    """All in one process: after each command, the modules that are imported by then and are not for it."""
    ended = subprocess.run(
        [sys.executable, "-c", _PROBE],
        cwd=shutil.copytree(judged.folder, tmp_path / "place"),
        capture_output=True,
        text=True,
        check=False,
    )

    said = [line.removeprefix("after: ") for line in ended.stderr.splitlines() if line.startswith("after: ")]
    assert [
        *("--help", *(f"{name} --help" for name in COMMANDS)),
        "list",
        "list --runs",
        "run cases.jsonl --run r1 --display none",
        "show r1~leak",
        "verify --all",
        "replay --all",
        "export --all -o corpus",
    ] == said
    assert len(COMMANDS) + 1 == ended.stdout.count("Usage: jury")
    assert "r1~leak" in ended.stdout


def test_the_help_of_run_has_every_option_once_in_groups(jury):
    out = jury("run", "--help-all").out

    headings = [line for line in out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    options = re.findall(r"^  (?:-h, )?(--[\w-]+)", out, re.MULTILINE)
    command = jury_commands.get_command(click.Context(jury_commands), "run")
    assert command is not None
    known = {one.opts[-1] for one in command.params if isinstance(one, click.Option) and not one.hidden} | {"--help"}
    assert headings[0] == "The run:"
    assert headings[-1] == "Other options:"
    assert sorted(known) == sorted(options)
    assert f"--preset [{'|'.join(PRESETS)}]" in out


def test_options_that_few_need_are_shown_by_help_all_alone_and_work(jury, cases):
    short, whole = jury("run", "--help").out, jury("run", "--help-all").out
    outcome = jury.run(cases, "--seed", "3", "--sample", "1", "--jsonl")

    rare = {"--seed", "--metrics-port", "--seal-key", "--replicas"}
    assert not rare & set(re.findall(r"--[\w-]+", short))
    assert rare <= set(re.findall(r"--[\w-]+", whole))
    left_out = re.findall(r"^  (--[\w-]+)", whole, re.MULTILINE), re.findall(r"^  (--[\w-]+)", short, re.MULTILINE)
    assert f"{len(left_out[0]) - len(left_out[1])} more options are not shown here" in short
    assert (0, 1) == (outcome.code, len(outcome.lines))


@pytest.mark.parametrize("width", ["80", "140"])
def test_help_breaks_no_name_at_a_hyphen_and_says_bounds_in_words(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    for name in COMMANDS:
        jury_commands.main([name, "--help"], standalone_mode=False, prog_name="jury")
    lines = capsys.readouterr().out.splitlines()

    assert not [line for line in lines if re.search(r"[a-z]-$", line)]
    assert not [line for line in lines if re.search(r"x[<>]=|<=?x|RANGE", line)]
    assert "\N{NON-BREAKING HYPHEN}" not in "".join(lines)
    assert {line for line in lines if len(line) > 80} <= {line for line in lines if "[OPTIONS]" in line}


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (click.IntRange(0, 100), "[0 to 100]"),
        (click.IntRange(1, 100_000), "[1 to 100,000]"),
        (click.IntRange(min=0), "[0 or more]"),
        (click.IntRange(1, 2**63 - 1), "[1 or more]"),
        (click.IntRange(max=9), "[at most 9]"),
        (click.FloatRange(0, 1e9), "[0 to 1,000,000,000]"),
        (click.FloatRange(0, 1, min_open=True, max_open=True), "[more than 0 to less than 1]"),
        (click.FloatRange(0.5, None, min_open=True), "[more than 0.5]"),
    ],
)
def test_the_bounds_of_a_number_are_in_words(kind, says, capsys):
    command = click.Command("c", params=[click.Option(["--number"], type=kind, help="Of x<=3 things.")])
    command.context_class = CommandContext

    command.main(["--help"], standalone_mode=False)

    assert f"--number {'INTEGER' if isinstance(kind, click.IntRange) else 'NUMBER'}  Of x<=3 things.  {says}" in (
        capsys.readouterr().out
    )
