"""One debate as the log holds it, decoded, and as it would have to be opened today."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jury_debate.rules import Rules
from jury_events.codec import DebateEvent, decode
from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, DebateOpened, TextsErased
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream, debate_stream
from jury_events.panel import Panel
from jury_events.parts import PartBuffer
from jury_replay.errors import DebateMissing, RecordDamaged
from jury_replay.recorded_case import recorded_case
from jury_store.inventory import DebateRecord

_ENDINGS = (DebateCompleted, DebateFailed, DebateCancelled)
_CHARGE = "charge/"
_JUDGE = "final"


class RecordedDebate(NamedTuple):
    """Both streams decoded, in order; `texts` by the 43 characters of their references, without those that were erased.

    `exchanges` are by id, in the order of the stream.
    """

    opened: DebateOpened
    events: tuple[DebateEvent, ...]
    exchanges: Mapping[str, ExchangeRecorded]
    texts: Mapping[str, bytes]

    @property
    def debate_id(self) -> str:
        """Its id in the store."""
        return self.opened.debate_id

    @property
    def finished(self) -> bool:
        """Whether it came to its end: completed, failed or cancelled."""
        return any(isinstance(event, _ENDINGS) for event in self.events)

    @property
    def erased(self) -> frozenset[str]:
        """References of the texts whose erasure is recorded."""
        return frozenset(
            ref.part for event in self.events if isinstance(event, TextsErased) for ref in event.parts
        ) - frozenset(self.texts)

    def pen(self) -> PartBuffer:
        """Makes texts again under the references that they have on record; new ones get an empty salt."""
        pen = PartBuffer(lambda: bytes(16))
        pen.know_texts(self.texts)
        return pen


def read_recorded(record: DebateRecord) -> RecordedDebate:
    """Decode what is stored of a debate.

    Raises:
        DebateMissing: there is nothing.
        RecordDamaged: the streams are not those of this debate: see `opening_of`; or an event has no place in its
            stream.
        EventError: a body does not decode.
    """
    debate_id = record.debate_id
    decoded = [decode(stored) for stored in record.events.get(debate_stream(debate_id), ())]
    calls = [decode(stored) for stored in record.events.get(calls_stream(debate_id), ())]
    if not decoded and not calls:
        raise DebateMissing.named(debate_id)
    opened = opening_of(debate_id, decoded)
    events = tuple(event for event in decoded if not isinstance(event, ExchangeRecorded))
    exchanges = {event.event_id: event for event in calls if isinstance(event, ExchangeRecorded)}
    if (len(events), len(exchanges)) != (len(decoded), len(calls)):
        raise RecordDamaged(
            f"debate {debate_id} has a call among its events, or an event among its calls, or twice one"
        )
    return RecordedDebate(
        opened,
        events,
        exchanges,
        record.whole_texts(),
    )


def opening_of(debate_id: str, events: Sequence[DebateEvent | ExchangeRecorded]) -> DebateOpened:
    """The opening in a stream `debate/`.

    Raises:
        RecordDamaged: the stream does not begin with an opening, or with that of another debate.
    """
    opened = events[0] if events else None
    if not isinstance(opened, DebateOpened):
        raise RecordDamaged(f"debate {debate_id} does not begin with its opening; see jury verify {debate_id}")
    if opened.debate_id != debate_id:
        raise RecordDamaged(f"debate {debate_id} begins with the opening of another, {opened.debate_id}")
    return opened


def opened_again(
    recorded: RecordedDebate, rules: Rules, pen: PartBuffer, *, prompts: int | None = None, panel: Panel | None = None
) -> DebateOpened:
    """The opening event as `rules` make it of the recorded case, panel, prompts of one's own and secret.

    The case keeps the reference that it has on record: an earlier version may have written it in another form.

    Args:
        recorded: the debate.
        rules: of any version.
        pen: knows the debate's texts.
        prompts: another prompts version than the recorded one.
        panel: another panel than the recorded one.

    Raises:
        UnknownPart: a text that is needed is not there.
        EventError: the recorded case cannot be read.
    """
    opened = recorded.opened
    charges = {
        piece.name.removeprefix(_CHARGE): pen.text(piece.text).decode("utf-8")
        for piece in opened.pieces
        if piece.name.startswith(_CHARGE)
    }
    judge_charge = charges.pop(_JUDGE, None)
    again = rules.open_debate(
        recorded_case(opened, pen.text),
        panel or opened.panel,
        debate_id=opened.debate_id,
        run_id=opened.run_id,
        secret=pen.text(opened.secret),
        parts=pen,
        charges=charges,
        judge_charge=judge_charge,
        submission_id=opened.submission_id,
        prompts_version=opened.prompts if prompts is None else prompts,
    )
    return again.changed(case=opened.case)


def broken(debate_id: str, error: Exception) -> str:
    """What is said of a debate over which the rules break: a defect of theirs, with its place."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" ({Path(place.tb_frame.f_code.co_filename).name}, line {place.tb_lineno})"
    return f"debate {debate_id} breaks the rules that it is told under: {type(error).__name__}: {error}{where}"
