"""`jury votes`: a foreign table is read once; the reports then say of it what they say of the file itself."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jury_analysis import MESSAGES, SCHEMA
from support.command_line import CommandLine
from support.vote_rows import Row, long_rows, table_of, write_csv, write_jsonl

QUICK = ("--resamples", "20", "--json")
READING = ("--field", "seat=model", "--cluster", "topic", "--map", "good=fine,bad=wrong", "--order", "fine,wrong")
BESIDE = "field: {seat: model}\ncluster: topic\nmap: {good: fine, bad: wrong}\norder: [fine, wrong]\n"


def foreign_rows(cases: int = 40) -> list[Row]:
    """A row a vote, in columns and words of their own."""
    return [
        {
            "case_id": f"case-{number}",
            "topic": f"topic {number // 2}",
            "model": model,
            "verdict": "bad" if (number + place) % 5 == 0 else "good",
            "label": "bad" if number % 5 == 0 else "good",
        }
        for number in range(cases)
        for place, model in enumerate(("a", "b", "c"))
    ]


def annotated_rows() -> list[Row]:
    """A row a case with labels of three humans; one case has no votes."""
    rows: list[Row] = [
        {
            "case_id": f"case-{number}",
            "judges": {"a": "safe_pass", "b": "unsafe_fail" if number % 3 else "safe_pass"},
            "human": {name: "safe_pass" if (number + place) % 4 else "unsafe_fail" for place, name in enumerate("xyz")},
        }
        for number in range(60)
    ]
    return [*rows, {"case_id": "unjudged", "judges": {}, "human": {"x": "safe_pass"}}]


@pytest.fixture
def file(jury: CommandLine) -> Path:
    return write_csv(jury.folder / "foreign.csv", foreign_rows())


def stats(jury: CommandLine, *arguments: str) -> Any:
    outcome = jury("stats", *arguments, *QUICK)
    assert 0 == outcome.code, outcome.err
    return outcome.json


def test_the_table_has_the_documented_columns(jury: CommandLine, file: Path) -> None:
    outcome = jury("votes", str(file), *READING, "-o", "votes.parquet")

    table = pq.read_table(jury.folder / "votes.parquet")
    assert (0, "", "120 votes written to votes.parquet\n") == outcome
    assert table.schema.equals(SCHEMA)
    assert {"fine", "wrong"} == set(table["verdict"].to_pylist())
    assert {"topic 0"} == set(table["cluster"].to_pylist()[:3])


def test_options_and_the_file_beside_the_table_say_the_same(jury: CommandLine, file: Path) -> None:
    of_options = Path(table_of(jury, file, *READING)).read_bytes()
    jury.write("foreign.yaml", BESIDE)

    of_file = Path(table_of(jury, file)).read_bytes()

    assert of_options == of_file
    assert stats(jury, str(file)) == stats(jury, "--votes", str(file)) == stats(jury, "table.parquet")


def test_a_table_of_votes_is_read_again_as_it_is(jury: CommandLine, file: Path) -> None:
    swapped = ("--field", "seat=model", "--map", "good=unsafe_fail,bad=safe_pass,safe_pass=unsafe_fail")
    first = Path(table_of(jury, file, *swapped)).read_bytes()
    shutil.move(jury.folder / "table.parquet", jury.folder / "first.parquet")

    again = Path(table_of(jury, jury.folder / "first.parquet")).read_bytes()

    assert first == again


def test_messages_are_in_the_table_and_are_read_again(jury: CommandLine) -> None:
    rows = [
        {**row, "decisive_message": number % 3, "label_message": 1, "message_count": 4, "outcome_correct": True}
        for number, row in enumerate(annotated_rows())
    ]
    rows = [
        {**row, "judges": {"a": {"verdict": "unsafe_fail", "decisive_message": 1}, "b": "safe_pass"}} for row in rows
    ]
    file = write_jsonl(jury.folder / "rows.jsonl", rows)
    first = Path(table_of(jury, file, "--annotators", "human.*")).read_bytes()
    shutil.move(jury.folder / "table.parquet", jury.folder / "first.parquet")

    again = Path(table_of(jury, jury.folder / "first.parquet")).read_bytes()

    table = pq.read_table(jury.folder / "first.parquet")
    assert first == again
    assert pa.schema([*SCHEMA, *MESSAGES]).equals(table.schema)
    assert {1, None} == set(table["decisive_message"].to_pylist())
    (found,) = stats(jury, "first.parquet", "--parquet", "ballots.parquet")["panels"]
    (of_ballots,) = stats(jury, "ballots.parquet")["panels"]
    assert found["faults"] == of_ballots["faults"]
    assert (61, 1.0) == (found["faults"]["sound"], found["faults"]["seats"][0]["false_alarms"]["value"])


def test_faults_and_messages_are_two_sections(jury: CommandLine) -> None:
    rows = [
        {
            "case_id": f"case-{number}",
            "label": "unsafe_fail",
            "label_message": number,
            "message_count": 40,
            "outcome_correct": number % 2 == 0,
            "judges": {seat: {"verdict": "unsafe_fail", "decisive_message": number} for seat in "ab"},
        }
        for number in range(12)
    ]
    write_jsonl(jury.folder / "steps.jsonl", rows)

    out = " ".join(jury("stats", "steps.jsonl").out.split())

    assert (
        "12 debates with a fault: 6 with a correct outcome (silent), 6 with a wrong one, 12 with a message that the "
        "label names; 0 without a fault"
    ) in out
    assert "right where more than half name it 100.0% [75.8%, 100.0%] (1) 12" in out


def test_labels_of_annotators_are_in_the_table_those_of_cases_without_votes_too(jury: CommandLine) -> None:
    rows = write_jsonl(jury.folder / "annotated.jsonl", annotated_rows())
    votes = table_of(jury, rows, "--annotators", "human.*")

    found = stats(jury, votes)

    assert (3, 61, 1) == tuple(found["labels"][name] for name in ("annotators", "cases", "unmatched"))
    assert 3 == len(found["panels"][0]["annotators"]["tests"])
    assert "--annotators and --labels: both give labels" in jury("stats", votes, "--labels", str(rows)).err


def test_words_of_later_labels_mean_what_they_mean_in_the_table(jury: CommandLine, file: Path) -> None:
    labels = jury.write("later.csv", "case_id,label\ncase-0,bad\ncase-1,great\n")
    table = table_of(jury, file, *READING, "--map", "label:great=fine")

    assert 2 == stats(jury, table, "--labels", labels)["labels"]["cases"]


def test_labels_have_a_file_beside_them_too(jury: CommandLine, cases: str) -> None:
    jury.run(cases, "--run", "nightly")
    named = sorted({line["case_id"] for line in jury("list", "--json").json})
    labels = jury.write("later.csv", "case_id,label\n" + "".join(f"{case},ok\n" for case in named))
    refused = jury("stats", "nightly", "--include-simulated", "--labels", labels)

    jury.write("later.yaml", "map: {ok: safe_pass}\n")
    found = stats(jury, "nightly", "--include-simulated", "--labels", labels)

    assert (2, "") == (refused.code, refused.out)
    assert len(named) == found["labels"]["cases"]


def test_files_that_are_read_in_several_ways_are_counted_together(jury: CommandLine, file: Path) -> None:
    rows = foreign_rows()
    first = write_csv(jury.folder / "first.csv", rows[:60])
    second = jury.folder / "second.jsonl.gz"
    renamed = [{("juror" if name == "model" else name): value for name, value in row.items()} for row in rows[60:]]
    second.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in renamed).encode()))
    jury.write("first.yaml", BESIDE)
    jury.write("second.yaml", BESIDE.replace("field: {seat: model}\n", ""))
    jury.write("foreign.yaml", BESIDE)

    assert stats(jury, str(file)) == stats(jury, str(first), str(second))
    assert stats(jury, str(file)) == stats(jury, "first.csv", "--votes", "second.jsonl.gz")


def test_files_with_different_verdicts_are_not_counted_together(jury: CommandLine, file: Path) -> None:
    table_of(jury, file, *READING)
    write_jsonl(jury.folder / "ours.jsonl", long_rows())

    outcome = jury("stats", "table.parquet", "ours.jsonl")

    assert (2, "") == (outcome.code, outcome.out)
    assert "ours.jsonl: the verdicts are safe_pass, needs_review, unsafe_fail, those of table.parquet" in outcome.err


def test_options_win_over_the_file_beside_the_table(jury: CommandLine, file: Path) -> None:
    jury.write("foreign.yaml", BESIDE)

    table_of(jury, file, "--seats", "a,b", "--cluster", "case_id")

    table = pq.read_table(jury.folder / "table.parquet")
    assert {"a", "b"} == set(table["seat"].to_pylist())
    assert table["case_id"].to_pylist() == table["cluster"].to_pylist()


def test_another_file_is_not_replaced(jury: CommandLine, file: Path) -> None:
    outcome = jury("votes", str(file), *READING, "-o", str(file))

    assert (2, "") == (outcome.code, outcome.out)
    assert "contains other data and is not replaced" in outcome.err


def test_two_files_are_the_sides_of_a_gate(jury: CommandLine) -> None:
    rows = [{"case_id": f"c{n}", "seat": "x", "verdict": "unsafe_fail", "label": "unsafe_fail"} for n in range(300)]
    write_jsonl(jury.folder / "before.jsonl", rows)
    write_jsonl(jury.folder / "after.jsonl", [{**row, "verdict": "safe_pass"} for row in rows])

    worse = jury("gate", "before.jsonl", "after.jsonl", "--json")
    equal = jury("gate", "before.jsonl", "before.jsonl", "--json")
    judges = jury("gate", "before.jsonl", "--base", "x", "--candidate", "x", "--json")

    assert [1, 0, 0] == [one.code for one in (worse, equal, judges)]
    assert (["plurality", "plurality"], 1.0) == (worse.json["paired"]["verdicts"], worse.json["gate"]["candidate"])
    assert "not one of each" in jury("gate", "before.jsonl", "nightly").err


@pytest.mark.parametrize("command", ["stats", "gate", "calibrate", "value"])
def test_help_of_a_report_has_at_most_twenty_options(jury: CommandLine, command: str) -> None:
    out = jury(command, "--help").out

    assert 20 >= sum(line.startswith("  -") for line in out.splitlines())
