"""`jury stats`: the figures of recorded votes, wherever they are read from, and what it refuses."""

import json
import os
import random
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from jury_analysis import SCHEMA
from jury_events import install_line
from support.command_line import CommandLine, environment
from support.reference_data import FOLDER, needs_reference_data
from support.vote_rows import (
    SEATS,
    Row,
    flat_rows,
    long_rows,
    table_of,
    wide_rows,
    write_csv,
    write_json,
    write_jsonl,
    write_parquet,
)

QUICK = ("--resamples", "50")

_PROBE = """
import sys
sys.argv = ["jury", *sys.argv[1:]]
from jury_cli.main import main
try:
    main()
finally:
    print(*sorted({"numpy", "scipy", "sklearn", "pyarrow"} & set(sys.modules)), file=sys.stderr)
"""


def panel(report: Any) -> Any:
    """The statistics of the report's only panel."""
    (only,) = report["panels"]
    return only


@pytest.fixture
def votes(jury: CommandLine) -> str:
    return str(write_jsonl(jury.folder / "votes.jsonl", long_rows()))


@needs_reference_data
def test_debates_of_several_panels_are_not_pooled(jury: CommandLine) -> None:
    called = (table_of(jury, FOLDER / "b9_mad_mmlu_rounds.jsonl", "--categories", "A,B,C,D"), *QUICK)

    assert 7 == len(jury("stats", *called, "--by", "panel", "--json").json["panels"])
    assert "the debates are of 7 panels" in jury("stats", *called).err


def test_the_same_votes_give_the_same_bytes_in_any_form_and_order(jury: CommandLine) -> None:
    rows = long_rows(60, rounds=2)
    shuffled = random.Random(1).sample(rows, len(rows))
    files = {
        "long.jsonl": write_jsonl(jury.folder / "long.jsonl", rows),
        "shuffled.jsonl": write_jsonl(jury.folder / "shuffled.jsonl", shuffled),
        "wide.jsonl": write_jsonl(jury.folder / "wide.jsonl", wide_rows(shuffled)),
        "wide.parquet": write_parquet(jury.folder / "wide.parquet", wide_rows(rows)),
        "flat.csv": write_csv(jury.folder / "flat.csv", flat_rows(rows)),
        "long.csv": write_csv(jury.folder / "long.csv", shuffled),
        "long.json": write_json(jury.folder / "long.json", rows),
        "long.parquet": write_parquet(jury.folder / "long.parquet", rows),
    }

    reports = {name: jury("stats", "--votes", str(path), "--json", *QUICK).out for name, path in files.items()}

    assert reports["long.jsonl"].startswith("{")
    assert [] == [name for name, report in reports.items() if report != reports["long.jsonl"]]


def test_the_ballots_that_were_read_are_written_and_read_back(jury: CommandLine, votes: str) -> None:
    before = jury("stats", "--votes", votes, "--json", "--parquet", "ballots.parquet", *QUICK)

    assert (0, f"{len(long_rows())} ballots written to ballots.parquet\n") == (before.code, before.err)
    assert SCHEMA == pq.read_schema(jury.folder / "ballots.parquet")
    assert before.out == jury("stats", "--votes", "ballots.parquet", "--json", *QUICK).out


def test_a_parquet_file_replaces_no_other_file(jury: CommandLine, votes: str) -> None:
    mine = str(write_parquet(jury.folder / "mine.parquet", long_rows()))
    before = Path(mine).read_bytes()

    refused = [jury("stats", "--votes", file, "--parquet", file, *QUICK) for file in (votes, mine)]

    assert [(2, "", 1)] * 2 == [(one.code, one.out, one.err.count("\n")) for one in refused]
    assert "contains other data and is not replaced" in refused[0].err
    assert "is a Parquet file that this command did not write" in refused[1].err
    assert before == Path(mine).read_bytes()


@pytest.mark.parametrize("command", ["stats", "value"])
def test_a_parquet_path_is_refused_before_any_vote_is_read(jury: CommandLine, command: str) -> None:
    (jury.folder / "folder").mkdir()
    mine = str(write_parquet(jury.folder / "mine.parquet", long_rows()))
    broken = jury.write("broken.jsonl", "no vote")

    refused = [jury(command, "--votes", broken, "--parquet", path) for path in (mine, "folder", "none/x.parquet")]

    assert [(2, "", 1), (2, "", 1), (4, "", 1)] == [(one.code, one.out, one.err.count("\n")) for one in refused]
    assert "is a Parquet file that this command did not write" in refused[0].err
    assert "exists and is not a file" in refused[1].err
    assert "the folder of this file does not exist" in refused[2].err


def test_a_run_has_the_statistics_of_its_exported_ballots(jury: CommandLine, judged: CommandLine) -> None:
    store = ("--store", f"sqlite:///{judged.folder / 'jury.db'}")
    called = ("--include-simulated", "--json", *QUICK)

    run = jury("stats", "--run", "r1", *store, *called, "--parquet", "ballots.parquet")

    assert 0 == run.code
    assert 3 == panel(run.json)["debates"]
    assert run.out == jury("stats", "--all", *store, *called).out
    assert run.out == jury("stats", "--votes", "ballots.parquet", *called).out


def test_simulated_debates_alone_are_refused_and_are_named_on_the_first_line(judged: CommandLine) -> None:
    refused = judged("stats", "--all")
    included = judged("stats", "--all", "--include-simulated")

    assert (2, "") == (refused.code, refused.out)
    assert refused.err.startswith("jury: all 3 debates are simulated")
    assert included.out.startswith("3 of 3 debates are simulated")


def test_the_text_has_a_section_for_every_question(jury: CommandLine) -> None:
    file = write_jsonl(jury.folder / "v.jsonl", long_rows(60, rounds=2))

    out = jury("stats", "--votes", str(file)).out

    lines = out.splitlines()
    headings = [line for before, line in pairwise(lines) if not before and not line.startswith(" ")]
    assert ["Agreement (first evaluations)", "Against labels", "Confidence", "Discussion", "Shares"] == headings
    assert "bootstrap of 2,000 with seed 20260927" in out
    assert "60 debates, 60 cases, 30 clusters, 3 seats: claude, gemini-2.5, gpt" in out


def test_chosen_seats_alone_are_counted(jury: CommandLine, votes: str) -> None:
    both = panel(jury("stats", "--votes", votes, "--seats", "gpt,claude", "--json", *QUICK).json)

    assert ["claude", "gpt"] == both["seats"]


def test_identical_seats_agree_and_are_one_vote(jury: CommandLine) -> None:
    rows = [{**row, "seat": seat} for row in long_rows(60) if row["seat"] == "gpt" for seat in SEATS]

    found = panel(jury("stats", "--votes", str(write_jsonl(jury.folder / "v.jsonl", rows)), "--json", *QUICK).json)

    assert (1.0, 1.0) == (found["agreement"]["alpha_nominal"]["value"], found["effective_votes"]["effective"]["value"])


def test_a_case_twice_in_its_cluster_says_nothing_more(jury: CommandLine) -> None:
    rows = long_rows(60)
    twice = rows + [{**row, "case_id": f"{row['case_id']} again"} for row in rows]

    once, doubled = (
        panel(jury("stats", "--votes", str(write_jsonl(jury.folder / name, some)), "--json").json)["agreement"]["ac1"]
        for name, some in (("one.jsonl", rows), ("two.jsonl", twice))
    )

    for bound in ("low", "high"):
        assert once["interval"][bound] == pytest.approx(doubled["interval"][bound], abs=1e-9)


def test_labels_that_came_later_win_and_differences_are_named(jury: CommandLine, votes: str) -> None:
    labels = [
        *({"case_id": f"case-{number:03}", "label": "unsafe_fail", "annotator": "x"} for number in range(4)),
        {"case_id": "case-000", "label": "safe_pass", "annotator": "y"},
        {"case_id": "no-such", "label": "safe_pass", "annotator": "x"},
    ]
    labelled = {row["case_id"]: row["label"] for row in long_rows()}
    differing = [case for case in ("case-001", "case-002", "case-003") if labelled[case] not in {None, "unsafe_fail"}]

    outcome = jury("stats", "--votes", votes, "--labels", jury.write("labels.jsonl", *labels), "--json", *QUICK)

    assert 0 == outcome.code
    assert f"differ from those of {len(differing)} case" in outcome.err
    assert ", ".join(differing) in outcome.err
    assert "the annotators of 1 case tie: these have no label\n" in outcome.err
    assert "labels of 1 case without votes: no-such\n" in outcome.err
    assert differing == outcome.json["labels"]["differing"]


def test_labels_of_other_cases_alone_are_refused(jury: CommandLine, votes: str) -> None:
    labels = jury.write("labels.jsonl", {"case_id": "no-such", "label": "safe_pass"})

    outcome = jury("stats", "--votes", votes, "--labels", labels)

    assert (2, "") == (outcome.code, outcome.out)
    assert outcome.err == (
        "jury: no label is of a case with votes: the labels are of no-such, the votes of case-000, case-001, case-002, "
        "case-003, case-004 and 35 more; give both the same case ids\n"
    )


def test_votes_are_read_from_standard_input(jury: CommandLine, votes: str) -> None:
    piped = jury("stats", "--votes", "-", "--json", *QUICK, stdin=Path(votes).read_bytes())

    assert jury("stats", "--votes", votes, "--json", *QUICK) == piped


@pytest.mark.full
def test_both_databases_give_the_same_bytes(jury: CommandLine, cases: str, postgres_url: str) -> None:
    reports = []
    for store in ("sqlite:///jury.db", postgres_url):
        assert 0 == jury.run(cases, "--run", "r1", "--store", store).code
        called = ("--run", "r1", "--store", store, "--include-simulated", "--json", *QUICK)
        reports.append(jury("stats", *called).out)

    assert reports[0].startswith("{")
    assert reports[0] == reports[1]


def test_groups_have_a_report_each(jury: CommandLine) -> None:
    rows = [{**row, "variant": "swapped" if int(row["case_id"][-1]) % 2 else None} for row in long_rows()]
    file = str(write_jsonl(jury.folder / "v.jsonl", rows))

    found = jury("stats", "--votes", file, "--by", "variant", "--json", *QUICK).json

    assert [("swapped", 20), (None, 20)] == [(one["variant"], panel(one)["debates"]) for one in found["groups"]]
    assert "\nno variant\n" in jury("stats", "--votes", file, "--by", "variant", *QUICK).out


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"case_id": n, "seat": "a", "verdict": "safe"} for n in range(3)], "no case has votes of two seats"),
        ([{"case_id": n, "seat": s, "verdict": "safe"} for n in range(3) for s in "ab"], "only one verdict occurs"),
        ([{"case_id": n, "seat": "ab"[n], "verdict": "safe"} for n in range(2)], "no case has votes of two seats"),
    ],
    ids=["one seat", "one class", "no pair"],
)
def test_figures_that_cannot_be_had_have_a_reason(jury: CommandLine, rows: list[Row], reason: str) -> None:
    outcome = jury("stats", "--votes", str(write_jsonl(jury.folder / "v.jsonl", rows)), "--json", *QUICK)

    alpha = panel(outcome.json)["agreement"]["alpha_nominal"]
    assert (0, "", None) == (outcome.code, outcome.err, alpha["value"])
    assert alpha["reason"].startswith(reason)


def _truncated(folder: Path) -> str:
    path = write_parquet(folder / "v.parquet", long_rows())
    path.write_bytes(path.read_bytes()[:-40])
    return str(path)


def _infinite(folder: Path) -> str:
    rows = long_rows()
    return str(write_parquet(folder / "v.parquet", [{**rows[0], "score": float("inf")}, *rows[1:]]))


def _file(content: str) -> Any:
    def write(folder: Path) -> str:
        (folder / "v.jsonl").write_text(content, encoding="utf-8")
        return "v.jsonl"

    return write


def _fifo(folder: Path) -> str:
    os.mkfifo(folder / "v.fifo")
    return "v.fifo"


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (_truncated, "v.parquet: the Parquet file is cut off or damaged: "),
        (_infinite, "v.parquet: row 1: score: must be a number from "),
        (_file('{"id": 1, "seat": "a", "verdict": "ok"}'), "v.jsonl:1: verdict: 'ok' is none of safe_pass, "),
        (_file('{"id": 1, "seat": "a", "verdict": {}}'), "v.jsonl:1: verdict: must be a word, not an object; "),
        (_file('{"id": 1, "seat": "a", "verdict": "safe"}\n' * 2), "v.jsonl:2: a second vote of 'a' in round 0 "),
        (_file('{"id": 1, "seat": "a", "verdict": "safe", "round": 1}'), "have no juror's vote of round 0"),
        (_file("[1]"), "v.jsonl:1: a row must be a JSON object, not a number"),
        (_file(""), "v.jsonl: the file is empty"),
        (_file('{"id": 1, "seat": "a", "verdict": "safe", "score": NaN}'), "v.jsonl:1: NaN is not JSON"),
        (_file('{"id": 1, "seat": "a", "verdict": "\\u001b[2Jbad"}'), "v.jsonl:1: verdict: '␛[2Jbad' is none of"),
        (lambda _folder: "none.jsonl", "none.jsonl: there is no such file"),
        (lambda _folder: ".", ".: this is a directory without a case file"),
        (lambda _folder: "/dev/null", "/dev/null: a pipe or device, and no file"),
        (_fifo, "v.fifo: a pipe or device, and no file"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(jury: CommandLine, write: Any, message: str) -> None:
    outcome = jury("stats", "--votes", write(jury.folder))

    assert (2, "", 1) == (outcome.code, outcome.out, outcome.err.count("\n"))
    assert message in outcome.err


def test_what_files_contain_does_not_reach_the_terminal_as_it_is(jury: CommandLine) -> None:
    rows = [
        {**row, "seat": f"\x1b[31m{row['seat']}\n\u202e[bold]{'x' * 5000}", "case_id": f"\x1b[2J{row['case_id']}"}
        for row in long_rows(40, rounds=2)
    ]

    plain = jury("stats", "--votes", str(write_jsonl(jury.folder / "v.jsonl", rows)), *QUICK)

    assert (0, "") == (plain.code, plain.err)
    assert set() == {"\x1b", "\u202e"} & set(plain.out)
    assert max(map(len, plain.out.splitlines())) < 500


def test_a_byte_order_mark_and_texts_of_megabytes_are_read(jury: CommandLine, votes: str) -> None:
    rows = long_rows()
    marked = write_jsonl(jury.folder / "bom.jsonl", [{**rows[0], "text": "x" * 10_000_000}, *rows[1:]])
    marked.write_bytes(b"\xef\xbb\xbf" + marked.read_bytes())

    assert jury("stats", "--votes", votes, *QUICK) == jury("stats", "--votes", str(marked), *QUICK)


def test_without_its_packages_it_names_the_extra(
    jury: CommandLine, votes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_judge.extras.find_spec", lambda name: None if name == "scipy" else object())

    outcome = jury("stats", "--votes", votes)

    assert (2, "", f"jury: jury stats needs scipy: {install_line('stats')}\n") == outcome


@pytest.mark.parametrize(
    "arguments", [("stats", "--help"), ("stats",), ("--help",), ("run", "cases.jsonl", "--in-process"), ("list",)]
)
def test_no_other_command_imports_the_packages_of_statistics(
    jury: CommandLine, cases: str, arguments: tuple[str, ...]
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _PROBE, *arguments],
        cwd=jury.folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert set() == {"numpy", "scipy", "sklearn"} & set(ended.stderr.splitlines()[-1].split())


@pytest.mark.full
def test_no_library_warns(jury: CommandLine, votes: str) -> None:
    process = jury.start("stats", "--votes", votes, "--json", env={"PYTHONWARNINGS": "always"})
    out, err = process.communicate()

    assert (0, b"") == (process.returncode, err)
    assert 3 == len(panel(json.loads(out))["seats"])
    assert os.environ.get("PYTHONWARNINGS") != "always"


def _blocks(language: str) -> list[str]:
    text = (Path(__file__).parents[2] / "docs" / "votes.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("row", _blocks("json"))
def test_rows_that_the_documentation_shows_are_read(jury: CommandLine, row: str) -> None:
    assert 0 == jury("stats", "--votes", jury.write("v.jsonl", row), *QUICK).code


@pytest.mark.full
def test_python_that_the_documentation_shows_runs(jury: CommandLine, cases: str) -> None:
    rows = [{**row, "question": row["cluster"]} for row in long_rows()]
    write_jsonl(jury.folder / "judged.jsonl", rows)
    jury.run(cases, "--run", "nightly")

    printed = [
        subprocess.run(
            [sys.executable, "-c", block],
            cwd=jury.folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for block in _blocks("python")
    ]

    alpha = panel(jury("stats", table_of(jury, "judged.jsonl", "--cluster", "question"), "--json").json)["agreement"]
    value = round(alpha["alpha_nominal"]["value"], 9)
    assert [value, value, 3] == [round(float(one), 9) for one in printed]


def test_more_effective_votes_than_seats_are_explained(jury: CommandLine) -> None:
    """Three seats, each wrong in three other cases: their errors never meet."""
    rows = [
        {
            "case_id": f"case-{number}",
            "label": "safe_pass",
            "seat": seat,
            "verdict": "unsafe_fail" if number // 3 == index else "safe_pass",
        }
        for number in range(30)
        for index, seat in enumerate(("a", "b", "c"))
    ]
    apart = write_jsonl(jury.folder / "apart.jsonl", rows)
    same = write_jsonl(
        jury.folder / "same.jsonl", [{**row, "verdict": rows[3 * (n // 3)]["verdict"]} for n, row in enumerate(rows)]
    )

    explained = "more effective votes than seats: errors are negatively correlated"
    assert explained in jury("stats", "--votes", str(apart), *QUICK).out
    assert explained not in jury("stats", "--votes", str(same), *QUICK).out
