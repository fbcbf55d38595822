"""`--policy`: one text for the whole run, which is shown before the case where prompts 2 are opened."""

import json
from pathlib import Path

import pytest
import regex

from jury_cases import CaseFiles, CaseOptions
from jury_debate import PanelSpec, resolve
from jury_judge import LoadedPanel, PlannedRun, RunSettings
from jury_judge.panels.redaction import PatternRedactor, Redaction, RedactionRule

POLICY = "Refund within 30 days.\nAsk ann@example.org.\n"


@pytest.fixture
def files(tmp_path: Path) -> CaseFiles:
    path = tmp_path / "cases.jsonl"
    row = {"case_id": "c", "question": "Refund.", "response": "Done."}
    path.write_text(json.dumps(row), encoding="utf-8")
    return CaseFiles([path], CaseOptions(policy=POLICY))


def planned(files: CaseFiles, redaction: Redaction) -> PlannedRun:
    loaded = LoadedPanel(resolve(PanelSpec()), redaction=redaction)
    return PlannedRun(files, RunSettings(), loaded=loaded, environ={})


def test_the_policy_of_a_run_is_that_of_its_cases_redacted_alike(files: CaseFiles) -> None:
    hidden = Redaction((RedactionRule("redact.0", PatternRedactor(regex.compile(r"\S+@\S+"), "[e-mail]")),))
    plain, redacted = planned(files, Redaction()).run, planned(files, hidden).run

    assert POLICY == plain.operator_policy
    assert "Refund within 30 days.\nAsk [e-mail]\n" == redacted.operator_policy
    for run in (plain, redacted):
        (case,) = run.cases(lambda _case: False)
        assert [run.operator_policy] == [scenario.question.policy for scenario in case.scenarios]
