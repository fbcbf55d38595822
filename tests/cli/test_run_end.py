"""How `jury run` ends: what it says it came to and took, the conditions on which it fails, and its reports."""

import json
import re
from xml.etree import ElementTree as ET

import pytest

from jury_cli import Results, course, end_run, headline, terminal
from jury_cli.terminal import ProgressDisplay
from jury_judge import RunOutcome, RunUsage
from jury_views import Tally, judged_case
from support.command_line import CommandLine

LABELLED = (
    {"id": "right", "question": "When do you open?", "response": "At nine.", "label": "approve"},
    {"id": "wrong", "question": "When do you close?", "response": "At five.", "label": "reject"},
    {"id": "unlabelled", "question": "Are you open?", "response": "Yes."},
)


@pytest.fixture
def labelled(jury: CommandLine) -> str:
    return jury.write("labelled.jsonl", *LABELLED)


def test_the_end_prints_verdicts_time_calls_tokens_cost_and_agreement_with_labels(jury, labelled):
    outcome = jury.run(labelled, "--run", "r1", "--panel", "independent")

    said = outcome.err.splitlines()
    assert "run r1: 3 safe_pass (100.0%)" in said
    assert [line for line in said if re.fullmatch(r"3 debates judged in \d+\.\d s( \([\d.]+/(s|min)\))?", line)]
    assert [line for line in said if re.fullmatch(r"9 calls, [\d,]+ tokens in and [\d,]+ out, \$0\.00", line)]
    assert "labels: decided 2 of 2: 1 right (50.0%), 1 false pass, 0 false fails" in said
    assert "false passes: r1~wrong" in said


def test_a_resumed_run_counts_earlier_debates_separately(jury, labelled):
    jury.run(labelled, "--run", "r1", "--panel", "independent", "--limit", "2")

    went_on = jury.run(labelled, "--run", "r1", "--panel", "independent")
    again = jury.run(labelled, "--run", "r1", "--panel", "independent")

    assert re.search(r"^2 debates judged before, 1 now in \d+\.\d s", went_on.err, re.MULTILINE)
    assert re.search(r"^this command: 3 calls, .*\nthe run: 9 calls, ", went_on.err, re.MULTILINE)
    assert re.search(r"^3 debates judged before, none now$", again.err, re.MULTILINE)
    assert re.search(r"^this command: 0 calls, .*\nthe run: 9 calls, ", again.err, re.MULTILINE)


def test_labels_that_come_after_a_debate_opened_are_named_and_taken_when_asked_for(jury):
    cases = [{"case_id": name, "question": "Open?", "response": "At nine."} for name in ("a", "b")]
    jury.run(jury.write("bare.jsonl", *cases), "--run", "r1", "--panel", "independent")
    labelled = jury.write("labelled.jsonl", *({**one, "label": "safe_pass"} for one in cases))

    named = jury.run(labelled, "--run", "r1", "--panel", "independent", "--jsonl")
    asked = jury.run(labelled, "--run", "r1", "--panel", "independent", "--relabel", "--jsonl")
    after = jury.run(labelled, "--run", "r1", "--panel", "independent", "--relabel", "--jsonl")
    bare = jury.run("bare.jsonl", "--run", "r1", "--panel", "independent", "--jsonl")

    assert "jury: warning: labels of 2 cases, first of 'a', are not the recorded ones, and are not taken" in named.err
    assert [None, None] == _labels(named)
    assert "labels of 2 cases are recorded; they count from now on" in asked.err
    assert ["safe_pass"] * 2 == _labels(asked) == _labels(after) == _labels(bare)
    assert "labels of" not in after.err + bare.err
    assert "labels: decided 2 of 2" in bare.err


def test_a_label_that_the_rows_have_no_more_is_removed_when_asked_for(jury):
    cases = [{"case_id": name, "question": "Open?", "response": "At nine."} for name in ("a", "b")]
    labelled = jury.write("labelled.jsonl", *({**one, "label": "safe_pass"} for one in cases))
    jury.run(labelled, "--run", "r1", "--panel", "independent")
    half = jury.write("half.jsonl", cases[0], {**cases[1], "label": "unsafe_fail"})

    kept = jury.run(jury.write("bare.jsonl", *cases), "--run", "r1", "--panel", "independent", "--jsonl")
    asked = jury.run(half, "--run", "r1", "--panel", "independent", "--relabel", "--jsonl")
    after = jury.run(half, "--run", "r1", "--panel", "independent", "--relabel", "--jsonl")
    shown = jury("show", "r1~a", "--events")

    assert ["safe_pass"] * 2 == _labels(kept)
    assert "labels of 1 case are recorded; they count from now on\n" in asked.err
    assert "labels of 1 case are removed from now on\n" in asked.err
    assert [None, "unsafe_fail"] == _labels(asked) == _labels(after)
    assert "labels of" not in kept.err + after.err
    assert "label removed by" in shown.out


def test_a_row_that_reads_otherwise_brings_no_label(jury):
    case = {"case_id": "a", "question": "Open?", "response": "At nine."}
    jury.run(jury.write("one.jsonl", case), "--run", "r1", "--panel", "independent")
    other = jury.write("other.jsonl", {**case, "response": "At ten.", "label": "unsafe_fail"})

    again = jury.run(other, "--run", "r1", "--panel", "independent", "--relabel", "--jsonl")

    assert "read otherwise now" in again.err
    assert [None] == _labels(again)


def _labels(ran):
    return [json.loads(line)["label"] for line in ran.out.splitlines()]


def test_an_unknown_part_of_the_cost_is_reported(jury, labelled):
    jury.write(
        "panel.yaml",
        "providers: {away: {protocol: openai, base_url: 'http://127.0.0.1:1/v1'}}\n"
        "preset: independent\nsettings: {tries: 1}\n"
        "seats: [{model: simulated/juror}, {model: simulated/juror}, {model: away/m}]\n",
    )

    outcome = jury.run(labelled, "--panel", "panel.yaml")

    assert re.search(
        r"^9 calls, at least .* in and .* out, at least \$0\.00 \(the cost of 3 debates", outcome.err, re.MULTILINE
    )


def test_cases_that_go_on_to_a_stage_of_a_ladder_are_counted_beside_the_others(capsys, monkeypatch):
    from jury_actors import Finished

    monkeypatch.setattr(terminal, "_PLAIN_EVERY", 0.0)
    progress = ProgressDisplay("r1", "plain")
    progress.begin(None, 0)
    progress.goes_on(2)
    progress.total_known(3)
    progress.ended(Finished("r1~a", "completed"))
    progress.spent(RunUsage(calls=9))
    progress.goes_on(2)

    assert capsys.readouterr().err.splitlines() == [
        "run r1: 0 debates, 1 went on to stage 2",
        "run r1: 1 of 3 debates, 1 went on to stage 2",
        "run r1: 1 of 3 debates, 2 went on to stage 2, 9 calls, $0.00",
    ]


@pytest.mark.parametrize(("total", "shown"), [(2, "0 of 2 debates"), (None, "0 debates")])
def test_a_long_debate_shows_its_calls_while_no_debate_ends(monkeypatch, capsys, total, shown):
    progress = ProgressDisplay("r1", "plain")
    progress.begin(total, 0)
    progress.spent(RunUsage(calls=40))
    soon = capsys.readouterr().err
    monkeypatch.setattr(terminal, "_CALLS_EVERY", 0.0)
    for calls in (41, 42, 42):
        progress.spent(RunUsage(calls=calls, cost=0.5))

    assert soon == ""
    assert capsys.readouterr().err == f"run r1: {shown}, 41 calls, $0.5000\nrun r1: {shown}, 42 calls, $0.5000\n"


def line(name: str, verdict: str = "safe_pass") -> dict:
    names = (
        "final_score",
        "final_label",
        "decided_by",
        "quorum_met",
        "capped_by",
        "label",
        "votes",
        "vote_labels",
        "vote_kinds",
    )
    return {**dict.fromkeys(names), "case_id": name, "debate_id": f"r1~{name}", "status": "completed",
            "final_verdict": verdict,
            "simulated": False}  # fmt: skip


def test_a_stop_at_once_counts_judged_cases_not_printed_ones():
    tally, printed = Tally(), Tally()
    printed.take(judged_case(line("c0")))
    outcome = RunOutcome(interrupted=True, problems=[], total=60, before=28, now=3, seconds=90.0, spent=RunUsage())

    assert headline("r1", tally, outcome) == "run r1: 31 of 60 debates judged"
    assert (
        headline("r1", printed, outcome)
        == "run r1: 31 of 60 debates judged; the 1 result printed: 1 safe_pass (100.0%)"
    )
    assert headline("r1", tally, outcome._replace(total=None)) == "run r1: 31 debates judged so far"
    assert course(outcome)[0] == "28 debates judged before, 3 now in 1 min 30 s (2.0/min)"


@pytest.mark.parametrize(
    ("conditions", "code", "said"),
    [
        (("safe_pass>2",), 1, "fail if safe_pass>2: met: 3 of 3 debates with a verdict (judged share 100.00%)"),
        (
            ("unsafe_fail", "safe_pass<100%"),
            0,
            "fail if safe_pass<100%: not met: 3 of 3 debates with a verdict (judged share 100.00%)",
        ),
    ],
)
def test_a_run_fails_on_conditions_and_prints_the_result_of_each(jury, labelled, conditions, code, said):
    options = [word for one in conditions for word in ("--fail-if", one)]

    outcome = jury.run(labelled, "--panel", "independent", *options)

    assert outcome.code == code
    assert any(line.startswith(said) for line in outcome.err.splitlines())
    assert outcome.err.count("fail if ") == len(conditions)


LOST = ("--panel", "independent", "--simulate", "unparseable=1")


def test_debates_without_an_evaluation_are_named_and_can_be_accepted_up_to_a_share(jury, labelled):
    plain = jury.run(labelled, "--run", "r1", *LOST)
    accepted = jury.run(labelled, "--run", "r1", *LOST, "--fail-if", "no_verdict>100%")
    failed = jury.run(labelled, "--run", "r1", *LOST, "--fail-if", "no_verdict>5%")
    other = jury.run(labelled, "--run", "r1", *LOST, "--fail-if", "needs_review<100%")

    assert (plain.code, accepted.code, failed.code, other.code) == (3, 0, 1, 1)
    assert "3 of 3 debates (100.0%) ended without a verdict" in plain.err.splitlines()
    assert ["?", "needs_review", "–", "right", "(simulated)"] in [line.split() for line in plain.out.splitlines()]
    assert ["–"] * 3 == [line.split()[2] for line in jury("list").out.splitlines()]
    assert "jury: 3 debates ended without a verdict: r1~right, r1~wrong, r1~unlabelled; " in plain.err
    assert "jury: " not in accepted.err
    assert "fail if no_verdict>5%: met: 3 of 3 finished debates (100.00%)" in failed.err.splitlines()
    assert "needs_review<100%: met: no debate has a verdict, so the share is unknown" in other.err


def test_debates_that_could_not_go_on_are_named_with_how_to_go_on(jury, labelled):
    outcome = jury.run(labelled, "--run", "r1", "--simulate", "quota=1", "--concurrency", "1", "--fail-on", "safe_pass")

    assert outcome.code == 4
    assert outcome.err.splitlines()[-1] == (
        "jury: 1 debate could not go on: r1~right; mend the cause and call the same command with --run r1: "
        "it resumes the run"
    )


def test_reports_are_written_also_of_a_run_that_fails_or_stops(jury, labelled):
    files = ("--junit", "j.xml", "--markdown", "s.md")
    stopped = jury.run(labelled, "--run", "r1", "--simulate", "quota=1", "--concurrency", "1", *files)
    of_stopped = ET.parse(jury.folder / "j.xml").getroot()
    failed = jury.run(labelled, "--run", "r1", *files, "--fail-on", "safe_pass")
    root = ET.parse(jury.folder / "j.xml").getroot()

    assert (stopped.code, failed.code) == (4, 1)
    assert [one.get("name") for one in of_stopped.iter("testcase")] == ["right"]
    assert "quota" in str(next(of_stopped.iter("error")).get("message"))
    assert [one.get("name") for one in root.iter("testcase")] == ["right", "wrong", "unlabelled"]
    assert root.get("failures") == "3", "what --fail-on names fails its cases"
    page = (jury.folder / "s.md").read_text()
    assert "## run r1" in page
    assert "> **Simulated jurors in 3 debates&#58; no verdict of models**" in page


def test_a_report_that_cannot_be_written_in_the_end_is_no_success(jury, labelled, monkeypatch):
    (jury.folder / "reports").mkdir()
    monkeypatch.setattr(ProgressDisplay, "begin", lambda *_: (jury.folder / "reports").rmdir())
    monkeypatch.setattr(ProgressDisplay, "close", lambda *_: (jury.folder / "reports").write_text("no folder any more"))

    outcome = jury.run(labelled, "--panel", "independent", "--jsonl", "--junit", "reports/j.xml")

    assert (outcome.code, len(outcome.lines)) == (4, 3)
    assert "reports/j.xml: cannot be written" in outcome.err


@pytest.mark.parametrize(
    ("fields", "code", "said"),
    [
        ({"lines": 2}, 0, []),
        ({"lines": 1}, 4, ["jury: 1 debate of run r1 without a result; the same command with --run r1 goes on"]),
        (
            {"lines": 2, "total": None},
            4,
            ["jury: some debates of run r1 without a result; the same command with --run"],
        ),
        ({"lines": 1, "lost": "the process ended"}, 4, ["jury: the process ended; the same command with --run r1"]),
        ({"lines": 2, "waiting": "1 call waits"}, 4, ["jury: 1 call waits; the same command with --run r1 goes on"]),
        ({"lines": 1, "cancelled_by": "ann"}, 4, ["jury: run r1 was cancelled by ann; 1 of its cases are left"]),
        ({"lines": 2, "cancelled_by": "ann"}, 0, ["jury: run r1 was cancelled by ann; 1 of its cases are left"]),
    ],
)
def test_a_run_without_a_result_for_each_debate_is_not_done_whatever_the_reason(capsys, fields, code, said):
    outcome = RunOutcome(**{"interrupted": False, "problems": [], "total": 2, "now": 1, **fields})

    found = end_run("r1", Results("none"), outcome)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("jury: ")]

    assert (code, len(said)) == (found, len(lines))
    assert all(line.startswith(start) for line, start in zip(lines, said, strict=True))
