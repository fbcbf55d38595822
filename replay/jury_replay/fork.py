"""Branches of a debate: the kept events of the origin, computed again under other settings, ready to append.

The rules compute the kept events again from the recorded answers, so that the texts shown to peers contain the
branch's own marks. The answers contain the ballots of the origin, and are parsed with its secret; see `DebateForked`.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from jury_debate.conversation import settle_as_recorded
from jury_debate.debate import Debate
from jury_debate.panel_spec import ResolvedPanel
from jury_debate.recorded_panel import described, panel_differences, recorded_panel
from jury_debate.rules_registry import rules_of
from jury_debate.step_outcome import Outcome
from jury_events.canonical import canonical_json
from jury_events.codec import DebateEvent, encode
from jury_events.debate_events import ConsensusChecked, DebateForked, InheritedSteps
from jury_events.envelope import NewEvent
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step, calls_stream, debate_stream
from jury_events.parts import SALT_BYTES, BorrowedTexts, PartBuffer, PartRef
from jury_replay.errors import ForkRefused
from jury_replay.origin import ForkOrigin, KeptEvent
from jury_replay.recorded_case import operator_policy_of
from jury_store.event_store import Append

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
