"""What was recorded against what was told again, event by event."""

from itertools import zip_longest

from jury_debate.rules_v1.state import ENDED
from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateOpened
from jury_replay.difference import Difference, FieldChange, Kind, as_told, split_changes
from jury_replay.recorded import RecordedDebate
from jury_replay.retelling import INPUTS, Retelling

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


def differences(recorded: RecordedDebate, retelling: Retelling, *, same_versions: bool = True) -> list[Difference]:
    """Everything that is otherwise: prompts, calls, tools, and the first event that differs in what happened.

    Args:
        recorded: what is on record.
        retelling: of it, held.
        same_versions: both are of one version of rules and prompts; else those two numbers may differ.

    Raises:
        UnknownPart: a text that is to be compared is not there.
    """
    return [*_event_differences(recorded, retelling, same_versions=same_versions), *retelling.differences]


def _event_differences(recorded: RecordedDebate, retelling: Retelling, *, same_versions: bool) -> list[Difference]:
    found: list[Difference] = []
    for version, (old, new) in enumerate(zip_longest(recorded.events, retelling.events), 1):
        if old is None:
            if new is not None and _ended(recorded):
                found.append(Difference(Kind.EVENT, new.event_id, (_whole(None, new),), _cause(new, retelling)))
            break
        if new is None:
            cause = _why_nothing(old, retelling)
            found.append(Difference(Kind.EVENT, old.event_id, (_whole(old, None),), cause, version))
            break
        if old == new:
            continue
        if old.event_id != new.event_id:
            found.append(Difference(Kind.EVENT, old.event_id, (_whole(old, new),), _cause(old, retelling), version))
            break
        before, now = as_told(old, retelling.text), as_told(new, retelling.text)
        if isinstance(old, DebateOpened) and not same_versions:
            before |= {name: now[name] for name in ("rules", "prompts")}
        happened, said = split_changes(old.type, before, now)
        if said:
            prompts = retelling.debate.state.debate.prompts
            cause = f"prompts say something else (prompts version {prompts}, or what they are made of)"
            found.append(Difference(Kind.PROMPT, old.event_id, said, cause, version))
        if happened:
            found.append(Difference(Kind.EVENT, old.event_id, happened, _cause(old, retelling), version))
            break
    return found


def _ended(recorded: RecordedDebate) -> bool:
    return recorded.events[-1].type in {f"debate_{phase.value}" for phase in ENDED} | {"texts_erased"}


def _whole(old: DebateEvent | None, new: DebateEvent | None) -> FieldChange:
    return FieldChange("event", old and old.event_id, new and new.event_id)


def _cause(event: DebateEvent, retelling: Retelling) -> str:
    version = retelling.debate.state.debate.rules
    return f"{_CAUSES.get(event.type, 'it cannot happen here')}; rules version {version}"


def _why_nothing(event: DebateEvent, retelling: Retelling) -> str:
    if retelling.missing is not None:
        step, call = retelling.missing
        asked = f"{call.model}, turn {call.turn}, try {call.attempt}"
        return f"{step.id} would be asked once more ({asked}), and no such answer is on record"
    if isinstance(event, INPUTS):
        return "the debate takes another course by then"
    return f"the debate is over before it; rules version {retelling.debate.state.debate.rules}"
