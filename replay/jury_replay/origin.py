"""The origin of a branch: where it can be branched, and which events the branch keeps."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from jury_debate.assignment import ROLE_PROMPT
from jury_debate.panel_spec import ResolvedPanel
from jury_debate.recorded_panel import recorded_panel
from jury_events.case import Case
from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateForked, JurorAbstained, JurorEvaluated, StatementMade
from jury_events.debate_history import DebateHistory
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.parts import PartRef, decode_digest, refs_in
from jury_replay.errors import ForkRefused, OriginAltered
from jury_replay.integrity import check_debate
from jury_replay.recorded_case import recorded_case

_BOOKKEEPING = frozenset(
    {
        *("debate_forked", "debate_begun", "coordinator_resumed", "texts_erased", "debate_cancelled", "debate_failed"),
        "debate_replaced",
    }
)
"""Events that are not part of the discussion: a branch leaves them out."""

_END = frozenset({"judgment_rendered", "debate_completed"})


class KeptEvent(NamedTuple):
    """An event that a branch keeps; `step`: whose outcome it records, if any; `exchanges`: the calls of that step."""

    version: int
    event: DebateEvent
    step: str | None
    exchanges: tuple[str, ...]


class ForkOrigin:
    """A debate to branch, finished or not."""

    def __init__(self, history: DebateHistory) -> None:
        self.debate_id = history.debate_id
        failures = check_debate(history).failures
        if failures:
            raise OriginAltered(f"{failures[0]}; an altered record is not branched (jury verify shows all failures)")
        self.opened = history.opened
        self.forked = next((event for event in history.events if isinstance(event, DebateForked)), None)
        self.texts = history.texts
        self._events = history.events
        self._calls = {one.event_id: one for one in history.stored_exchanges}
        self._history = history

    def point(self, at: str) -> int:
        """The version to branch after, from a version or an event's id; bookkeeping counts as the event before it."""
        version = self._version(at)
        while version > 1 and self._events[version - 1].type in _BOOKKEEPING:
            version -= 1
        if self._events[version - 1].type in _END:
            last = next(number for number in range(version, 0, -1) if self._is_open(number))
            raise ForkRefused(
                f"debate {self.debate_id}: nothing is left to do after event {version} "
                f"({self._events[version - 1].event_id}); branch at {last} or earlier"
            )
        return version

    def panel(self) -> ResolvedPanel:
        """The panel with its custom prompts."""
        for piece in self.opened.pieces:
            if piece.name.startswith(ROLE_PROMPT):
                self.needed(piece.text, f"the text {piece.name} of its panel")
        return recorded_panel(self.opened, self.texts)

    def kept(self, version: int) -> list[KeptEvent]:
        """The events 2 to `version`, without bookkeeping."""
        kept: list[KeptEvent] = []
        before = 1
        for number, event in enumerate(self._events[1:version], 2):
            if event.type in _BOOKKEEPING:
                continue
            kept.append(KeptEvent(number, event, _step(event), getattr(event, "exchanges", ())))
            for exchange in kept[-1].exchanges:
                if any(ref not in self.texts for ref in _refs(self._calls[exchange])):
                    raise ForkRefused(
                        f"debate {self.debate_id}: texts of {exchange} were erased, and event {number} "
                        f"({event.event_id}) cannot be computed without them; branch at {before} or earlier"
                    )
            before = number
        return kept

    def exchanges_of(self, kept: KeptEvent) -> tuple[ExchangeRecorded, ...]:
        """The calls that an event names, in their order."""
        return tuple(self._history.exchanges_by_id[exchange] for exchange in kept.exchanges)

    def copies(self, kept: Iterable[KeptEvent]) -> tuple[NewEvent, ...]:
        """The calls that these events name, as stored, in the order of the stream, with their texts."""
        named = {exchange for one in kept for exchange in one.exchanges}
        stored = [one for one in self._calls.values() if one.event_id in named]
        refs = dict.fromkeys(ref for one in stored for ref in _refs(one))
        parts = tuple(self._history.parts[decode_digest(ref)] for ref in refs)
        last = len(stored) - 1
        return tuple(
            NewEvent(one.event_id, one.type, one.schema, one.recorded_at, one.body, parts if index == last else ())
            for index, one in enumerate(stored)
        )

    def case(self) -> Case:
        """The case, with its pictures, label, metadata and tags."""
        return recorded_case(self.opened, self._judged)

    def _judged(self, ref: PartRef) -> bytes:
        what = {self.opened.case: "its case", self.opened.provenance: "where the items of its case come from"}
        return self.needed(ref, what.get(ref, "a picture of its case"))

    def needed(self, ref: PartRef, what: str) -> bytes:
        """A text that every branch needs; `what` names it in the error."""
        found = self.texts.get(ref.part)
        if found is None:
            raise ForkRefused(f"debate {self.debate_id}: {what} was erased; the debate can no longer be branched")
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
            f"debate {self.debate_id} has no event {at[:200]!r}; `jury show {self.debate_id} --events` lists its events"
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
