"""Parts of a long record that no model of a seat read: in the end of a run, its gate and reports, and in lists."""

import re
from xml.etree import ElementTree as ET

import pytest

from support.command_line import CommandLine, Outcome

PANEL = """\
preset: independent
seats:
  - {model: simulated/reader, juror_id: a, window: 8000}
final: {method: majority_vote}
"""
STEP = "I list the folder and read on. " * 30
FAULTS = ("--simulate", "blocked=0.2")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[CommandLine, Outcome]:
    """Three cases of four parts: in some debates the call about one part is blocked. For reading only."""
    jury = CommandLine(tmp_path_factory.mktemp("parts"))
    (jury.folder / "p.yaml").write_text(PANEL)
    steps = [{"role": "assistant", "content": f"Step {step}. {STEP}"} for step in range(12)]
    cases = [
        {"case_id": f"c{number}", "messages": [{"role": "user", "content": "Tidy."}, *steps]} for number in (0, 1, 2)
    ]
    path = jury.write("long.jsonl", *cases)
    reports = ("--junit", "j.xml", "--markdown", "s.md")
    options = ("--run", "r1", "--panel", "p.yaml", *FAULTS, "--jsonl", "--fail-if", "partly_read", *reports)
    return jury, jury.run(path, *options)


def test_a_run_says_so_fails_where_asked_and_reports_it(ran: tuple[CommandLine, Outcome]) -> None:
    jury, judged = ran
    lines = {line["case_id"]: line for line in judged.lines}
    lost = {name: line["partly_read"] for name, line in lines.items() if line["partly_read"]}
    properties = {
        case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")}.get("partly_read")
        for case in ET.parse(jury.folder / "j.xml").iter("testcase")
    }

    assert 1 == judged.code
    assert 0 < len(lost) < len(lines)
    for name, line in lines.items():
        kind, verdict = ("synthetic", "needs_review") if name in lost else ("own", "safe_pass")
        assert ({"a": kind}, verdict) == (line["vote_kinds"], line["final_verdict"])
    named = ", ".join(f"r1~{name} (a: {', '.join(parts['a'])})" for name, parts in lost.items())
    assert re.search(rf"^partly_read: .*: {re.escape(named)}$", judged.err, re.MULTILINE)
    assert f"fail if partly_read: met: {len(lost)} of 3 debates with a verdict" in judged.err
    assert "a provider's filter blocked an answer" not in judged.err
    assert {name: f"a: {', '.join(parts['a'])}" for name, parts in lost.items()} == {
        name: said for name, said in properties.items() if said
    }
    assert len(lost) == (jury.folder / "s.md").read_text().count("parts not read by a&#58; ")


def test_lists_name_the_parts_and_choose_by_them(ran: tuple[CommandLine, Outcome]) -> None:
    jury, judged = ran
    lost = {line["debate_id"]: line["partly_read"] for line in judged.lines if line["partly_read"]}
    rows = jury("list", "--json").json
    chosen = {answer: jury("list", "--json", "--partly-read", answer).json for answer in ("yes", "no")}
    columns = jury("list", "--columns", "debate,partly_read").out.splitlines()[1:]
    counted = jury("list", "--totals", "--json", "--partly-read", "yes").json

    assert lost == {row["debate_id"]: row["partly_read"] for row in rows if row["partly_read"] is not None}
    assert lost.keys() == {row["debate_id"] for row in chosen["yes"]}
    assert len(rows) == len(chosen["yes"]) + len(chosen["no"])
    assert {name: f"a: {', '.join(parts['a'])}" for name, parts in lost.items()} == {
        name: said for name, said in (line.split("\t") for line in columns) if said
    }
    assert len(lost) == jury("list").out.count("[parts not read: a: ")
    assert len(lost) == counted["debates"]
    assert 2 == jury("list", "--partly-read", "maybe").code
