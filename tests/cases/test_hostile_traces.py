"""Traces that nobody would write: they are read, or refused by name in one line; many rows are kept on disk."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from jury_cases import CaseFileError, CaseFiles, CaseOptions
from support.otel_spans import chat, export, said


def asking(number: int, trace: str = "t", parent: str | None = None, text: str = "Q") -> dict[str, Any]:
    """A model call of a trace, which is asked something."""
    messages = [said("user", f"{text}{number}")]
    return {**chat(number, messages, []), "traceId": trace, "parent": parent}


def written(path: Path, spans: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(export([one]))}\n" for one in spans), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "spans",
    [
        [asking(1, parent="s1")],
        [asking(1, parent="s2"), asking(2, parent="s1")],
        [asking(1)] * 3,
        [asking(number, parent=f"s{number - 1}") for number in range(1, 800)],
    ],
    ids=["its own parent", "a cycle", "equal ids", "very deep"],
)
def test_an_odd_tree_is_one_case(tmp_path: Path, spans: list[dict[str, Any]]) -> None:
    (case,) = CaseFiles([written(tmp_path / "spans.jsonl", spans)])

    assert "Q1" in case.scenarios[0].question.prompt


@pytest.mark.parametrize(
    ("limit", "named"), [("MAX_PARTS", "3 rows"), ("MAX_CASE", "are read together")], ids=["spans", "bytes"]
)
def test_a_trace_that_is_too_large_is_refused_by_name_and_leaves_the_others(
    tmp_path: Path, limit: str, named: str
) -> None:
    spans = [asking(1), asking(1, "large"), asking(2, "large"), asking(3, "large", text="x" * 500), asking(4)]
    path = written(tmp_path / "spans.jsonl", spans)
    with patch(f"jury_cases.formats.format.{limit}", {"MAX_PARTS": 2, "MAX_CASE": 1200}[limit]):
        with pytest.raises(CaseFileError) as refused:
            list(CaseFiles([path]))
        found = [case.case_id for case in CaseFiles([path], CaseOptions(skip_unreadable=True))]

    assert "spans.jsonl:2: trace large has " in str(refused.value)
    assert named in str(refused.value)
    assert ["t"] == found


def test_spans_of_traces_that_do_not_stand_together_are_indexed_on_disk(tmp_path: Path) -> None:
    spans = [asking(number, f"t{trace}") for number in range(3) for trace in range(40)]
    path = written(tmp_path / "spans.jsonl", spans)
    in_memory = [case.to_part() for case in CaseFiles([path])]
    with patch("jury_cases.formats.format._IN_MEMORY", 1000):
        on_disk = [case.to_part() for case in CaseFiles([path])]

    assert in_memory == on_disk
    assert 40 == len(on_disk)
