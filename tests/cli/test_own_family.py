"""A seat of the judged agent's family is named before the run, refused, or left out of the debates of such cases."""

import html
from contextlib import closing

import pytest

from jury_store import open_store
from support.command_line import CommandLine, Outcome

PANEL = """
preset: parallel-rounds
discussion: {{max_rounds: 1}}
final: {{method: majority_vote, quorum: 3}}
own_family: {rule}
seats:
  - {{model: simulated/claude-like, juror_id: one}}
  - {{model: simulated/gpt-like, juror_id: two}}
  - {{model: simulated/gemini-like, juror_id: three}}
"""


@pytest.fixture
def cases(jury: CommandLine) -> str:
    agents = {"c0": "openai/gpt-5", "c1": "acme/unknown", "c2": "gpt-4o-mini"}
    rows = (
        {"id": name, "question": "Open?", "response": "At nine.", "metadata": {"agent_model": agent}}
        for name, agent in agents.items()
    )
    return jury.write("cases.jsonl", *rows, {"id": "c3", "question": "Open?", "response": "At ten."})


def run(jury: CommandLine, cases: str, rule: str, *more: str) -> Outcome:
    jury.write("panel.yaml", PANEL.format(rule=rule))
    return jury.run(cases, "--panel", "panel.yaml", "--run", "r", "--jsonl", *more)


def seats(jury: CommandLine, case: str) -> list[str]:
    return [one["juror_id"] for one in jury("show", f"r~{case}", "--json").json["phase1_evaluations"]]


def test_such_a_seat_is_named_before_the_run_and_judges(jury: CommandLine, cases: str) -> None:
    outcome = run(jury, cases, "warn")

    assert 0 == outcome.code
    assert (
        "two (simulated/gpt-like) is of the family of the judged agent, openai/gpt-5, in 1 case (c0): "
        "judges tend to favour their own" in outcome.err
    )
    assert "unknown" not in outcome.err
    assert ["one", "two", "three"] == seats(jury, "c0")


def test_an_estimate_names_such_seats_and_has_no_calls_of_those_that_are_left_out(
    jury: CommandLine, cases: str
) -> None:
    jury.write("panel.yaml", PANEL.format(rule="leave-out").replace("parallel-rounds", "independent"))
    said = jury.run(cases, "--panel", "panel.yaml", "--dry-run").out
    found = jury.run(cases, "--panel", "panel.yaml", "--dry-run", "--json").json

    assert "Own family: two (simulated/gpt-like) is of the family of the judged agent, openai/gpt-5, in 1 case" in said
    assert 2 * (4 * 3 - 2) == found["calls"]["least"]


def test_a_panel_can_refuse_such_cases_before_anything_is_judged(jury: CommandLine, cases: str) -> None:
    outcome = run(jury, cases, "refuse")

    assert (2, "") == (outcome.code, outcome.out)
    assert outcome.err.startswith("jury: case c0: two (simulated/gpt-like) is of the family of the judged agent")
    assert not (jury.folder / "jury.db").exists()


def test_a_seat_that_is_left_out_is_not_seated_and_the_record_says_so(jury: CommandLine, cases: str) -> None:
    outcome = run(jury, cases, "leave-out", "--limit", "3")
    again = run(jury, cases, "leave-out")
    checks = [jury(*words).code for words in (("verify", "--all"), ("replay", "--all"))]

    assert (0, 3) == (outcome.code, len(outcome.lines))
    assert (0, 4) == (again.code, len(again.lines)), again.err
    assert "two (simulated/gpt-like) is of the family of the judged agent, gpt-4o-mini" in outcome.err
    assert [["one", "three"], ["one", "two", "three"], ["one", "three"], ["one", "two", "three"]] == [
        seats(jury, f"c{number}") for number in range(4)
    ]
    assert [0, 0] == checks
    with closing(open_store(f"sqlite:///{jury.folder / 'jury.db'}", write=False)) as store:
        (left_out,) = store.history("r~c0").opened.panel.left_out or ()
    assert ("two", "simulated/gpt-like") == (left_out.juror_id, left_out.model)
    said = "not seated, as of the judged agent's model family: two (simulated/gpt-like)"
    jury("export", "r~c0", "--html", "-o", "page.html")
    page = html.unescape((jury.folder / "page.html").read_text("utf-8"))
    shown = [jury("show", "r~c0", *more).out for more in ((), ("--full",), ("--events",))]
    assert [True] * 4 == [said in text for text in (page, *shown)]
    assert said not in jury("show", "r~c1").out
