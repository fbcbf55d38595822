"""What was recorded against what was told again, event by event."""

from collections.abc import Iterator

from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateOpened
from jury_replay.difference import Difference, FieldChange, Kind, as_told, split_changes
from jury_replay.reopening import DebateHistory
from jury_replay.replayer import Replayer

_CAUSES = {
    "debate_opened": "the debate would open otherwise",
    "juror_evaluated": "the answers are read otherwise (the parser, or what an answer comes to)",
    "juror_abstained": "the answers are read otherwise (the parser, or when a seat gives up)",
    "statement_made": "the answers are read otherwise (the parser, or when a position has changed)",
    "round_started": "rounds start otherwise (speaker order)",
    "consensus_checked": "consensus is checked otherwise (the threshold, or when a discussion ends)",
    "judgment_rendered": "the judgment is made otherwise (method, ties, bands, quorum, rounding)",
    "debate_completed": "the debate is completed otherwise",
}


def differences(recorded: DebateHistory, retelling: Replayer, *, same_versions: bool = True) -> list[Difference]:
    """Everything that is otherwise: events in the order of the record, then prompts, calls and tools.

    Args:
        recorded: what is on record.
        retelling: of it, held. Beyond the end of an unfinished debate's record nothing is compared.
        same_versions: both are of one version of rules and prompts; else those two numbers may differ.

    Raises:
        UnknownPart: a text that is to be compared is not there.
    """
    before, now = list(recorded.events), list(retelling.events)
    if not recorded.finished:
        now = now[: len(before)]
    events = [*_event_differences(before, now, retelling, same_versions=same_versions)]
    return [*sorted(events, key=lambda one: one.version or len(before)), *retelling.differences]


def _event_differences(
    before: list[DebateEvent], now: list[DebateEvent], retelling: Replayer, *, same_versions: bool
) -> Iterator[Difference]:
    yield from _course_difference(before, now, retelling)
    told = {event.event_id: event for event in now}
    for version, old in enumerate(before, 1):
        new = told.pop(old.event_id, None)
        if new is not None and new != old:
            yield from _body_differences(version, old, new, retelling, same_versions=same_versions)
    for event in told.values():
        change = FieldChange("event", None, as_told(event, retelling.text))
        yield Difference(Kind.EVENT, event.event_id, (change,), "this happens besides")


def _course_difference(before: list[DebateEvent], now: list[DebateEvent], retelling: Replayer) -> Iterator[Difference]:
    """Where the two first take different ways."""
    old, new = [event.event_id for event in before], [event.event_id for event in now]
    if old == new:
        return
    at = next(
        (n for n, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(map(len, (old, new)))
    )
    place = old[at] if at < len(old) else new[at]
    change = FieldChange("events", old[at:] or None, new[at:] or None)
    yield Difference(Kind.EVENT, place, (change,), _why_otherwise(at < len(new), retelling), at + 1)


def _why_otherwise(goes_on: bool, retelling: Replayer) -> str:
    if not goes_on and retelling.missing is not None:
        step, call = retelling.missing
        asked = f"{call.model}, turn {call.turn}, try {call.attempt}"
        return f"{step.id} would be asked once more ({asked}), and no such answer is on record"
    return f"from here on the debate takes another course; rules version {retelling.debate.state.debate.rules}"


def _body_differences(
    version: int, old: DebateEvent, new: DebateEvent, retelling: Replayer, *, same_versions: bool
) -> Iterator[Difference]:
    before, now = as_told(old, retelling.text), as_told(new, retelling.text)
    if isinstance(old, DebateOpened) and not same_versions:
        before |= {name: now[name] for name in ("rules", "prompts")}
    happened, said = split_changes(old.type, before, now)
    if happened:
        yield Difference(Kind.EVENT, old.event_id, happened, _cause(old, retelling), version)
    if said:
        prompts = retelling.debate.state.debate.prompts
        cause = f"prompts say something else (prompts version {prompts}, or what they are made of)"
        yield Difference(Kind.PROMPT, old.event_id, said, cause, version)


def _cause(event: DebateEvent, retelling: Replayer) -> str:
    version = retelling.debate.state.debate.rules
    return f"{_CAUSES.get(event.type, 'it cannot happen here')}; rules version {version}"
