"""Debates of the harness in a store, as a run records them."""

import hashlib
import json

from jury_events import NewEvent, debate_stream, encode, make_part, refs_in
from jury_store import Append, EventStore
from support.debate_harness import DebateHarness


def store_debate(
    store: EventStore, debate: DebateHarness, debate_id: str, *, run_id: str | None = "r1", case_id: str | None = None
) -> None:
    """Append the events of a debate under another id, as one of models; its case has the same id, or `case_id`.

    The harness has no model calls, so the events name none.
    """
    opened, *later = debate.events
    ids = {"debate_id": debate_id, "case_id": case_id or debate_id, "run_id": run_id}
    events = [
        opened.changed(**ids, simulated=False),
        *(one.changed(exchanges=()) if getattr(one, "exchanges", ()) else one for one in later),
    ]
    new = [encode(event, recorded_at=1) for event in events]
    named = {ref for one in new for ref in refs_in(json.loads(one.body))}
    made = (make_part(text, hashlib.sha256(text).digest()[:16]) for text in debate.pen.texts.values())
    parts = tuple(part for part in made if part.ref.part in named)
    new[0] = NewEvent(*new[0][:5], parts)
    (answer,) = store.append([Append(debate_stream(debate_id), tuple(new), 0, store.next_epoch())])
    if isinstance(answer, Exception):
        raise answer
