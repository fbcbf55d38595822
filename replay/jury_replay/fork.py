"""Branches of a debate: the kept events of the origin, computed again under other settings, ready to append.

The rules compute the kept events again from the recorded answers, so that the texts shown to peers contain the
branch's own marks. The answers contain the ballots of the origin, and are parsed with its secret; see `DebateForked`.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from jury_debate.assignment import ROLE_PROMPT
from jury_debate.conversation import settle_as_recorded
from jury_debate.debate import Debate
from jury_debate.recorded_panel import described, panel_differences, recorded_panel
from jury_debate.resolved_panel import ResolvedPanel
from jury_debate.rules_registry import rules_of
from jury_debate.step_outcome import Outcome
from jury_events.canonical import canonical_json
from jury_events.case import Case
from jury_events.codec import INPUTS, DebateEvent, encode, types_of
from jury_events.debate_events import (
    ConsensusChecked,
    DebateForked,
    InheritedSteps,
    JurorAbstained,
    JurorEvaluated,
    StatementMade,
)
from jury_events.debate_history import DebateHistory
from jury_events.envelope import NewEvent, StoredEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step, calls_stream, debate_stream
from jury_events.parts import SALT_BYTES, BorrowedTexts, PartBuffer, PartRef, decode_digest, refs_in
from jury_replay.errors import ForkRefused, OriginAltered
from jury_replay.integrity import check_debate
from jury_replay.recorded_case import operator_policy_of, recorded_case
from jury_store.event_store import Append

_OVER = types_of("result", "end")
"""After these nothing is left to do."""


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
        """The version to branch after, from a version or an event's id; an input counts as the event before it."""
        version = self._version(at)
        while version > 1 and self._events[version - 1].type in INPUTS:
            version -= 1
        if self._events[version - 1].type in _OVER:
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
        """The events 2 to `version`, without inputs: they are not part of the discussion."""
        kept: list[KeptEvent] = []
        before = 1
        for number, event in enumerate(self._events[1:version], 2):
            if event.type in INPUTS:
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
        return recorded_case(self._history.labelled, self._judged)

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
        return self._events[version - 1].type not in INPUTS | _OVER


def _step(event: DebateEvent) -> str | None:
    match event:
        case JurorEvaluated() | StatementMade():
            return event.step.id
        case JurorAbstained():
            return event.step
        case _:
            return None


def _refs(stored: StoredEvent) -> Iterable[str]:
    return refs_in(json.loads(stored.body))


_MOST = 220
"""Characters of a debate's id."""


class Branch(NamedTuple):
    """A branch that is not stored yet.

    Attributes:
        debate_id: its own id.
        origin: the debate that it branches off.
        version: the last event of the origin that it keeps.
        resolved: its panel.
        steps: those whose answers are reused.
        opening: its first three events: it begins where its origin stood.
        exchanges: the recorded calls of those steps, as they are in the origin.
        kept: the origin's events 2 to `version`, made again.
    """

    debate_id: str
    origin: str
    version: int
    resolved: ResolvedPanel
    steps: tuple[str, ...]
    opening: tuple[NewEvent, ...]
    exchanges: tuple[NewEvent, ...]
    kept: tuple[NewEvent, ...]

    def appends(self, epoch: int) -> list[Append]:
        """Everything, for one transaction; `epoch` is the writer's."""
        stream = debate_stream(self.debate_id)
        appends = [Append(stream, self.opening, expected_version=0, epoch=epoch)]
        if self.exchanges:
            appends.append(Append(calls_stream(self.debate_id), self.exchanges))
        if self.kept:
            appends.append(Append(stream, self.kept, expected_version=len(self.opening), epoch=epoch))
        return appends


def branch_id(origin: str, version: int, resolved: ResolvedPanel) -> str:
    """The default id of a branch: the same for the same origin, version and settings."""
    settings = {
        "origin": origin,
        "version": version,
        "panel": resolved.panel.without_carriage().model_dump(mode="json"),
        "role_prompts": resolved.role_prompts,
        "judge_prompt": resolved.judge_prompt,
    }
    end = f"~at{version}-{hashlib.sha256(canonical_json(settings)).hexdigest()[:8]}"
    return origin[: _MOST - len(end)] + end


def branch_off(
    origin: ForkOrigin,
    version: int,
    resolved: ResolvedPanel,
    *,
    debate_id: str,
    secret: bytes,
    draw_salt: Callable[[], bytes],
    recorded_at: int,
) -> Branch:
    """Prepare a branch.

    Args:
        version: of the event to branch after, as returned by `ForkOrigin.point`.
        recorded_at: now, in microseconds since 1970-01-01 UTC.
    """
    kept = origin.kept(version)
    asked = {step: origin.exchanges_of(one) for one in kept if (step := one.step) is not None}
    # Copies keep their salts and digests: the exchanges are those of the origin, byte for byte.
    copies = origin.copies(kept)
    pen = PartBuffer(draw_salt, (part for copy in copies for part in copy.parts))
    opened = rules_of(origin.opened.rules).open_debate(
        origin.case(),
        resolved.panel,
        debate_id=debate_id,
        run_id=None,
        secret=secret,
        parts=pen,
        role_prompts=resolved.role_prompts,
        judge_prompt=resolved.judge_prompt,
        prompts_version=origin.opened.prompts,
        operator_policy=operator_policy_of(origin.opened, origin.case(), lambda ref: origin.needed(ref, "the policy")),
    )
    forked = _forked(origin, version, tuple(asked), pen)
    opening_parts = pen.take()
    debate = Debate(opened, secret, pen)
    debate.fold([forked])
    begun = debate.begin()
    events = list(_ReplayedEvents(origin, resolved, debate, pen).events(kept, asked))
    return Branch(
        debate_id=debate_id,
        origin=origin.debate_id,
        version=version,
        resolved=resolved,
        steps=tuple(asked),
        opening=(
            encode(opened, recorded_at=recorded_at),
            encode(forked, recorded_at=recorded_at, parts=opening_parts),
            encode(begun, recorded_at=recorded_at),
        ),
        exchanges=copies,
        kept=_encoded(events, recorded_at, pen),
    )


def _forked(origin: ForkOrigin, version: int, steps: tuple[str, ...], pen: PartBuffer) -> DebateForked:
    """Where the origin is a branch too, some answers carry the ballots of a debate before it."""
    own = origin.needed(origin.opened.secret, "its secret")
    older: dict[bytes, list[str]] = {}
    for step in steps:
        ref = None if origin.forked is None else origin.forked.secret_of(step)
        if ref is not None and (secret := origin.needed(ref, "the secret of its answers")) != own:
            older.setdefault(secret, []).append(step)
    return DebateForked(
        origin=origin.debate_id,
        version=version,
        secret=pen.make(own),
        steps=steps,
        inherited_steps=tuple(
            InheritedSteps(secret=pen.make(secret), steps=tuple(its)) for secret, its in older.items()
        ),
    )


def _encoded(events: list[DebateEvent], recorded_at: int, pen: PartBuffer) -> tuple[NewEvent, ...]:
    fresh = pen.take()
    last = len(events) - 1
    return tuple(
        encode(event, recorded_at=recorded_at, parts=fresh if index == last else ())
        for index, event in enumerate(events)
    )


class _ReplayedEvents:
    """Computes the kept events again, under the rules and the panel of the branch."""

    def __init__(self, origin: ForkOrigin, resolved: ResolvedPanel, debate: Debate, own: PartBuffer) -> None:
        self._origin = origin
        self._resolved = resolved
        self._debate = debate
        self._own = own

    def events(self, kept: list[KeptEvent], asked: Mapping[str, tuple[ExchangeRecorded, ...]]) -> Iterator[DebateEvent]:
        before: KeptEvent | None = None
        for one in kept:
            if one.step is not None:
                outcome = self._outcome(Step.parse(one.step), asked[one.step])
                if outcome is None:
                    raise self._refused(one, before)
                self._debate.add_outcome(one.step, outcome)
            event = self._debate.advance_once()
            if event is None or event.event_id != one.event.event_id:
                raise self._refused(one, before, event)
            yield event
            before = one

    def _outcome(self, step: Step, asked: tuple[ExchangeRecorded, ...]) -> Outcome | None:
        """The outcome of the recorded answers of a step; None where the step is not asked, or with other calls."""
        debate = self._debate
        if step not in debate.pending_steps():
            return None
        # Messages between the calls are in the exchanges already; these copies are dropped.
        texts = BorrowedTexts(PartBuffer(lambda: bytes(SALT_BYTES)), self._text)
        conversation = debate.rules.conversation(debate.assign(step, asked), texts)
        recorded = frozenset(exchange.event_id for exchange in asked)
        for exchange in asked:
            due = {call.exchange_id(step.id): call for call in conversation.calls}
            if exchange.event_id not in due:
                settle_as_recorded(conversation, recorded)
                due = {call.exchange_id(step.id): call for call in conversation.calls}
            call = due.get(exchange.event_id)
            if call is None or call.tools != exchange.tools:
                return None
            conversation.apply_reply(debate.rules.reply_from_record(exchange, self._text), call.window)
        settle_as_recorded(conversation, ())
        return conversation.outcome

    def _text(self, ref: PartRef) -> bytes:
        """Of the origin; the pieces of the branch's own prompts, in which quotations are looked for, are its own."""
        found = self._origin.texts.get(ref.part)
        return self._own.text(ref) if found is None else found

    def _refused(self, one: KeptEvent, before: KeptEvent | None, instead: DebateEvent | None = None) -> ForkRefused:
        origin = self._origin
        place = "event 1 (opened)" if before is None else f"event {before.version} ({before.event.event_id})"
        if before is not None and isinstance(before.event, ConsensusChecked) and self._debate.state.end_reason:
            why = f"the discussion is over after {place}"
        elif instead is not None:
            why = f"after {place} comes {instead.event_id}"
        elif one.step is not None:
            why = f"{one.step} is not asked then, or its recorded answers come to something else"
        else:
            why = f"it does not follow {place}"
        different = panel_differences(recorded_panel(origin.opened, origin.texts), self._resolved)
        settings = described(different, 3) or "the rules of today"
        return ForkRefused(
            f"debate {origin.debate_id}: event {one.version} ({one.event.event_id}) does not happen under these "
            f"settings ({settings}): {why}; branch at {1 if before is None else before.version} or earlier"
        )
