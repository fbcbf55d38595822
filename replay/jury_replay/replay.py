"""Replay: recompute debates from their recorded answers, under the recorded rules and prompts, and compare."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from jury_debate.errors import DebateError
from jury_debate.rules_registry import rules_of
from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError, UnknownPart
from jury_replay.comparison import differences
from jury_replay.difference import ReplayDifference
from jury_replay.integrity import check_debate
from jury_replay.replayer import Replayer, crash_message, pen_of, reopen
from jury_replay.selection import DebateSelection, spread
from jury_store.event_store import EventStore


class ReplayStatus(StrEnum):
    """equal: the same events, texts, prompts and tool results. erased: texts that the replay needs were erased, on
    record. unreadable: the record is damaged; `jury verify` says where.
    """

    EQUAL = "equal"
    DIFFERENT = "different"
    ERASED = "erased"
    UNREADABLE = "unreadable"


class Replayed(NamedTuple):
    """The result of a replay. `events`: how many were compared; `finished`: the debate had ended.

    `differences` are empty unless the status is `different`, the first event that differs before prompts and calls.
    `detail` says what is erased or unreadable.
    """

    debate_id: str
    status: ReplayStatus
    events: int = 0
    finished: bool = False
    rules: int | None = None
    prompts: int | None = None
    differences: tuple[ReplayDifference, ...] = ()
    detail: str | None = None


def replay(store: EventStore, selection: DebateSelection, *, url: str = "", processes: int = 1) -> Iterator[Replayed]:
    """Replay debates, in the order of the selection, in memory that does not grow with their number.

    Args:
        url: of the store; needed for more than one process.
    """
    for replayed in spread(store, selection.chunks(store), replay_chunk, url=url, processes=processes):
        yield from replayed


def replay_chunk(store: EventStore, debate_ids: Sequence[str]) -> list[Replayed]:
    """Replay some debates of a store; an altered one is unreadable."""
    return [_replay_recorded(history) for history in store.histories(debate_ids)]


def _replay_recorded(history: DebateHistory) -> Replayed:
    failure = next(iter(check_debate(history).failures), None)
    found = replay_history(history)
    if failure is None or found.status is not ReplayStatus.EQUAL:
        return found
    return found._replace(status=ReplayStatus.UNREADABLE, detail=f"it was altered: {failure}")


def replay_history(history: DebateHistory) -> Replayed:
    """Replay one debate."""
    try:
        opened = history.opened
        events = list(history.events)
        assert history.exchanges_by_id is not None  # decodes them
    except EventError as error:
        return Replayed(history.debate_id, ReplayStatus.UNREADABLE, detail=str(error))
    found = Replayed(
        history.debate_id, ReplayStatus.EQUAL, events=len(events), rules=opened.rules, prompts=opened.prompts
    )
    try:
        different = differences(history, replay_recorded(history))
    except UnknownPart as error:
        status = ReplayStatus.ERASED if error.part in history.erased else ReplayStatus.UNREADABLE
        return found._replace(status=status, detail=str(error))
    except (EventError, DebateError) as error:
        return found._replace(status=ReplayStatus.UNREADABLE, detail=str(error))
    except Exception as error:  # noqa: BLE001  (one debate on which the rules fail does not stop the audit of others)
        return found._replace(status=ReplayStatus.UNREADABLE, detail=crash_message(history.debate_id, error))
    status = ReplayStatus.DIFFERENT if different else ReplayStatus.EQUAL
    return found._replace(status=status, differences=tuple(different), finished=history.finished)


def replay_recorded(history: DebateHistory) -> Replayer:
    """Replay a debate under the rules and prompts that it names, to its end."""
    pen = pen_of(history)
    opened = reopen(history, rules_of(history.opened.rules), pen)
    return Replayer(history, opened, pen).run()
