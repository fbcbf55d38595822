"""Observations of Langfuse as rows, and traces whose content is in their observations."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge.test_exports import ASKED, CALLED, EXCHANGE, ORDER, RETURNED, SAID, langfuse, of
from jury_cases.errors import CaseFileError
from jury_cases.files import CaseFiles
from jury_events.case import Case

SYSTEM = {"role": "system", "content": "Be kind."}


def row(name: str, second: int, /, **fields: Any) -> dict[str, Any]:
    """An observation that lasts half a second; input and output are texts, as version 2 has them."""
    written = {key: json.dumps(one) if key in {"input", "output"} else one for key, one in fields.items()}
    start = f"2026-11-01T00:00:0{second}"
    times = {"startTime": f"{start}.000Z", "endTime": f"{start}.500Z"}
    return {"id": name, "name": name, "traceId": "t", "projectId": "p", "type": "GENERATION", **times, **written}


def read(folder: Path, rows: list[dict[str, Any]]) -> list[Case]:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return list(CaseFiles([path]))


STEPS = [
    {
        **row("root", 0, type="AGENT", input={"args": ["Refund me."], "kwargs": {}}, output="Done."),
        "endTime": "2026-11-01T00:00:09.000Z",
    },
    row("one", 1, parentObservationId="root", input=[SYSTEM, ASKED], output=CALLED),
    row("look", 2, parentObservationId="root", type="TOOL", input={"args": [7], "kwargs": {}}, output=ORDER),
    row("two", 3, parentObservationId="root", input=[SYSTEM, ASKED, CALLED, RETURNED], output=SAID),
]


@pytest.mark.parametrize("rows", [STEPS, STEPS[::-1], [STEPS[2], STEPS[0], STEPS[3], STEPS[1]]])
def test_the_rows_of_a_trace_are_one_case_in_any_order(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    (case,) = read(tmp_path, rows)

    assert EXCHANGE == of(case)
    assert ("t", "Be kind.") == (case.case_id, case.scenarios[0].question.policy)
    assert ("t", "root") == (case.metadata["trace_id"], case.metadata["observation_id"])


def test_observations_of_one_moment_are_read_from_the_end_where_children_stand_first(tmp_path: Path) -> None:
    moment = {"startTime": "2026-11-01T00:00:00.000Z", "endTime": "2026-11-01T00:00:00.000Z"}
    rows = [{**one, **moment} for one in (STEPS[0], STEPS[1], STEPS[3])]

    assert [EXCHANGE] * 2 == [of(read(tmp_path, listed)[0]) for listed in (rows, rows[::-1])]


def test_rows_of_several_traces_are_cases_in_the_order_of_their_first_rows(tmp_path: Path) -> None:
    others = [{**row("x", 1, input="Hi", output="Hello"), "traceId": name} for name in ("b", "a", "b")]

    assert ["b", "a"] == [case.case_id for case in read(tmp_path, others)]


def test_a_tool_that_no_message_calls_is_shown_with_its_arguments(tmp_path: Path) -> None:
    runs = [
        row(
            "a", 1, parentObservationId="root", type="TOOL", name="look", input={"args": [1], "kwargs": {}}, output="A"
        ),
        row("b", 1, parentObservationId="root", type="TOOL", name="look", input={"args": [], "kwargs": {"n": 2}}),
    ]

    (case,) = read(tmp_path, [STEPS[0], *runs])

    assert [
        ("user", "Refund me."),
        ("tool_call", 'look {"args": [1], "kwargs": {}}'),
        ("tool_call", 'look {"n": 2}'),
        ("tool_result", "A"),
        ("assistant", "Done."),
    ] == of(case)
    assert [None, None, None, 1, None] == list(case.scenarios[0].execution.transcript.answered_calls())


def test_a_trace_without_input_has_it_in_its_observations() -> None:
    steps = [{**one, "input": json.loads(one["input"]), "output": json.loads(one["output"])} for one in STEPS]

    case = langfuse(None, None, observations=steps)

    assert EXCHANGE == of(case)


def test_costs_of_observations_are_summed(tmp_path: Path) -> None:
    (case,) = read(tmp_path, [{**STEPS[0], "totalCost": 0.25}, {**STEPS[1], "costDetails": {"total": 0.5}}])

    assert 0.75 == case.agent_cost


def test_the_failure_of_a_step_is_the_error_of_the_case(tmp_path: Path) -> None:
    (case,) = read(tmp_path, [STEPS[0], {**STEPS[1], "output": None, "level": "ERROR", "statusMessage": "429"}])

    assert "429" == case.scenarios[0].execution.error


def test_rows_without_input_and_output_are_refused_with_the_remedy(tmp_path: Path) -> None:
    bare = [{name: one for name, one in step.items() if name not in {"input", "output"}} for step in STEPS]

    with pytest.raises(CaseFileError, match=r"rows.jsonl:1: trace t: input: no observation .* fields=core,basic,io"):
        read(tmp_path, bare)


@pytest.mark.parametrize("trace", [["t"], {"t": 1}, 5, "t" * 201])
def test_a_trace_id_that_is_no_text_is_refused(trace: Any, tmp_path: Path) -> None:
    with pytest.raises(CaseFileError, match=r"rows\.jsonl:2: traceId: must be text"):
        read(tmp_path, [STEPS[0], {**STEPS[1], "traceId": trace}])


def test_observations_with_equal_ids_and_parents_in_a_cycle_are_read(tmp_path: Path) -> None:
    cycle = [{**one, "id": "same", "parentObservationId": "same"} for one in STEPS]
    pair = [{**STEPS[1], "id": "a", "parentObservationId": "b"}, {**STEPS[3], "id": "b", "parentObservationId": "a"}]

    assert EXCHANGE[-1] in of(read(tmp_path, cycle)[0])
    assert EXCHANGE == of(read(tmp_path, pair)[0])


def test_definitions_of_tools_among_messages_are_no_results(tmp_path: Path) -> None:
    definition = {"type": "function", "function": {"name": "look", "description": "d", "parameters": {}}}
    given = [ASKED, {"role": "tool", "content": definition}]

    (case,) = read(tmp_path, [row("one", 1, input=given, output=SAID)])

    assert [EXCHANGE[0], EXCHANGE[-1]] == of(case)
