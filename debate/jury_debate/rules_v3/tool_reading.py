"""A step that reads the record by tools, from an outline; how much of it was read follows from the calls."""

from jury_debate.assignment import Assignment
from jury_debate.conversation import Reply
from jury_debate.prompts_v2.prompts import load_prompts
from jury_debate.reading.coverage import record_read
from jury_debate.reading.record_tools import MOST_READ_TURNS, READ_ITEMS
from jury_debate.rules_v3.kept_records import KeptRecord, kept_record
from jury_debate.rules_v3.least_read import with_reading
from jury_debate.rules_v3.record_reading import record_answer, turn_bytes
from jury_debate.rules_v3.window_conversation import ReaderConversation
from jury_debate.step_outcome import Answered
from jury_events.parts import PartRegistry


class ToolReadingConversation(ReaderConversation):
    """The tools are offered as long as there is room for the results of one more turn."""

    def __init__(self, assignment: Assignment, parts: PartRegistry) -> None:
        self._read: list[tuple[int, int]] = []
        self._shown = 0
        assert assignment.reading is not None
        self._reading = assignment.reading
        super().__init__(assignment, parts)

    def _start_model(self) -> None:
        """Another model has read nothing yet."""
        self._read, self._shown = [], 0
        super()._start_model()

    @property
    def offers_tools(self) -> bool:
        """See `rules_v1`."""
        turn = turn_bytes(self.assignment)
        room = self._reading.room or turn
        return self.assignment.tools and self._tool_turns < MOST_READ_TURNS and self._shown + turn <= room

    @property
    def tools_over(self) -> str:
        """See `rules_v1`."""
        return load_prompts(self.assignment.language).texts.reading.tools_read_over

    def _append_turn(self, reply: Reply) -> None:
        """See `rules_v1`; results of tools are shown with the turn."""
        super()._append_turn(reply)
        for tool in reply.tools:
            self._shown += len(self.parts.content(tool.result.part))
            if tool.name == READ_ITEMS and tool.ok and tool.arguments is not None:
                arguments = self.parts.content(tool.arguments.part).decode("utf-8", "replace")
                read = record_answer(self.assignment, self._record, tool.name, arguments).read
                self._read += [] if read is None else [read]

    @property
    def _record(self) -> KeptRecord:
        return kept_record(self.assignment, self.parts.content)

    def apply_reply(self, reply: Reply, window: str | None = None) -> None:
        """See `Conversation`."""
        super().apply_reply(reply, window)
        if isinstance(self.outcome, Answered):
            read = record_read(self._record.record, "tools", self._read, parts=len(self._read))
            answer = with_reading(self.outcome.answer, read, self._reading.least_read, self.assignment.spec)
            self.outcome = self.outcome._replace(answer=answer)
