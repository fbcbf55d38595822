"""A step that is shown only the items that jurors cite: a round, or the final judgment, about a long record."""

from jury_debate.assignment import Assignment, CallMessage
from jury_debate.conversation import Reply
from jury_debate.prompts_v2.prompts import load_prompts
from jury_debate.reading.cited_items import cited_bytes, cited_items
from jury_debate.reading.coverage import record_read
from jury_debate.reading.guide import guide
from jury_debate.reading.outline import RecordOutline
from jury_debate.rules_v3.kept_records import kept_record
from jury_debate.rules_v3.least_read import with_reading
from jury_debate.rules_v3.window_conversation import ReaderConversation
from jury_debate.step_outcome import Answered
from jury_events.parts import PartRegistry

_GUIDE = 24_000


class CitedConversation(ReaderConversation):
    """The assignment's messages, with the cited items behind the guide."""

    def __init__(self, assignment: Assignment, parts: PartRegistry) -> None:
        reading = assignment.reading
        assert reading is not None
        record, texts = kept_record(assignment, parts.content).record, load_prompts(assignment.language).texts
        items = cited_items(record, reading.cited, texts, cited_bytes(reading.room))
        blocks = [texts.reading.cited, texts.reading.not_all, items.text or texts.reading.no_cited]
        shown = [parts.make("\n\n".join(blocks) + "\n\n")]
        if reading.guide is None:
            most = min(_GUIDE, len(record.content) // 8)
            shown.insert(0, parts.make(guide(record, RecordOutline(record, texts.reading), texts, most)))
        system, user = assignment.messages
        head, turn = user.parts[: user.shared], user.parts[user.shared :]
        message = CallMessage("user", (*head, *shown, *turn), shared=len(head) + len(shown))
        self._read = reading.earlier or record_read(record, "cited", items.ranges, parts=1)
        self._least = reading.least_read
        super().__init__(assignment._replace(messages=(system, message)), parts)

    def apply_reply(self, reply: Reply, window: str | None = None) -> None:
        """See `Conversation`."""
        super().apply_reply(reply, window)
        if isinstance(self.outcome, Answered):
            answer = with_reading(self.outcome.answer, self._read, self._least)
            self.outcome = self.outcome._replace(answer=answer)
