"""`jury stats`: the figures of recorded votes, wherever they are read from, and what it refuses."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator

from jury_analysis import SCHEMA
from jury_events import install_line
from jury_views import STATISTICS_TABLES
from support.command_line import CommandLine
from support.each_row import each_row
from support.reference_data import FOLDER, needs_reference_data
from support.vote_rows import (
    long_rows,
    table_of,
    write_jsonl,
)

QUICK = ("--resamples", "50")


def panel(report: Any) -> Any:
    """The statistics of the report's only panel."""
    (only,) = report["panels"]
    return only


@pytest.fixture
def votes(jury: CommandLine) -> str:
    return str(write_jsonl(jury.folder / "votes.jsonl", long_rows()))


def test_help_names_every_table(jury: CommandLine) -> None:
    said = " ".join(jury("stats", "--help").out.split())

    assert f"Tables follow by name: {', '.join(STATISTICS_TABLES)};" in said


@needs_reference_data
def test_debates_of_several_panels_are_not_pooled(jury: CommandLine) -> None:
    called = (table_of(jury, FOLDER / "b9_mad_mmlu_rounds.jsonl", "--categories", "A,B,C,D"), *QUICK)

    assert 7 == len(jury("stats", *called, "--by", "panel", "--json").json["panels"])
    assert "the debates are of 7 panels" in jury("stats", *called).err


def test_the_ballots_that_were_read_are_written_and_read_back(jury: CommandLine, votes: str) -> None:
    before = jury("stats", "--votes", votes, "--json", "--parquet", "ballots.parquet", *QUICK)

    assert (0, f"{len(long_rows())} ballots written to ballots.parquet\n") == (before.code, before.err)
    assert SCHEMA == pq.read_schema(jury.folder / "ballots.parquet")
    assert before.out == jury("stats", "--votes", "ballots.parquet", "--json", *QUICK).out


def test_the_text_begins_with_what_the_votes_come_to_and_has_a_section_for_every_question(jury: CommandLine) -> None:
    file = str(write_jsonl(jury.folder / "v.jsonl", long_rows(60, rounds=2)))

    def printed(*more: str) -> tuple[list[str], list[str]]:
        """The names of the first lines, and the headings."""
        out = jury("stats", "--votes", file, *more).out
        assert "60 debates, 60 cases, 30 clusters, 3 seats: claude, gemini-2.5, gpt" in out
        assert "bootstrap of 2,000 with seed 20260927" in out
        lines = out.splitlines()
        names = [line.split("  ")[0] for line in lines[: lines.index("")]]
        return names, [
            line for before, line in pairwise(lines) if not before and not line.startswith((" ", "60", "tables"))
        ]

    begins = ["right", "seats", "discussion", "false passes"]
    every = ["Agreement (first evaluations)", "Against labels", "Confidence", "Discussion"]
    every += ["Discussion: round 0 → round 1", "Shares"]
    assert (begins, []) == printed()
    assert (begins, every) == printed("--full")
    assert (begins, [every[0], every[-1]]) == printed("shares", "agreement")
    assert "--json has every table" in jury("stats", file, "shares", "--json").err


def test_votes_are_read_from_standard_input(jury: CommandLine, votes: str) -> None:
    piped = jury("stats", "--votes", "-", "--json", *QUICK, stdin=Path(votes).read_bytes())

    assert jury("stats", "--votes", votes, "--json", *QUICK) == piped


@each_row(
    "called",
    [
        ("stats", "--votes", "{votes}", *QUICK),
        ("gate", "--votes", "{votes}", "--base", "gpt", "--candidate", "claude", *QUICK),
        ("gate", "--plan", "100"),
        ("value", "--votes", "{votes}"),
    ],
)
def test_a_report_is_as_the_schema_of_its_command_says(jury: CommandLine, votes: str, called: tuple[str, ...]) -> None:
    report = jury(*(word.format(votes=votes) for word in called), "--json").json

    schema = jury(called[0], "--schema").json

    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(report)


def test_groups_have_a_report_each(jury: CommandLine) -> None:
    rows = [{**row, "variant": "swapped" if int(row["case_id"][-1]) % 2 else None} for row in long_rows()]
    file = str(write_jsonl(jury.folder / "v.jsonl", rows))

    found = jury("stats", "--votes", file, "--by", "variant", "--json", *QUICK).json

    assert [("swapped", 20), (None, 20)] == [(one["variant"], panel(one)["debates"]) for one in found["groups"]]
    assert "\nno variant\n" in jury("stats", "--votes", file, "--by", "variant", *QUICK).out


def test_what_files_contain_does_not_reach_the_terminal_as_it_is(jury: CommandLine) -> None:
    rows = [
        {**row, "seat": f"\x1b[31m{row['seat']}\n\u202e[bold]{'x' * 5000}", "case_id": f"\x1b[2J{row['case_id']}"}
        for row in long_rows(40, rounds=2)
    ]

    plain = jury("stats", "--votes", str(write_jsonl(jury.folder / "v.jsonl", rows)), *QUICK)

    assert (0, "") == (plain.code, plain.err)
    assert set() == {"\x1b", "\u202e"} & set(plain.out)
    assert max(map(len, plain.out.splitlines())) < 500


def test_without_its_packages_it_names_the_extra(
    jury: CommandLine, votes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_judge.extras.find_spec", lambda name: None if name == "scipy" else object())

    outcome = jury("stats", "--votes", votes)

    assert (2, "", f"jury: jury stats needs scipy: {install_line('stats')}\n") == outcome
