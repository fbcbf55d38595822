"""Results of jurors' tool calls."""

from collections.abc import Callable
from typing import Any

from jury_debate.artifact_tools import ToolAnswer, call_tool
from jury_debate.assignment import Assignment
from jury_debate.marking import mark, unmark
from jury_events.case import Case
from jury_events.parts import PartRef


def answer_tool(
    assignment: Assignment,
    name: str,
    arguments: str,
    *,
    index: int,
    case: Case | None,
    text: Callable[[PartRef], bytes],
) -> ToolAnswer:
    """See `Rules.answer_tool`."""
    most = assignment.artifacts.max_calls
    if case is None:
        answer = ToolAnswer('{"error":"tools are not available; answer now"}', ok=False)
    elif index >= most:
        answer = ToolAnswer(f'{{"error":"at most {most} tool calls in one turn"}}', ok=False)
    else:
        answer = call_tool(name, arguments, case, _opinions(assignment, text))
    return ToolAnswer(mark(answer.result_text, assignment.marker), answer.ok)


def _opinions(assignment: Assignment, text: Callable[[PartRef], bytes]) -> list[dict[str, Any]] | None:
    if assignment.opinions is None:
        return None
    return [
        {
            "juror": opinion.letter,
            "round": opinion.round,
            "verdict": opinion.verdict,
            "score": opinion.score,
            "confidence": opinion.confidence,
            "opinion": unmark(text(opinion.peer_text).decode("utf-8"), assignment.marker),
        }
        for opinion in assignment.opinions
    ]
