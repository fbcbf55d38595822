"""Reports and the end of a run count and name the labels of a panel's own scale; failures go by outcomes."""

from typing import Any

from jury_views.reports.fail_conditions import parse_fail_condition
from jury_views.reports.judged_case import judged_case
from jury_views.reports.junit import junit
from jury_views.reports.markdown import markdown
from jury_views.reports.report import RunReport
from jury_views.reports.tally import Tally


def line(name: str, verdict: str, label: str | None) -> dict[str, Any]:
    return {
        "case_id": name,
        "debate_id": f"r1~{name}",
        "status": "completed",
        "final_verdict": verdict,
        "final_label": label,
        "final_score": 50,
        "decided_by": "majority_vote",
        "quorum_met": True,
        "capped_by": None,
        "label": None,
        "votes": {"gpt": verdict, "claude": "needs_review"},
        "vote_labels": {"gpt": label, "claude": None},
        "vote_kinds": {"gpt": "own", "claude": "own"},
        "simulated": False,
    }


def report(*lines: dict[str, Any]) -> RunReport:
    cases, tally = [judged_case(one) for one in lines], Tally()
    for case in cases:
        tally.take(case)
    return RunReport(name="run r1", cases=cases, tally=tally, total=len(cases), seconds=1.0, spent="nothing")


SCALED = (line("a", "safe_pass", "right"), line("b", "unsafe_fail", "wrong"), line("c", "safe_pass", "right"))


def test_a_tally_counts_labels_beside_verdicts() -> None:
    tally = report(*SCALED).tally

    assert {"right": 2, "wrong": 1} == tally.labels
    assert "2 × right (66.7%), 1 × wrong (33.3%)" == tally.label_shares
    assert "2 safe_pass (66.7%), 1 unsafe_fail (33.3%)" == tally.shares


def test_junit_has_labels_and_fails_by_outcomes() -> None:
    text = junit(report(*SCALED)).decode()

    assert '<property name="final_label" value="wrong"' in text
    assert 'type="unsafe_fail" message="wrong 50/100"' in text
    assert "gpt: wrong\nclaude: needs_review" in text


def test_markdown_has_labels_with_their_outcomes() -> None:
    text = markdown(report(*SCALED)).decode()

    assert "By label: 2 × right (66.7%), 1 × wrong (33.3%)" in text
    assert "| b | wrong (unsafe_fail) |" in text.replace("\\_", "_")


def test_conditions_and_failures_may_name_labels() -> None:
    found = report(*SCALED)
    counted = parse_fail_condition("right>1", ("wrong", "right")).judge(found.tally.counts, found.tally.with_verdict)

    assert counted.met
    assert "2 of 3 debates with a verdict" in counted.says
    assert 2 == junit(found._replace(failing={"right"})).decode().count("<failure ")


def test_without_labels_nothing_more_is_said() -> None:
    plain = report(line("a", "unsafe_fail", None))

    assert "By label" not in markdown(plain).decode()
    assert "final_label" not in junit(plain).decode()
