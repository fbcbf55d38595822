"""Debates for readers that show them: what was altered is refused, not shown as if it were sound.

Each stream is checked from its first event to its head, every text against its salted digest, and the recorded imports.
Not the lists, which are made anew from the log, and not what the log as a whole shows (`jury verify --all`).
"""

from collections.abc import Iterable, Iterator, Sequence

from jury_events.codec import decode
from jury_events.debate_history import DebateHistory
from jury_events.errors import DebateNotFound, EventError, UnknownEventType
from jury_replay.errors import RecordDamaged
from jury_replay.integrity import IntegrityFailure, check_debate, import_failures
from jury_store.event_store import EventStore


def intact_history(store: EventStore, debate_id: str) -> DebateHistory:
    """Everything that is recorded of one debate, whole and unaltered."""
    (history,) = intact_histories(store, [debate_id])
    if not history.stored_events:
        raise DebateNotFound.named(debate_id)
    _ = history.opened, list(history.events), history.exchanges_by_id
    return history


def intact_histories(store: EventStore, debate_ids: Sequence[str]) -> list[DebateHistory]:
    """The same of several debates, in this order; empty where nothing is stored of one."""
    histories = store.histories(debate_ids)
    require_intact(store, histories)
    return histories


def require_intact(store: EventStore, histories: Iterable[DebateHistory]) -> None:
    """Refuse debates that were altered, as they were read from `store`."""
    found = [one for one in histories if one.streams or one.heads or one.parts]
    origins = store.origins([one.debate_id for one in found]) if found else {}
    for history in found:
        debate_id = history.debate_id
        failure = next(_failures(history, origins.get(debate_id)), None)
        if failure is not None:
            _check_known(history, failure)
            raise RecordDamaged(
                f"debate {debate_id} was altered: {failure}; jury verify {debate_id} looks at all of it, "
                f"jury db quarantine {debate_id} --by WHO --reason WHY sets it aside"
            )


def altered(store: EventStore, histories: Iterable[DebateHistory]) -> set[str]:
    """The ids of those of these debates, as they were read from `store`, that were altered."""
    found = list(histories)
    origins = store.origins([one.debate_id for one in found]) if found else {}
    return {one.debate_id for one in found if any(True for _ in _failures(one, origins.get(one.debate_id)))}


def _failures(history: DebateHistory, origin: bytes | None) -> Iterator[IntegrityFailure]:
    yield from check_debate(history).failures
    if origin is None:
        yield from import_failures(history, None)
    else:
        from jury_replay.cassettes.provenance import origin_failures  # noqa: PLC0415  (slow to import: cryptography)

        yield from origin_failures(history, origin)


def _check_known(history: DebateHistory, failure: IntegrityFailure) -> None:
    """Raise `UnknownEventType` where that is the failure: the remedy is another one."""
    for event in history.streams.get(failure.stream, ()):
        if event.version == failure.version:
            try:
                decode(event)
            except UnknownEventType as error:
                if str(error) == failure.what:
                    raise
            except EventError:
                return
