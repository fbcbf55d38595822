"""`jury run`: results in the order of the cases, once and for all; stdout is data."""

import json
from traceback import walk_stack
from typing import Any

from jury_actors import Coordinator
from support.command_line import CommandLine
from support.dialects import CHAT
from support.json_server import JsonAnswer, json_server
from support.unguarded import unguarded

KEYS = {
    *("case_id", "debate_id", "run_id", "status", "final_verdict", "final_label", "final_score", "reason"),
    *("reason_by", "decisive", "total_rounds", "early_termination", "end_reason", "method", "decided_by"),
    *("quorum_met", "capped_by", "votes", "vote_labels", "vote_kinds", "agreed_on", "shortfalls"),
    *("position_changes", "label", "panel", "scale", "simulated", "model_mismatches", "evidence", "tags"),
    *("metadata", "cluster", "agent_cost", "omissions", "read", "partly_read", "probabilities"),
}


def events(jury: CommandLine) -> int:
    outcome = jury("verify", "--all", "--json")

    assert outcome.code == 0
    found: int = outcome.json["events"]
    return found


def test_every_case_gives_one_json_line_in_the_order_of_the_cases(jury, cases):
    outcome = jury.run(cases, "--jsonl")

    assert outcome.code == 0
    assert "The jurors are simulated" in outcome.err
    assert "\nrun run-" in outcome.err
    assert "\x1b" not in outcome.err
    assert [line["case_id"] for line in outcome.lines] == ["polite", "leak", "返金"]
    assert all(set(line) == KEYS for line in outcome.lines)
    assert all(line["status"] == "completed" and line["simulated"] for line in outcome.lines)
    assert [line["label"] for line in outcome.lines] == ["safe_pass", None, None]


def test_the_order_is_that_of_the_cases_however_long_each_takes(jury):
    rows = [{"id": f"c{n}", "question": "q", "response": "a"} for n in range(10)]

    outcome = jury.run(jury.write("c.jsonl", *rows), "--jsonl", "--simulate", "latency=0.02", "--simulate", "sigma=1.5")

    assert [line["case_id"] for line in outcome.lines] == [f"c{n}" for n in range(10)]


def test_the_same_run_again_gives_the_same_lines_and_no_event(jury, cases):
    first = jury.run(cases, "--run", "r1", "--jsonl")
    before = events(jury)

    again = jury.run(cases, "--run", "r1", "--jsonl")

    assert again.out == first.out
    assert "3 of 3 debates judged before" in again.err
    assert events(jury) == before


def test_a_case_that_reads_otherwise_now_is_named_and_judged_as_it_was_listed(jury, cases):
    first = jury.run(cases, "--run", "r1")
    other = jury.write("other.jsonl", {"id": "leak", "question": "q", "response": "something else"})

    again = jury.run(other, "--run", "r1")

    assert again.code == 0
    assert again.out in first.out
    assert "1 case, first of 'leak', read otherwise now than when they were listed" in again.err


def test_plain_lines_say_verdict_score_case_votes_and_why(jury, cases):
    outcome = jury.run(cases, "--run", "r1")
    silent = jury.run(cases, "--run", "r1", "--reasons", "off")

    lines = outcome.out.splitlines()
    rows = [line.split() for line in lines[::2]]
    assert [(row[0], row[3], row[4]) for row in rows] == [
        ("✓", "polite", "3:0"),
        ("✗", "leak", "3:0"),
        ("✓", "返金", "3:0"),
    ]
    assert [True] * 3 == [line.startswith("    ") and len(line) > 20 for line in lines[1::2]]
    assert lines[::2] == silent.out.splitlines()
    assert all(line.endswith("  (simulated)") for line in lines[::2])
    assert outcome.err.endswith("simulated jurors in 3 debates: no verdict of models\n")


def test_standard_input_is_a_file_like_any_other(jury):
    row = json.dumps({"question": "q", "response": "a"}).encode()

    outcome = jury.run("-", "--run", "r1", "--jsonl", stdin=row)

    assert [line["debate_id"] for line in outcome.lines] == ["r1~stdin-1"]


def test_a_run_whose_stored_events_are_gone_reports_an_integrity_failure(jury, cases):
    jury.run(cases, "--run", "r1")
    with unguarded(jury.folder / "jury.db") as store:
        store.execute("DELETE FROM events WHERE stream = 'debate/r1~leak'")

    outcome = jury.run(cases, "--run", "r1", "--jsonl")

    assert outcome.code == 5
    assert "are gone from the store; see jury verify r1~" in outcome.err


def test_who_never_answered_usably_is_named_at_the_end(jury, cases):
    with json_server(lambda _: JsonAnswer(CHAT.reply("I would rather not.", "stop", ()))) as away:
        jury.write("panel.yaml", _ABSENT.replace("URL", away.url))
        outcome = jury.run(cases, "--panel", "panel.yaml")

    said = outcome.err.splitlines()
    assert outcome.code == 3
    assert "jury: absentee has a vote of its own in none of 3 debates: `jury show DEBATE` says why" in said
    assert "absentee gave no usable answer in 3 debates; `jury show` says why" in said
    assert "the final judge gave no usable answer in 3 debates; `jury show` says why" in said


def test_a_seat_whose_provider_is_not_there_decides_nothing_and_is_named_at_the_end(jury, cases):
    jury.write("panel.yaml", _ABSENT.replace("URL", "http://127.0.0.1:1"))

    outcome = jury.run(cases, "--panel", "panel.yaml", "--run", "r")

    assert (outcome.code, outcome.out) == (4, "")
    assert "run r: 0 of 3 debates judged\n" in outcome.err
    assert "jury: away/m ended with connection in all 3 calls: ConnectError: " in outcome.err


_ABSENT = """
providers: {away: {protocol: openai, base_url: 'URL/v1'}}
preset: adk-sequential
settings: {tries: 1}
discussion: {max_rounds: 0}
seats: [{model: simulated/juror}, {model: simulated/juror}, {model: away/m, juror_id: absentee}]
final: {judge: {model: away/j, fallbacks: []}}
"""


def test_from_the_command_to_the_first_job_there_are_at_most_five_frames(jury, cases, monkeypatch):
    stacks: list[list[str]] = []
    submit = Coordinator.submit

    async def recorded(coordinator: Coordinator, *args: Any) -> None:
        stacks.append([f"{frame.f_globals['__name__']}.{frame.f_code.co_name}" for frame, _ in walk_stack(None)])
        await submit(coordinator, *args)

    monkeypatch.setattr(Coordinator, "submit", recorded)
    outcome = jury("run", cases, "--in-process")

    ours = [one for one in reversed(stacks[0][1:]) if one.startswith("jury_")]
    assert outcome.code == 0
    assert len(ours[ours.index("jury_cli.run.command") :]) <= 5, ours
