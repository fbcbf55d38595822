"""Results of jurors' tool calls: artifact records, opinions of others, and items of a record that is read by tools."""

from collections.abc import Callable
from typing import Any

from jury_debate.artifact_tools import ToolAnswer, call_tool
from jury_debate.assignment import Assignment
from jury_debate.marking import mark, unmark
from jury_debate.prompts_registry import load_prompts
from jury_debate.reading.record_tools import (
    AROUND,
    MOST_PLACES,
    READ_ITEMS,
    RECORD_TOOLS,
    RecordAnswer,
    RecordSearch,
    SearchedPlace,
    read_items,
    search_result,
    searched_text,
)
from jury_debate.rules_1.kept_records import KeptRecord, kept_record
from jury_events.case import Case
from jury_events.parts import PartRef

_LEAST, _MOST = 400, 24_000
"""Bytes of the record in one result."""


_SHARE = 8
"""Of a call's room, one result has at most one part of so many."""


_FRAME = 300
"""Bytes that a result has beside its part of the record, about."""


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
    reading = assignment.reading
    if reading is None or reading.mode != "tools" or name not in RECORD_TOOLS or case is None:
        return _answer_with_records(assignment, name, arguments, index, case, text)
    most = calls_a_turn(assignment)
    if index >= most:
        error = f'{{"error":"at most {most} calls of {", ".join(RECORD_TOOLS)} in one turn"}}'
        return ToolAnswer(mark(error, assignment.marker), ok=False)
    kept = kept_record(assignment, lambda part: text(PartRef(part=part)))
    answer = record_answer(assignment, kept, name, arguments)
    return ToolAnswer(answer.text, answer.ok)


def _answer_with_records(  # noqa: PLR0917  (those of `answer_tool`)
    assignment: Assignment,
    name: str,
    arguments: str,
    index: int,
    case: Case | None,
    text: Callable[[PartRef], bytes],
) -> ToolAnswer:
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


def record_answer(assignment: Assignment, kept: KeptRecord, name: str, arguments: str) -> RecordAnswer:
    """The result of one of `RECORD_TOOLS`."""
    texts = load_prompts(assignment.prompts, assignment.language).texts
    if name == READ_ITEMS:
        return read_items(kept.record, arguments, texts, result_bytes(assignment))
    wanted = searched_text(arguments)
    return search_result(None if wanted is None else _search(kept, wanted), kept.record, texts)


def result_bytes(assignment: Assignment) -> int:
    """The bytes of the record in one result."""
    assert assignment.reading is not None
    room = assignment.reading.room or _MOST
    return max(_LEAST, min(_MOST, room // _SHARE))


def calls_a_turn(assignment: Assignment) -> int:
    """How many calls of one turn are answered: their results take at most half of a call's room."""
    assert assignment.reading is not None
    room = assignment.reading.room or _MOST
    fitting = room // (2 * (result_bytes(assignment) + _FRAME))
    return max(1, min(assignment.artifacts.max_calls, fitting))


def turn_bytes(assignment: Assignment) -> int:
    """The bytes that the results of one turn take at most, about."""
    return calls_a_turn(assignment) * (result_bytes(assignment) + _FRAME)


def _search(kept: KeptRecord, wanted: str) -> RecordSearch:
    places: list[SearchedPlace] = []
    total = 0
    for number, found in kept.items.occurrences(wanted):
        total += 1
        item = kept.items.item(number) if len(places) < MOST_PLACES else None
        if item is not None:
            places.append(SearchedPlace(number, item.around(found, AROUND)))
    return RecordSearch(tuple(places), total)
