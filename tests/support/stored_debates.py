"""Debates of the harness in a store, as a run records them."""

import hashlib

from jury_events.codec import encode
from jury_events.envelope import NewEvent
from jury_events.ids import debate_stream
from jury_events.parts import make_part
from jury_store.event_store import Append, EventStore
from support.debate_harness import DebateHarness


def store_debate(
    store: EventStore, debate: DebateHarness, debate_id: str, *, run_id: str | None = "r1", case_id: str | None = None
) -> None:
    """Append the events of a debate under another id, as one of models; its case has the same id, or `case_id`."""
    opened, *later = debate.events
    ids = {"debate_id": debate_id, "case_id": case_id or debate_id, "run_id": run_id}
    events = [opened.changed(**ids, simulated=False), *later]
    parts = tuple(make_part(text, hashlib.sha256(text).digest()[:16]) for text in debate.pen.texts.values())
    new = [encode(event, recorded_at=1) for event in events]
    new[0] = NewEvent(*new[0][:5], parts)
    (answer,) = store.append([Append(debate_stream(debate_id), tuple(new), 0, store.next_epoch())])
    if isinstance(answer, Exception):
        raise answer
