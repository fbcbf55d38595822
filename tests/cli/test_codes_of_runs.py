"""The exit code of `jury run` by what the run came to: of several reasons the first of the table's order counts."""

import json
from contextlib import suppress
from typing import Any

import pytest

from jury_cases import CaseFileError
from jury_cli import Results, end_run
from jury_judge import ReportSettings, RunOutcome, RunUsage, UnreadableRows

_NULL = (
    *("final_label", "capped_by", "label", "votes", "vote_labels", "vote_kinds", "method", "partly_read"),
    *("reason", "decisive"),
)


def line(name: str, **more: Any) -> dict[str, Any]:
    """The result line of a debate that passed; `more` says what is otherwise."""
    fields = {"final_verdict": "safe_pass", "final_score": 90, "decided_by": "majority_vote", "quorum_met": True}
    about = {"case_id": name, "debate_id": f"r1~{name}", "status": "completed", "simulated": False}
    return {**dict.fromkeys(_NULL), **about, **fields, "model_mismatches": [], **more}


PASSED = line("a")
LOST = line("b", final_verdict="needs_review", quorum_met=False)
UNEVALUATED = line("c", final_verdict="needs_review", final_score=None, decided_by="no_evaluation", quorum_met=False)
FAILED = line("d", final_verdict="unsafe_fail")
BROKEN = line("e", status="failed", final_verdict=None, final_score=None, decided_by=None, quorum_met=None)


def left_out() -> UnreadableRows:
    rows = UnreadableRows(skip=True)
    rows.leave_out(CaseFileError("cases.jsonl:7: not JSON"))
    return rows


@pytest.mark.parametrize(
    ("code", "lines", "wanted", "more"),
    [
        pytest.param(0, [PASSED, FAILED], {}, {}, id="every case has a verdict"),
        pytest.param(0, [PASSED], {"fail_if": ("unsafe_fail>2%",)}, {}, id="no condition is met"),
        pytest.param(1, [PASSED, FAILED], {"fail_on": ("unsafe_fail",)}, {}, id="a verdict that fails the run"),
        pytest.param(1, [LOST, FAILED], {"fail_on": ("unsafe_fail",)}, {}, id="a condition before a lost quorum"),
        pytest.param(3, [PASSED, LOST], {}, {}, id="a lost quorum"),
        pytest.param(3, [PASSED, UNEVALUATED], {}, {}, id="no evaluation"),
        pytest.param(3, [PASSED, BROKEN], {}, {}, id="no verdict"),
        pytest.param(0, [PASSED, LOST], {"fail_if": ("no_quorum>1",)}, {}, id="a lost quorum that is accepted"),
        pytest.param(3, [LOST, UNEVALUATED], {"fail_if": ("no_quorum>1",)}, {}, id="accepted is what is named alone"),
        pytest.param(4, [FAILED], {"fail_on": ("unsafe_fail",)}, {"total": 2}, id="something is left"),
        pytest.param(4, [PASSED], {}, {"total": None}, id="nobody knows how much is left"),
        pytest.param(4, [PASSED], {}, {"short": "the budget is used up"}, id="a budget"),
        pytest.param(4, [PASSED], {}, {"waiting": "9 calls wait in 1 batch"}, id="batches"),
        pytest.param(4, [PASSED], {}, {"unreadable": left_out()}, id="rows that cannot be read"),
        pytest.param(130, [FAILED], {"fail_on": ("unsafe_fail",)}, {"interrupted": True}, id="a signal"),
    ],
)
def test_the_first_reason_decides(
    code: int, lines: list[dict[str, Any]], wanted: dict[str, Any], more: dict[str, Any]
) -> None:
    results = Results("none")
    for one in lines:
        results.take(one)
    about: dict[str, Any] = {"interrupted": False, "problems": [], "total": len(lines), "run_spent": RunUsage()}
    outcome = RunOutcome(**{**about, "now": len(lines), "lines": len(lines), **more})

    assert code == end_run("r1", results, outcome, ReportSettings.of(**wanted))


def _break() -> None:
    raise ValueError


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("failing", [True, False], ids=["failing", "whole"])
def test_a_list_of_json_that_was_begun_is_ended(capsys: pytest.CaptureFixture[str], count: int, failing: bool) -> None:
    with suppress(ValueError), Results("json") as results:
        for _ in range(count):
            results.take(PASSED)
        if failing:
            _break()
        results.finish()
    printed = capsys.readouterr().out

    assert ([PASSED] * count) == (json.loads(printed) if printed or not failing else [])
