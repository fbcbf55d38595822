"""Files of tracing tools: traces spread over lines, and hostile ones, which are read or refused in one line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jury_cases.errors import CaseFileError
from jury_cases.files import CaseFiles
from jury_events.case import Case

Make = Callable[[str, str, str | None], dict[str, Any]]


def phoenix(trace: str, span: str, parent: str | None) -> dict[str, Any]:
    return {
        "span_kind": "LLM",
        "name": "ask",
        "parent_id": parent,
        "context": {"trace_id": trace, "span_id": span},
        "attributes": {"input.value": f"asked {span}", "output.value": f"said {span}"},
    }


def langsmith(trace: str, span: str, parent: str | None) -> dict[str, Any]:
    values = {"inputs": {"input": f"asked {span}"}, "outputs": {"output": f"said {span}"}}
    return {"id": span, "trace_id": trace, "parent_run_id": parent, "run_type": "llm", "name": "ask", **values}


def agents(trace: str, span: str, parent: str | None) -> dict[str, Any]:
    said = {"input": [{"role": "user", "content": f"asked {span}"}]}
    said |= {"output": [{"role": "assistant", "content": f"said {span}"}]}
    ids = {"id": span, "trace_id": trace, "parent_id": parent}
    return {"object": "trace.span", **ids, "span_data": {"type": "generation", **said}, "error": None}


LINES: tuple[Make, ...] = (phoenix, langsmith, agents)


def read(folder: Path, *lines: Any) -> list[Case]:
    path = folder / "traces.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return list(CaseFiles([path]))


def said(case: Case) -> list[str]:
    return [item.text for item in case.scenarios[0].execution.transcript.items if item.kind in {"user", "assistant"}]


@pytest.mark.parametrize("make", LINES)
def test_spans_of_two_traces_between_each_other_are_two_cases(tmp_path: Path, make: Make) -> None:
    cases = read(tmp_path, make("t1", "a", None), make("t2", "b", None), make("t1", "c", None))

    assert ["t1", "t2"] == [case.case_id for case in cases]
    assert [["asked a", "said a", "asked c", "said c"], ["asked b", "said b"]] == [said(case) for case in cases]
    assert "t1" == cases[0].metadata["trace_id"]


@pytest.mark.parametrize("make", LINES)
def test_spans_whose_parents_form_a_cycle_are_read(tmp_path: Path, make: Make) -> None:
    (case,) = read(tmp_path, make("t1", "a", "b"), make("t1", "b", "a"))

    assert {"asked a", "said a", "asked b", "said b"} == set(said(case))


@pytest.mark.parametrize("make", [phoenix, agents])
def test_spans_with_equal_ids_are_all_read(tmp_path: Path, make: Make) -> None:
    first, second = make("t1", "a", None), make("t1", "b", None)
    second = json.loads(json.dumps(second).replace('"b"', '"a"'))

    (case,) = read(tmp_path, first, second)

    assert {"asked a", "said a", "asked b", "said b"} == set(said(case))


def test_parts_of_a_run_that_were_sent_one_after_the_other_are_one_run(tmp_path: Path) -> None:
    run = langsmith("r1", "r1", None)
    begun = {name: value for name, value in run.items() if name != "outputs"}
    ended = {"id": "r1", "trace_id": "r1", "outputs": run["outputs"], "run_type": "llm"}

    (case,) = read(tmp_path, {"post": [begun], "patch": [ended]})

    assert ["asked r1", "said r1"] == said(case)


def test_deep_child_runs_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    depth = 100_000
    head = '{"id": "r", "run_type": "chain", "inputs": {}, "child_runs": ['
    path = tmp_path / "run.jsonl"
    path.write_text(head * depth + "]}" * depth + "\n", encoding="utf-8")

    with pytest.raises(CaseFileError) as refused:
        list(CaseFiles([path]))

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("make", LINES)
def test_deep_values_inside_texts_are_read_or_refused_in_one_line(tmp_path: Path, make: Make) -> None:
    deep = json.dumps(make("t1", "a", None)).replace("asked a", "[" * 50_000 + "]" * 50_000)
    path = tmp_path / "traces.jsonl"
    path.write_text(f"{deep}\n", encoding="utf-8")
    try:
        result = [case.case_id for case in CaseFiles([path])]
    except CaseFileError as error:
        result = [str(error)]

    assert not any("\n" in line for line in result)
