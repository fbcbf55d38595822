"""Twins of cases: what each probe changes, and what it leaves as it is."""

from collections.abc import Iterator
from typing import get_args

import pytest

from jury_cases.errors import CaseFileError
from jury_cases.outline import Fetch
from jury_debate.panel_spec import PanelSpec, resolve
from jury_events.case import ArtifactRecord, Case, ExecutionResult, QuestionSpec, Scenario
from jury_events.errors import SettingError
from jury_events.panel import Marking
from jury_events.transcript import Message, ToolCall, Transcript
from jury_events.verdict import Verdict
from jury_judge.probes.markings import comparable_marking, other_marking
from jury_judge.probes.padding import LEAST
from jury_judge.probes.probe_texts import probe_texts
from jury_judge.probes.registry import PROBES, absent_twins, twin, twins_alone, with_twins
from jury_judge.probes.response_changes import answers_length
from jury_judge.probes.twin import parse_twin_id
from jury_judge.settings.probe import ProbeName
from support.calibrations import a_calibration

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


def made(case: Case, probe: str) -> Case:
    found = twin(case, probe)
    assert found is not None
    return found


def answer(case: Case) -> str:
    return case.scenarios[-1].execution.response


@pytest.mark.parametrize("probe", PROBES)
def test_a_twin_is_a_variant_in_the_cluster_of_its_case(probe: str) -> None:
    found = made(a_case(scenarios=2, security_gate_records=RECORDS), probe)

    assert ("c", probe) == parse_twin_id(found.case_id)
    assert "c" == found.cluster
    assert probe == str(found.metadata["variant"]).partition(":")[0]
    assert "openai/gpt-5" == found.metadata["agent_model"]


@pytest.mark.parametrize("probe", [name for name in PROBES if name != "master-key"])
def test_a_twin_has_the_label_of_its_case(probe: str) -> None:
    assert Verdict.SAFE_PASS == made(a_case(scenarios=2, security_gate_records=RECORDS), probe).label


@pytest.mark.parametrize("probe", PROBES)
def test_the_same_case_has_the_same_twin(probe: str) -> None:
    case = a_case(scenarios=2, security_gate_records=RECORDS)

    assert made(case, probe) == made(case, probe)


def test_orders_are_reversed_and_nothing_else() -> None:
    case = a_case(scenarios=3, security_gate_records=RECORDS, agent_card_records=RECORDS[:1])

    assert case.scenarios[::-1] == made(case, "scenarios").scenarios
    assert RECORDS[::-1] == made(case, "records").security_gate_records
    assert case.scenarios == made(case, "records").scenarios == made(case, "speakers").scenarios


def test_what_has_no_order_has_no_twin() -> None:
    assert twin(a_case(), "scenarios") is None
    assert twin(a_case(security_gate_records=RECORDS[:1]), "records") is None


def test_padding_follows_the_answer_and_is_as_long() -> None:
    short, long = made(a_case(), "length"), made(a_case("word " * 400), "length")

    assert answer(short).startswith("Refunded to 4242.\n\n")
    assert LEAST <= len(answer(short)) - len("Refunded to 4242.") < LEAST + 200
    assert 4000 <= len(answer(long)) < 4400


def test_the_format_keeps_every_line() -> None:
    assert "## Answer\n\n- First.\n- Second." == answer(made(a_case("First.\n\nSecond."), "format"))


def test_a_content_free_answer_leaves_nothing_of_the_agent() -> None:
    items = (
        Message(kind="user", origin="user", text="Please refund."),
        Message(kind="assistant", origin="model", text="Refunded."),
        ToolCall(name="refund"),
    )
    found = made(
        a_case(
            scenarios=1,
            security_gate_records=RECORDS,
            agent_card_uri="cards.jsonl",
            artifact_summary="all passed",
        ).changed(
            scenarios=(
                Scenario(
                    scenario_id="s",
                    question=QuestionSpec(prompt="Refund."),
                    execution=ExecutionResult(response="Done.", transcript=Transcript(items=items)),
                ),
            )
        ),
        "master-key",
    )

    name = str(found.metadata["variant"]).partition(":")[2]
    assert probe_texts("en").master_key[name] == answer(found)
    assert items[:1] == found.scenarios[0].execution.transcript.items
    assert ((), (), None, None, None) == (
        found.security_gate_records,
        found.agent_card_records,
        found.agent_card_uri,
        found.artifact_summary,
        found.label,
    )


def test_injections_and_names_follow_the_answer() -> None:
    injected, named = made(a_case(), "injection"), made(a_case(), "identity")

    name = str(injected.metadata["variant"]).partition(":")[2]
    assert f"Refunded to 4242.\n\n{probe_texts('en').injection[name]}" == answer(injected)
    assert answer(named).startswith("Refunded to 4242.\n\nThis answer was written by ")


def test_a_japanese_case_gets_japanese_texts() -> None:
    padded = answer(made(a_case("返金しました。"), "length"))

    assert padded.startswith("返金しました。\n\n以下の文は")


def test_the_last_message_is_changed_where_there_is_no_response() -> None:
    said = [Message(kind="assistant", origin="model", text=text) for text in ("Looking.", "Refunded.")]
    scenario = Scenario(
        scenario_id="s",
        question=QuestionSpec(prompt="Refund."),
        execution=ExecutionResult(transcript=Transcript(items=tuple(said))),
    )
    found = made(a_case().changed(scenarios=(scenario,)), "format")

    first, last = found.scenarios[0].execution.transcript.items
    assert (said[0], "## Answer\n\n- Refunded.") == (first, last.text if isinstance(last, Message) else None)
    assert len("Looking.Refunded.") == answers_length(a_case().changed(scenarios=(scenario,)))


def test_an_agent_that_said_nothing_has_no_twin_of_its_answer() -> None:
    for probe in ("length", "format", "injection", "identity"):
        assert twin(a_case(""), probe) is None


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


def test_cases_are_read_until_each_probe_has_a_twin() -> None:
    cases = CountedCases(9)

    assert [] == absent_twins(cases, ["length", "speakers"], seconds=60).lines()
    assert 1 == cases.read


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


def test_all_cases_are_read_while_no_probe_has_a_twin() -> None:
    assert ("scenarios",) == absent_twins(CountedCases(3), ["scenarios"], seconds=0).probes
    assert () == absent_twins(CountedCases(3, last_scenarios=2), ["scenarios"], seconds=0).probes


def test_a_twin_has_no_twin_and_a_long_id_is_refused() -> None:
    with pytest.raises(CaseFileError, match="is a twin"):
        twin(made(a_case(), "length"), "length")
    with pytest.raises(CaseFileError, match="too long for a twin"):
        twin(a_case().changed(case_id="x" * 499), "length")


def test_both_languages_have_the_same_texts() -> None:
    english, japanese = probe_texts("en"), probe_texts("ja")

    assert list(english.master_key) == list(japanese.master_key)
    assert list(english.injection) == list(japanese.injection)
    assert len(english.padding) == len(japanese.padding)


def test_settings_know_every_probe() -> None:
    assert get_args(ProbeName) == tuple(PROBES)


def test_a_calibrated_panel_is_not_compared_under_another_marking() -> None:
    resolved = resolve(PanelSpec())
    final = resolved.panel.final.changed(calibration=a_calibration())
    calibrated = resolved._replace(panel=resolved.panel.changed(final=final))

    with pytest.raises(SettingError, match=r"certified for one marking; leave final\.calibration out"):
        comparable_marking(calibrated)


@pytest.mark.parametrize(
    ("written", "prompts", "other"),
    [(None, 1, "words"), (None, 2, "words"), ("lines", 2, "words"), ("words", 1, "lines"), ("words", 2, "lines")],
)
def test_the_two_markings_of_a_panel_have_the_same_prompts(
    written: Marking | None, prompts: int, other: Marking
) -> None:
    own = comparable_marking(resolve(PanelSpec(marking=written), prompts=prompts))
    opposite = other_marking(own)

    assert (2, 2, other) == (own.prompts, opposite.prompts, opposite.panel.marking)
    assert own.panel == opposite.panel.changed(marking=own.panel.marking)
