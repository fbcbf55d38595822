"""Twins of cases: what each probe changes, and what it leaves as it is."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from jury_cases import CaseFileError, Fetch
from jury_debate import PanelSpec, resolve
from jury_events import (
    ArtifactRecord,
    Case,
    ExecutionResult,
    Marking,
    Message,
    QuestionSpec,
    Reasoning,
    Scenario,
    SettingError,
    ToolCall,
    Transcript,
    Verdict,
)
from jury_judge import PROBES, check_comparable, other_marking, parse_twin_id
from jury_judge.probes.registry import absent_twins, twin, twins_alone, with_twins
from support.calibrations import a_calibration
from support.refusals import RefusalTables

RECORDS = tuple(ArtifactRecord.from_json({"verdict": verdict, "n": verdict}) for verdict in ("fail", "pass"))


def a_case(response: str = "Refunded to 4242.", *, scenarios: int = 1, **fields: object) -> Case:
    return Case.model_validate(
        {
            "case_id": "c",
            "scenarios": tuple(
                Scenario(
                    scenario_id=f"s{number}",
                    question=QuestionSpec(prompt=f"Refund order {number}."),
                    execution=ExecutionResult(response=response),
                )
                for number in range(scenarios)
            ),
            "label": Verdict.SAFE_PASS,
            "metadata": {"agent_model": "openai/gpt-5"},
            **fields,
        }
    )


ITEMS = (
    Message(kind="user", origin="user", text="Please refund."),
    Message(kind="assistant", origin="model", text="Looking."),
    ToolCall(name="refund"),
    Message(kind="assistant", origin="model", text="Refunded."),
)
TRANSCRIPT = Scenario(
    scenario_id="s",
    question=QuestionSpec(prompt="Refund."),
    execution=ExecutionResult(transcript=Transcript(items=ITEMS)),
)
THOUGHT = (
    a_case()
    .scenarios[0]
    .changed(
        execution=ExecutionResult(
            response="Refunded.", transcript=Transcript(items=(Reasoning(text="Is this allowed?"), *ITEMS))
        )
    )
)
WITH_RECORDS: dict[str, Any] = {
    "security_gate_records": RECORDS,
    "agent_card_records": RECORDS[:1],
    "agent_card_uri": "cards.jsonl",
    "artifact_summary": "all passed",
}
CASES = {
    "an answer": a_case(),
    "several scenarios and records": a_case(scenarios=3, **WITH_RECORDS),
    "several lines": a_case("First.\n\nSecond."),
    "an answer in Japanese": a_case("返金しました。"),
    "messages without a response": a_case(**WITH_RECORDS).changed(scenarios=(TRANSCRIPT,)),
    "nothing said": a_case(""),
    "reasoning": a_case().changed(scenarios=(THOUGHT,)),
}


def changes(case: Case, probe: str) -> str:
    """What the twin has otherwise than its case, by field."""
    found = twin(case, probe)
    if found is None:
        return "no twin"
    assert found == twin(case, probe), "the same case has the same twin"
    assert ("c", "c", probe) == (*parse_twin_id(found.case_id)[:1], found.cluster, parse_twin_id(found.case_id)[1])
    before, after = case.model_dump(mode="json"), found.model_dump(mode="json")
    lines = [f"{name}: {json.dumps(one, ensure_ascii=False)}" for name, one in after.items() if before.get(name) != one]
    return "\n".join([*lines, *(f"without {name}" for name in before if name not in after)])


def test_a_twin_differs_from_its_case_by_what_its_probe_changes_alone(printed: RefusalTables) -> None:
    printed.compare(
        "twins", {f"{name}: {probe}": changes(case, probe) for name, case in CASES.items() for probe in PROBES}
    )


def test_each_case_is_followed_by_its_twins_and_records_are_fetched_for_any_of_them() -> None:
    asked: list[str] = []

    def cases(fetch):
        for number in range(2):
            case = a_case().changed(case_id=f"c{number}")
            asked.append(f"{case.case_id} {fetch(case)}")
            yield case

    both = with_twins(cases, ["length", "scenarios"])
    listed = [case.case_id for case in both(lambda case: case.case_id == "c1~probe~length")]

    assert ["c0", "c0~probe~length", "c1", "c1~probe~length"] == listed
    assert ["c0 False", "c1 True"] == asked
    assert ["c0~probe~speakers", "c1~probe~speakers"] == [
        case.case_id for case in twins_alone(cases, "speakers")(lambda _case: False)
    ]


class CountedCases:
    """A source of cases of one scenario, the last of which may have more; counts the cases that were read."""

    def __init__(self, number: int, *, last_scenarios: int = 1) -> None:
        self._scenarios = [1] * (number - 1) + [last_scenarios]
        self.read = 0

    def __call__(self, _fetch: Fetch) -> Iterator[Case]:
        for scenarios in self._scenarios:
            self.read += 1
            yield a_case(scenarios=scenarios).changed(case_id=f"c{self.read}")


def test_probes_without_a_twin_are_named_with_their_reason() -> None:
    assert [
        "no case has a second scenario: probe scenarios has no twin",
        "no case has a second record of a kind: probe records has no twin",
    ] == absent_twins(CountedCases(3), ["scenarios", "length", "records"], seconds=60).lines()


def test_after_the_time_for_reading_the_reason_is_that_of_the_cases_read() -> None:
    cases = CountedCases(3)

    assert ["none of the first 1 case has a second scenario: probe scenarios has no twin so far"] == absent_twins(
        cases, ["scenarios", "length"], seconds=0
    ).lines()
    assert 1 == cases.read


def test_a_twin_has_no_twin_and_a_long_id_is_refused() -> None:
    with pytest.raises(CaseFileError, match="is a twin"):
        twin(a_case().changed(case_id="c~probe~length"), "length")
    with pytest.raises(CaseFileError, match="too long for a twin"):
        twin(a_case().changed(case_id="x" * 499), "length")


def test_a_calibrated_panel_is_not_compared_under_another_marking() -> None:
    resolved = resolve(PanelSpec())
    final = resolved.panel.final.changed(calibration=a_calibration())
    calibrated = resolved._replace(panel=resolved.panel.changed(final=final))

    with pytest.raises(SettingError, match=r"certified for one marking; leave final\.calibration out"):
        check_comparable(calibrated)


@pytest.mark.parametrize(("written", "other"), [("lines", "words"), ("words", "lines")])
def test_the_two_markings_of_a_panel_differ_in_nothing_else(written: Marking, other: Marking) -> None:
    own = resolve(PanelSpec(marking=written))
    opposite = other_marking(own)

    assert other == opposite.panel.marking
    assert own == opposite._replace(panel=opposite.panel.changed(marking=written))
