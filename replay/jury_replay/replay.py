"""Replay: recompute debates from their recorded answers, under the recorded rules and prompts, and compare."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from jury_debate.errors import DebateError
from jury_debate.rules_registry import rules_of
from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateOpened
from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError, UnknownPart
from jury_replay.difference import DifferenceKind, FieldChange, ReplayDifference, split_changes, with_texts
from jury_replay.integrity import check_debate
from jury_replay.replayer import Replayer, crash_message, pen_of, reopen
from jury_replay.selection import DebateSelection, spread
from jury_store.event_store import EventStore

_CAUSES = {
    "debate_opened": "the debate opens differently",
    "juror_evaluated": "answers give another outcome (the parser, or the rules for an evaluation)",
    "juror_abstained": "answers give another outcome (the parser, or when a seat fails)",
    "seats_not_asked": "the seats that are not asked differ (when what is decided counts as settled)",
    "reasoning_shown": "the agent's reasoning is shown at another place, or not at all",
    "statement_made": "answers give another outcome (the parser, or when a position counts as changed)",
    "round_started": "the round starts differently (speaker order)",
    "consensus_checked": "the consensus check differs (the threshold, or when a discussion ends)",
    "judgment_rendered": "the judgment differs (method, ties, bands, quorum, rounding, acceptance)",
    "debate_completed": "the debate completes differently",
}


def differences(history: DebateHistory, replayer: Replayer, *, same_versions: bool = True) -> list[ReplayDifference]:
    """All differences: of events in the order of the record, then of prompts, calls and tools.

    Args:
        replayer: of it, after `run`. Beyond the end of an unfinished debate's record nothing is compared.
        same_versions: both have the same rules and prompts versions; else those two numbers may differ.
    """
    before, now = list(history.events), list(replayer.events)
    if not history.finished:
        now = now[: len(before)]
    events = [*_event_differences(before, now, replayer, same_versions=same_versions)]
    return [*sorted(events, key=lambda one: one.version or len(before)), *replayer.differences]


def _event_differences(
    before: list[DebateEvent], now: list[DebateEvent], replayer: Replayer, *, same_versions: bool
) -> Iterator[ReplayDifference]:
    yield from _course_difference(before, now, replayer)
    replayed = {event.event_id: event for event in now}
    for version, old in enumerate(before, 1):
        new = replayed.pop(old.event_id, None)
        if new is not None and new != old:
            yield from _body_differences(version, old, new, replayer, same_versions=same_versions)
    for event in replayed.values():
        change = FieldChange("event", None, with_texts(event, replayer.text))
        yield ReplayDifference(DifferenceKind.EVENT, event.event_id, (change,), "this event is not recorded")


def _course_difference(
    before: list[DebateEvent], now: list[DebateEvent], replayer: Replayer
) -> Iterator[ReplayDifference]:
    """Where the sequences of event ids first differ."""
    old, new = [event.event_id for event in before], [event.event_id for event in now]
    if old == new:
        return
    at = next(
        (n for n, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(map(len, (old, new)))
    )
    place = old[at] if at < len(old) else new[at]
    change = FieldChange("events", old[at:] or None, new[at:] or None)
    yield ReplayDifference(DifferenceKind.EVENT, place, (change,), _course_cause(at < len(new), replayer), at + 1)


def _course_cause(continues: bool, replayer: Replayer) -> str:
    if not continues and replayer.missing is not None:
        step, call = replayer.missing
        part = "" if call.window is None else f", part {call.window}"
        asked = f"{call.model}{part}, turn {call.turn}, try {call.attempt}"
        return f"{step.id} makes another call ({asked}), and its answer is not recorded"
    return f"from here on other events follow; rules version {replayer.debate.state.debate.rules}"


def _body_differences(
    version: int, old: DebateEvent, new: DebateEvent, replayer: Replayer, *, same_versions: bool
) -> Iterator[ReplayDifference]:
    before, now = with_texts(old, replayer.text), with_texts(new, replayer.text)
    if isinstance(old, DebateOpened) and not same_versions:
        before |= {name: now[name] for name in ("rules", "prompts")}
    facts, pieces = split_changes(old.type, before, now)
    if facts:
        yield ReplayDifference(DifferenceKind.EVENT, old.event_id, facts, _cause(old, replayer), version)
    if pieces:
        prompts = replayer.debate.state.debate.prompts
        cause = f"prompts differ (prompts version {prompts}, or the texts that they are made of)"
        yield ReplayDifference(DifferenceKind.PROMPT, old.event_id, pieces, cause, version)


def _cause(event: DebateEvent, replayer: Replayer) -> str:
    version = replayer.debate.state.debate.rules
    return f"{_CAUSES.get(event.type, 'the event is impossible here')}; rules version {version}"


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
