"""A step that reads the record by tools, from an outline; how much of it was read follows from the calls.

Laws. Items do not count as read that a model was shown which then gave no usable answer, nor those of a call that was
not answered, until the model that answers has read them. A failed call that names no items is made good by a later one
that is answered. Under `safety_filter: fallback` the next model is asked where an answer passes all the same."""

from collections.abc import Iterable, Sequence

from jury_debate.assignment import Assignment
from jury_debate.conversation import Reply, ToolTurn
from jury_debate.prompts_1.texts import fill
from jury_debate.prompts_registry import load_prompts
from jury_debate.reading.coverage import items_not_read, record_read
from jury_debate.reading.record_tools import MOST_READ_TURNS, READ_ITEMS
from jury_debate.rules_1.conversation import EvaluationConversation
from jury_debate.rules_1.kept_records import KeptRecord, kept_record
from jury_debate.rules_1.partly_read import counted, failed
from jury_debate.rules_1.tools import record_answer, turn_bytes
from jury_debate.step_outcome import Answered, Blocked, Unanswered
from jury_events.outcome import FailureReason
from jury_events.parts import PartRegistry
from jury_events.reading import TOOLS, RecordRead
from jury_events.verdict import PASS


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
