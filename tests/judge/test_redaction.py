"""Redaction comes before all other use of a case and of a run's policy, and finds every spelling."""

import json
from pathlib import Path

import pytest
import regex

from jury_cases import CaseFileError, CaseFiles, CaseOptions
from jury_debate import PanelSpec, resolve
from jury_events import ArtifactRecord, Case
from jury_judge import LoadedPanel, PatternRedactor, Redaction, RedactionRule, RunPlan, RunSettings, load_panel
from jury_judge.panels import redaction as module
from support.each_row import each_row

SECRET = "ann@example.com"
CARD = "4242424242424242"
ESCAPED = f'{{"to": "ann\\u0040example.com", "to": "{SECRET}", "card": {CARD}, "n": 1}}'


@pytest.fixture
def redaction(tmp_path):
    (tmp_path / "panel.yaml").write_text(
        "redact:\n"
        "  - {pattern: '[\\w.]+@[\\w.]+\\w', replace: '[e-mail]'}\n"
        "  - {pattern: '(?<!\\d)\\d{16}(?!\\d)', replace: '\\1 \"card\"'}\n"
    )
    return load_panel(str(tmp_path / "panel.yaml"), {}).redaction


DIGEST = "0" * 64


def a_case() -> Case:
    record = ArtifactRecord.from_json({"verdict": f"fail {SECRET}", SECRET: {"card": int(CARD), "ok": 1.5}, "a": None})
    return Case.model_validate(
        {
            "case_id": "c1",
            "scenarios": (
                {
                    "scenario_id": "s1",
                    "question": {"prompt": SECRET, "policy": SECRET, "expected_behavior": SECRET},
                    "execution": {
                        "response": f"Write to {SECRET}.",
                        "transcript": {
                            "items": (
                                {"kind": "assistant", "origin": "model", "text": ESCAPED, "name": SECRET},
                                {"kind": "reasoning", "text": SECRET},
                                {"kind": "tool_call", "name": SECRET, "arguments": f'["{SECRET}"]', "call_id": SECRET},
                                {"kind": "tool_result", "name": SECRET, "text": SECRET, "call_id": SECRET},
                                {
                                    "kind": "attachment",
                                    "origin": "user",
                                    "media_type": "image/png",
                                    "size": 4,
                                    "digest": DIGEST,
                                    "name": SECRET,
                                },
                            )
                        },
                        "error": SECRET,
                    },
                },
            ),
            "security_gate_records": (record,),
            "agent_card_records": (record,),
            "security_gate_uri": f"records/{SECRET}.jsonl",
            "images": ({"media_type": "image/png", "digest": DIGEST, "content": b"\x89PNG"},),
            "metadata": {"customer": SECRET, "label": SECRET, "level": 3},
            "tags": (SECRET, "urgent"),
            "cluster": SECRET,
        }
    )


def test_every_text_of_a_case_is_redacted(redaction):
    case = redaction.case(a_case())

    text = case.model_dump_json()
    assert "ann" not in text
    assert "4242" not in text
    assert case.scenarios[0].question.prompt == "[e-mail]"
    assert case.scenarios[0].execution.response == "Write to [e-mail]."
    assert case.security_gate_records[0].verdict == "fail [e-mail]"


def test_json_stays_json_however_a_string_is_escaped(redaction):
    message, _, call, *_ = redaction.case(a_case()).scenarios[0].execution.transcript.items

    expected = '{"to": "[e-mail]", "to": "[e-mail]", "card": "\\\\1 \\"card\\"", "n": 1}'
    assert expected == message.text
    assert json.loads(message.text)["card"] == '\\1 "card"'
    assert call.arguments == '["[e-mail]"]'


def test_a_rule_that_leaves_no_label_is_named():
    rules = Redaction((RedactionRule("redact.1", lambda text: text.replace("urgent", "")),))

    with pytest.raises(CaseFileError, match=r"case 'c1': redact: tags\.1: String should have at least 1 character"):
        rules.case(a_case())


def test_a_case_without_matches_is_unchanged(redaction):
    written = a_case().model_dump_json().replace(SECRET, "ann").replace("u0040", "u0020").replace(CARD, "42")
    clean = Case.model_validate_json(written)

    assert redaction.case(clean) == clean


def test_a_runaway_pattern_is_stopped_and_named(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.05)
    (tmp_path / "panel.yaml").write_text("redact: [{pattern: '(a|a|aa)+$', replace: x}]")
    rules = load_panel(str(tmp_path / "panel.yaml"), {}).redaction

    with pytest.raises(CaseFileError, match=r"^case 'c1': .*panel.yaml: redact.0: took longer than 0.05 s"):
        rules.case(Case.model_validate_json(a_case().model_dump_json().replace("Write", "a" * 5000)))


@each_row("broken", [lambda text: text.missing, lambda text: None, int])
def test_a_failing_redactor_is_named_without_its_message(broken):
    with pytest.raises(CaseFileError) as caught:
        Redaction((RedactionRule("panel.yaml: redact.3", broken),)).case(a_case())

    assert str(caught.value).startswith("case 'c1': panel.yaml: redact.3: the redactor ")
    assert SECRET not in str(caught.value)


POLICY = "Refund within 30 days.\nAsk ann@example.org.\n"


@pytest.fixture
def files(tmp_path: Path) -> CaseFiles:
    path = tmp_path / "cases.jsonl"
    row = {"case_id": "c", "question": "Refund.", "response": "Done."}
    path.write_text(json.dumps(row), encoding="utf-8")
    return CaseFiles([path], CaseOptions(policy=POLICY))


def planned(files: CaseFiles, redaction: Redaction) -> RunPlan:
    loaded = LoadedPanel(resolve(PanelSpec()), redaction=redaction)
    return RunPlan(files, RunSettings(), loaded=loaded, environ={})


def test_the_policy_of_a_run_is_that_of_its_cases_redacted_alike(files: CaseFiles) -> None:
    hidden = Redaction((RedactionRule("redact.0", PatternRedactor(regex.compile(r"\S+@\S+"), "[e-mail]")),))
    plain, redacted = planned(files, Redaction()).run, planned(files, hidden).run

    assert POLICY == plain.operator_policy
    assert "Refund within 30 days.\nAsk [e-mail]\n" == redacted.operator_policy
    for run in (plain, redacted):
        (case,) = run.cases(lambda _case: False)
        assert [run.operator_policy] == [scenario.question.policy for scenario in case.scenarios]
