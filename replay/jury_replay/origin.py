"""A recorded debate as a branch is made of it: where it can be branched, and what is kept up to there."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from jury_debate.panel_spec import ResolvedPanel
from jury_debate.recorded_panel import recorded_panel
from jury_events.case import Case
from jury_events.codec import DebateEvent, decode
from jury_events.debate_events import DebateForked, DebateOpened, JurorAbstained, JurorEvaluated, StatementMade
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step, calls_stream, debate_stream
from jury_events.parts import PartRef, decode_digest, encode_digest, refs_in
from jury_replay.errors import ForkRefused, OriginAltered
from jury_replay.integrity import check_debate
from jury_replay.recorded_case import recorded_case
from jury_store.inventory import DebateRecord

_BOOKKEEPING = frozenset({"debate_forked", "coordinator_resumed", "texts_erased", "debate_cancelled", "debate_failed"})
"""Nothing of the discussion follows from these: a branch leaves them out."""

_END = frozenset({"judgment_rendered", "debate_completed"})


class Kept(NamedTuple):
    """An event that a branch keeps; `step` is the one whose outcome it tells, if any, `exchanges` its calls."""

    version: int
    event: DebateEvent
    step: str | None
    exchanges: tuple[str, ...]


class Origin:
    """A debate that is to be branched, unfinished or not.

    Args:
        record: everything that the store holds of it.

    Raises:
        OriginAltered: the record is not whole, or not as it was written.
        EventError: it was written by a newer version of Jury Judge.
    """

    def __init__(self, record: DebateRecord) -> None:
        self.debate_id = record.debate_id
        failures = check_debate(record).failures
        if failures:
            raise OriginAltered(f"{failures[0]}; nothing is branched off an altered record (jury verify shows all)")
        stored = record.events[debate_stream(record.debate_id)]
        decoded = [event for one in stored if not isinstance(event := decode(one), ExchangeRecorded)]
        opened = decoded[0]
        if not isinstance(opened, DebateOpened):
            raise OriginAltered(f"debate {record.debate_id}: its first event is {opened.event_id}, not its opening")
        self.opened = opened
        self.forked = next((event for event in decoded if isinstance(event, DebateForked)), None)
        self.texts = {encode_digest(digest): part.content for digest, part in record.parts.items()}
        self._events = decoded
        self._calls = {one.event_id: one for one in record.events.get(calls_stream(record.debate_id), [])}
        self._parts = record.parts

    def point(self, at: str) -> int:
        """The version that a place names: a version, or the id of an event; bookkeeping counts as what it follows.

        Raises:
            ForkRefused: there is no such event, or nothing would be left to do after it.
        """
        version = self._version(at)
        while version > 1 and self._events[version - 1].type in _BOOKKEEPING:
            version -= 1
        if self._events[version - 1].type in _END:
            last = next(number for number in range(version, 0, -1) if self._is_open(number))
            raise ForkRefused(
                f"debate {self.debate_id}: nothing would be left to do after event {version} "
                f"({self._events[version - 1].event_id}); branch at {last} or earlier"
            )
        return version

    def panel(self) -> ResolvedPanel:
        """Who sat, and under which rules, with their charges.

        Raises:
            ForkRefused: a charge was erased.
        """
        for piece in self.opened.pieces:
            if piece.name.startswith("charge/"):
                self.needed(piece.text, f"the text {piece.name} of its panel")
        return recorded_panel(self.opened, self.texts)

    def kept(self, version: int) -> list[Kept]:
        """The events 2 to `version`, without bookkeeping.

        Raises:
            ForkRefused: a text that they follow from was erased.
        """
        kept: list[Kept] = []
        before = 1
        for number, event in enumerate(self._events[1:version], 2):
            if event.type in _BOOKKEEPING:
                continue
            kept.append(Kept(number, event, _step(event), getattr(event, "exchanges", ())))
            for exchange in kept[-1].exchanges:
                if any(ref not in self.texts for ref in _refs(self._calls[exchange])):
                    raise ForkRefused(
                        f"debate {self.debate_id}: texts of {exchange} were erased, and event {number} "
                        f"({event.event_id}) cannot be made again without them; branch at {before} or earlier"
                    )
            before = number
        return kept

    def exchanges_of(self, kept: Kept) -> tuple[ExchangeRecorded, ...]:
        """The calls that an event names, in their order."""
        decoded = (decode(self._calls[exchange]) for exchange in kept.exchanges)
        return tuple(event for event in decoded if isinstance(event, ExchangeRecorded))

    def copies(self, kept: Iterable[Kept]) -> tuple[NewEvent, ...]:
        """The calls that these events name as they are stored, in the order of the stream, with their texts."""
        named = {exchange for one in kept for exchange in one.exchanges}
        stored = [one for one in self._calls.values() if one.event_id in named]
        refs = dict.fromkeys(ref for one in stored for ref in _refs(one))
        parts = tuple(self._parts[decode_digest(ref)] for ref in refs)
        last = len(stored) - 1
        return tuple(
            NewEvent(one.event_id, one.type, one.schema, one.recorded_at, one.body, parts if index == last else ())
            for index, one in enumerate(stored)
        )

    def case(self) -> Case:
        """What it judges, with its pictures and with what no juror saw of it.

        Raises:
            ForkRefused: it was erased, or a picture of it was.
        """
        return recorded_case(self.opened, self._judged)

    def _judged(self, ref: PartRef) -> bytes:
        return self.needed(ref, "its case" if ref == self.opened.case else "a picture of its case")

    def needed(self, ref: PartRef, what: str) -> bytes:
        """A text without which nothing can be branched.

        Raises:
            ForkRefused: it was erased.
        """
        found = self.texts.get(ref.part)
        if found is None:
            raise ForkRefused(f"debate {self.debate_id}: {what} was erased; it cannot be branched any more")
        return found

    def _version(self, at: str) -> int:
        if at.isascii() and at.isdigit():
            version = int(at[:20])
            if 1 <= version <= len(self._events):
                return version
            raise ForkRefused(f"debate {self.debate_id} has the events 1 to {len(self._events)}, not {at[:20]}")
        for version, event in enumerate(self._events, 1):
            if event.event_id == at:
                return version
        raise ForkRefused(
            f"debate {self.debate_id} has no event {at[:200]!r}; "
            f"`jury show {self.debate_id} --events` shows those that there are"
        )

    def _is_open(self, version: int) -> bool:
        return self._events[version - 1].type not in _BOOKKEEPING | _END


def _step(event: DebateEvent) -> str | None:
    match event:
        case JurorEvaluated():
            return Step(0, event.juror_id).id
        case StatementMade():
            return Step(event.round, event.juror_id).id
        case JurorAbstained():
            return event.step
        case _:
            return None


def _refs(stored: StoredEvent) -> Iterable[str]:
    return refs_in(json.loads(stored.body))
