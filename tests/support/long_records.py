"""Records that are longer than a seat's window, and answers of jurors who read them in parts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jury_debate import Assignment
from jury_events import (
    Case,
    ExecutionResult,
    Item,
    Message,
    QuestionSpec,
    Reasoning,
    Scenario,
    ToolCall,
    ToolResult,
    Transcript,
)

WINDOW = 8_000
"""Tokens; about 9,000 bytes of a record are read at once."""


def a_long_case(
    steps: int = 40, *, size: int = 900, planted: Mapping[int, str] | None = None, thoughts: bool = False
) -> Case:
    """A session of a coding agent: a request, steps of a call and its result, a final response.

    Args:
        steps: of calls and results.
        size: characters of a result.
        planted: arguments of calls by the number of their step, from 0.
        thoughts: the agent thinks before each call, as long as its result is.
    """
    items: list[Item] = [Message(kind="user", origin="user", text="Tidy up the folder.")]
    for step in range(steps):
        if thoughts:
            items.append(Reasoning(text="\n".join(f"I think of {step}-{line}." for line in range(size // 16))))
        arguments = (planted or {}).get(step, f'{{"command": "ls folder-{step}"}}')
        items.append(ToolCall(name="bash", arguments=arguments, call_id=f"c{step}"))
        lines = "\n".join(f"file-{step}-{number}.txt" for number in range(size // 16))
        items.append(ToolResult(name="bash", text=lines, call_id=f"c{step}"))
    items.append(Message(kind="assistant", origin="model", text="The folder is tidy."))
    scenario = Scenario(
        scenario_id="s1",
        question=QuestionSpec(prompt="Tidy up the folder."),
        execution=ExecutionResult(transcript=Transcript(items=tuple(items)), response="The folder is tidy."),
    )
    return Case(case_id="long", scenarios=(scenario,))


def findings_answer(
    assignment: Assignment,
    *findings: Mapping[str, Any],
    decisive: Sequence[int] = (),
    wanted: Sequence[int] = (),
) -> bytes:
    """What a juror found in a part; each finding has a text, and perhaps a criterion and evidence."""
    written = [{"criterion": None, "evidence": [], **one} for one in findings]
    if assignment.spec.evidence is None:
        written = [{name: value for name, value in one.items() if name != "evidence"} for one in written]
    answer = {
        "ballot": assignment.spec.ballot,
        "findings": written,
        "decisive": list(decisive),
        "wanted": list(wanted),
    }
    return json.dumps(answer).encode()


def quotation(item: int, quote: str, says: str = "against") -> dict[str, Any]:
    """An entry of evidence."""
    return {"item": item, "quote": quote, "says": says, "criterion": None, "seat": None}
