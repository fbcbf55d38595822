"""The tools of a seat, and a conversation that reads the record by them.

Laws. Items do not count as read that a model was shown which then gave no usable answer, nor those of a call that was
not answered, until the model that answers has read them. A failed call that names no items is made good by a later one
that is answered. Under `safety_filter: fallback` the next model is asked where an answer passes all the same.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jury_debate.artifacts import ToolAnswer, call_tool
from jury_debate.assignment import Assignment
from jury_debate.conversation import Reply, ToolTurn
from jury_debate.marking import mark, unmark
from jury_debate.prompts_1.texts import fill
from jury_debate.prompts_registry import load_prompts
from jury_debate.reading.coverage import items_not_read, record_read
from jury_debate.reading.record_tools import (
    AROUND,
    MOST_PLACES,
    MOST_READ_TURNS,
    READ_ITEMS,
    RECORD_TOOLS,
    RecordAnswer,
    RecordSearch,
    SearchedPlace,
    read_items,
    search_result,
    searched_text,
)
from jury_debate.rules_1.conversation import EvaluationConversation
from jury_debate.rules_1.evidence import KeptRecord, kept_record
from jury_debate.rules_1.window_conversation import counted, failed
from jury_debate.step_outcome import Answered, Blocked, Unanswered
from jury_events.case import Case
from jury_events.outcome import FailureReason
from jury_events.parts import PartRef, PartRegistry
from jury_events.reading import TOOLS, RecordRead
from jury_events.verdict import PASS

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


class ToolReadingConversation(EvaluationConversation):
    """The tools are offered as long as there is room for the results of one more turn."""

    def __init__(self, assignment: Assignment, parts: PartRegistry) -> None:
        self._read: list[tuple[int, int]] = []
        self._wanted: list[tuple[int, int]] = []
        self._call_failed = False
        self._shown = 0
        assert assignment.reading is not None
        self._reading = assignment.reading
        super().__init__(assignment, parts)

    def _start_model(self) -> None:
        """Another model has read nothing yet; what the one before was shown is to be read again."""
        self._wanted += self._read
        self._read, self._shown = [], 0
        super()._start_model()
        if self._wanted:
            self._ask_to_read(items_not_read(self._record.record, self._wanted, ()))

    def _ask_to_read(self, items: Sequence[str]) -> None:
        text = fill(
            load_prompts(self.assignment.prompts, self.assignment.language).texts.reading.to_read,
            items=", ".join(items),
        )
        asked = self._messages[-1]
        self._messages[-1] = asked._replace(parts=(*asked.parts, self.parts.make(f"\n\n{text}")))
        self._next_call()

    @property
    def offers_tools(self) -> bool:
        """See `StepConversation`."""
        turn = turn_bytes(self.assignment)
        room = self._reading.room or turn
        return self.assignment.tools and self._tool_turns < MOST_READ_TURNS and self._shown + turn <= room

    @property
    def tools_over(self) -> str:
        """See `StepConversation`."""
        return load_prompts(self.assignment.prompts, self.assignment.language).texts.reading.tools_read_over

    def _tool_turn(self, reply: Reply) -> None:
        if self.offers_tools:
            self._note_failures(reply.tools)
        super()._tool_turn(reply)

    def _note_failures(self, tools: Iterable[ToolTurn]) -> None:
        if any(tool.ok for tool in tools):
            self._call_failed = False
        for tool in tools:
            if not tool.ok:
                wanted = self._range_of(tool)
                self._wanted += [] if wanted is None else [wanted]
                self._call_failed |= wanted is None

    def _range_of(self, tool: ToolTurn) -> tuple[int, int] | None:
        """The bytes of the record that a call reads; None of one that reads none."""
        if tool.name != READ_ITEMS or tool.arguments is None:
            return None
        arguments = self.parts.content(tool.arguments.part).decode("utf-8", "replace")
        return record_answer(self.assignment, self._record, tool.name, arguments).read

    def _append_turn(self, reply: Reply) -> None:
        """See `StepConversation`; results of tools are shown with the turn."""
        super()._append_turn(reply)
        for tool in reply.tools:
            self._shown += len(self.parts.content(tool.result.part))
            if tool.ok and (read := self._range_of(tool)) is not None:
                self._read.append(read)

    @property
    def _record(self) -> KeptRecord:
        return kept_record(self.assignment, self.parts.content)

    def apply_reply(self, reply: Reply, window: str | None = None) -> None:
        """See `Conversation`."""
        super().apply_reply(reply, window)
        self._count_reading()

    def settle(self, window: str | None, *, again: bool) -> None:
        """See `Conversation`."""
        super().settle(window, again=again)
        self._count_reading()

    def _count_reading(self) -> None:
        if isinstance(self.outcome, Answered):
            read = self._record_read(self._wanted, self._read)
            passes_on_less = read.partly_read is not None and self.outcome.answer.verdict is PASS
            if not passes_on_less or self.assignment.answers.safety_filter != "fallback":
                self.outcome = counted(self.outcome, read, self.assignment)
                return
            self.outcome, self._read = None, []
            self._next_model(FailureReason.PARTLY_READ)
        if isinstance(self.outcome, Blocked | Unanswered):
            # What the last model was shown did not lead to an answer that counts.
            self.outcome = failed(self.outcome, self._record_read([*self._wanted, *self._read], []))

    def _record_read(self, wanted: list[tuple[int, int]], read: list[tuple[int, int]]) -> RecordRead:
        record = self._record.record
        not_read = (f"items {items}" for items in items_not_read(record, wanted, read))
        return record_read(
            record,
            "tools",
            read,
            parts=len(read),
            partly_read=(*not_read, *((TOOLS,) if self._call_failed else ())),
        )
