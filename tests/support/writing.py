"""A debate that is written event by event, while it is read."""

from typing import Any

from jury_events import NewEvent, Statement, StatementMade, encode
from jury_store import Append, Appended, EventStore
from support.debates import JUROR, DebateScript


class Writing:
    """A debate that is being written, event by event."""

    def __init__(self, store: EventStore, debate_id: str = "d", seed: int = 1, **script: Any) -> None:
        self.script = DebateScript(debate_id, seed=seed, **script)
        self._store = store
        self._epoch = store.next_epoch()
        self._version = 0

    def write(self, *events: NewEvent) -> None:
        (answer,) = self._store.append([Append(self.script.stream, events, self._version, self._epoch)])
        assert isinstance(answer, Appended)
        self._version = answer.version

    def statement(self, text: str, round_: int = 1) -> NewEvent:
        script = self.script
        evaluation = script.evaluation()
        statement = Statement(order=0, statement=script.pen.make(text), evaluation=evaluation, position_changed=False)
        made = StatementMade(
            round=round_, juror_id=JUROR, statement=statement, peer_text=script.pen.make("shown"), exchanges=()
        )
        return encode(made, recorded_at=1, parts=script.pen.take())
