"""The votes that the debate of the next stage of a ladder is shown, read from the log."""

from jury_debate.carried_votes import EarlierVote, votes_to_carry

from jury_events.carried import Carry
from jury_events.errors import EventError, UnknownPart
from jury_events.parts import PartRef
from jury_events.stages import StagePlace
from jury_judge.errors import RunRefused
from jury_store.event_store import EventStore


def votes_before(store: EventStore, place: StagePlace | None, carry: Carry | None) -> tuple[EarlierVote, ...] | None:
    """The votes that a new debate of this place is opened with; None: votes are not carried to it.

    Args:
        store: open for reading.
        place: of a ladder; None: the debate is of none.
        carry: what the ladder carries.

    Raises:
        RunRefused: the debate before cannot be read.
    """
    if carry is None or place is None or place.before is None:
        return None
    try:
        return votes_after(store, place.before)
    except EventError as error:
        raise RunRefused(
            f"the votes of debate {place.before} cannot be shown to the next stage: {error}; see: jury verify "
            f"{place.before}"
        ) from error


def votes_after(store: EventStore, debate_id: str) -> tuple[EarlierVote, ...]:
    """The votes that a debate was shown, and its own; without the words that were erased.

    Args:
        store: open for reading.
        debate_id: of the stage before.

    Raises:
        EventError: an event does not decode, or a text is gone without an erasure (`UnknownPart`).
    """
    (history,) = store.event_histories([debate_id])
    wanted: list[PartRef] = []
    votes_to_carry(history.opened, history.events[1:], wanted.append)
    parts = store.parts(debate_id, [ref.digest for ref in wanted])
    texts = {part.ref.part: part.content for part in parts.values()}

    def text(ref: PartRef) -> bytes | None:
        if ref.part not in texts and ref.part not in history.erased:
            raise UnknownPart(ref.part)
        return texts.get(ref.part)

    return votes_to_carry(history.opened, history.events[1:], text)
