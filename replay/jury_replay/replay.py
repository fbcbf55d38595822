"""Whether what is recorded follows from what the models said, under the rules and prompts that the log names."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from jury_debate.errors import DebateError
from jury_debate.rules_registry import rules_of
from jury_events.errors import EventError, UnknownPart
from jury_replay.comparison import differences
from jury_replay.difference import Difference
from jury_replay.errors import RecordDamaged
from jury_replay.recorded import RecordedDebate, broken, opened_again, read_recorded
from jury_replay.retelling import Retelling
from jury_replay.selection import Selection, spread
from jury_store.event_store import EventStore
from jury_store.inventory import DebateRecord


class Status(StrEnum):
    """equal: the same events, texts, prompts and tool answers. erased: texts that would be needed were erased, on
    record. unreadable: the record does not hold together; `jury verify` says where.
    """

    EQUAL = "equal"
    DIFFERENT = "different"
    ERASED = "erased"
    UNREADABLE = "unreadable"


class Replayed(NamedTuple):
    """What a replay came to. `events` of the debate were compared; `finished`: the debate had come to its end.

    `differences` are empty unless the status is `different`, the first event that differs before prompts and calls.
    `detail` says what is erased or unreadable.
    """

    debate_id: str
    status: Status
    events: int = 0
    finished: bool = False
    rules: int | None = None
    prompts: int | None = None
    differences: tuple[Difference, ...] = ()
    detail: str | None = None


def replay(store: EventStore, selection: Selection, *, url: str = "", processes: int = 1) -> Iterator[Replayed]:
    """Replay debates, in the order of the selection, in memory that does not grow with their number.

    Args:
        store: open for reading.
        selection: which debates.
        url: of the store; needed for more than one process.
        processes: how many work.

    Raises:
        StoreError: the database cannot be read.
        DebateMissing: a debate that is named does not exist.
    """
    for replayed in spread(store, selection.chunks(store), replay_chunk, url=url, processes=processes):
        yield from replayed


def replay_chunk(store: EventStore, debate_ids: Sequence[str]) -> list[Replayed]:
    """Replay some debates of a store."""
    return [replay_record(record) for record in store.records(debate_ids)]


def replay_record(record: DebateRecord) -> Replayed:
    """Replay one debate.

    Raises:
        DebateMissing: nothing is stored of it.
    """
    try:
        recorded = read_recorded(record)
    except (EventError, RecordDamaged) as error:
        return Replayed(record.debate_id, Status.UNREADABLE, detail=str(error))
    found = Replayed(
        record.debate_id,
        Status.EQUAL,
        events=len(recorded.events),
        rules=recorded.opened.rules,
        prompts=recorded.opened.prompts,
    )
    try:
        retelling = tell_again(recorded)
        different = differences(recorded, retelling)
    except UnknownPart as error:
        status = Status.ERASED if error.part in recorded.erased else Status.UNREADABLE
        return found._replace(status=status, detail=str(error))
    except (EventError, DebateError) as error:
        return found._replace(status=Status.UNREADABLE, detail=str(error))
    except Exception as error:  # noqa: BLE001  (one debate that breaks the rules keeps no other from its audit)
        return found._replace(status=Status.UNREADABLE, detail=broken(record.debate_id, error))
    status = Status.DIFFERENT if different else Status.EQUAL
    return found._replace(status=status, differences=tuple(different), finished=recorded.finished)


def tell_again(recorded: RecordedDebate) -> Retelling:
    """The debate held again under the rules and prompts that it names.

    Raises:
        UnknownPart: a text that is needed is not there.
        DebateError: the rules or prompts are not known here, or a recorded input cannot have happened.
    """
    pen = recorded.pen()
    opened = opened_again(recorded, rules_of(recorded.opened.rules), pen)
    return Retelling(recorded, opened, pen).hold()
