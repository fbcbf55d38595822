"""Quarantine of debates, and release from it. Both are events; nothing is moved."""

import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress

from pydantic import ValidationError

from jury_events.codec import LocalEvent, encode
from jury_events.envelope import StoredEvent
from jury_events.errors import DebateNotFound, EventError
from jury_events.ids import local_stream, stream_debate
from jury_events.local_events import DebateQuarantined, DebateReleased
from jury_events.local_facts import LocalFacts, local_facts
from jury_replay.errors import QuarantineRefused
from jury_store.errors import StoreDamaged, StoreError, WrongVersion
from jury_store.event_store import Append, EventStore

_READ_AT_ONCE = 500
_ATTEMPTS = 5


def now() -> int:
    """Microseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1000


def set_aside(store: EventStore, debate_ids: Collection[str]) -> set[str]:
    """Those of the debates that are in quarantine; where that cannot be read, the debate is not."""
    wanted = [local_stream(one) for one in debate_ids]
    found: dict[str, list[StoredEvent]] = {}
    for start in range(0, len(wanted), _READ_AT_ONCE):
        chunk = wanted[start : start + _READ_AT_ONCE]
        try:
            found |= store.read_streams(chunk)
        except StoreDamaged:
            for one in chunk:
                with suppress(StoreDamaged):
                    found |= store.read_streams([one])
    return {stream_debate(name) for name, events in found.items() if is_set_aside(events)}


def is_set_aside(events: Iterable[StoredEvent]) -> bool:
    """Whether a stream `local/` puts the debate in quarantine; a stream that does not decode does not."""
    try:
        return local_facts(events).quarantine is not None
    except (EventError, TypeError):
        return False


def quarantine(store: EventStore, debate_id: str, *, by: str, reason: str, clock: Callable[[], int] = now) -> bool:
    """Put a debate in quarantine: reads of many debates leave it out from now on. False: it is there already.

    Args:
        by, reason: who does it and why, one line each; recorded.
        clock: microseconds since 1970-01-01 UTC.
    """
    return _add(
        store,
        debate_id,
        lambda facts: (
            None
            if facts.quarantine is not None
            else DebateQuarantined(by=by, reason=reason, number=facts.quarantines + 1)
        ),
        clock,
    )


def release(store: EventStore, debate_id: str, *, by: str, clock: Callable[[], int] = now) -> bool:
    """Release a debate from quarantine. False: it is in none. Arguments and errors as of `quarantine`."""
    return _add(
        store,
        debate_id,
        lambda facts: None if facts.quarantine is None else DebateReleased(by=by, number=facts.quarantine.number),
        clock,
    )


def _add(
    store: EventStore, debate_id: str, event: Callable[[LocalFacts], LocalEvent | None], clock: Callable[[], int]
) -> bool:
    for _ in range(_ATTEMPTS):
        (history,) = store.histories([debate_id])
        if not history.streams and not history.parts:
            raise DebateNotFound.named(debate_id)
        try:
            new = event(history.local)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            raise QuarantineRefused(
                f"{'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}; it is recorded in "
                "one line of at most 300 characters"
            ) from None
        if new is None:
            return False
        append = Append(local_stream(debate_id), (encode(new, recorded_at=clock()),), len(history.stored_local))
        (answer,) = store.append([append])
        if not isinstance(answer, StoreError):
            return True
        if not isinstance(answer, WrongVersion):
            raise answer
    raise WrongVersion(f"debate {debate_id}: other processes keep writing to it; try again")
