"""A debate held once more from its record: recorded answers are told again to the rules, and nobody is asked.

What comes from outside is taken from the record: the answers, and when somebody cancelled, resumed or erased. All
else is made again, the events and the prompts too, and what comes out otherwise is noted.
"""

from collections import defaultdict
from collections.abc import Hashable, MutableMapping
from typing import NamedTuple

from jury_debate.assignment import Assignment
from jury_debate.conversation import Call
from jury_debate.debate import Debate
from jury_debate.step_outcome import Outcome
from jury_events.case import Case
from jury_events.codec import DebateEvent
from jury_events.debate_events import (
    CoordinatorResumed,
    DebateCancelled,
    DebateFailed,
    DebateForked,
    DebateOpened,
    TextsErased,
)
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step, exchange_id
from jury_events.parts import PartBuffer
from jury_replay.difference import Difference, FieldChange, Kind, request_changes
from jury_replay.recorded import RecordedDebate

INPUTS = (CoordinatorResumed, DebateCancelled, DebateFailed, DebateForked, TextsErased)
"""Events that follow from nothing in the record: somebody did that."""

_ENDINGS = (DebateCancelled, DebateFailed)
"""After these nobody is asked; who was asked before may answer late."""

Memo = MutableMapping[Hashable, "Outcome | Call"]
"""What steps came to (an outcome, or the call that is not on record) by how they were assigned: settings that ask the
same are answered once."""


class Missing(NamedTuple):
    """A call that would have to be made, and is not on record."""

    step: Step
    call: Call


class Retelling:
    """One debate told again.

    Args:
        recorded: what is on record.
        opened: the opening event that it is told under, made with `pen`.
        pen: knows the recorded texts; makes the new ones.
        only_if_asked: take an answer only where the very request was asked of the same model under the same settings;
            else whatever was asked is noted as a difference, and the answer counts.
        memo: shared by tellings of one debate under several openings, `only_if_asked` alone.

    Attributes:
        events: every event, inputs in their places.
        differences: of prompts, calls and tools.
        missing: the first call without an answer; None when the debate came to its end.
    """

    def __init__(
        self,
        recorded: RecordedDebate,
        opened: DebateOpened,
        pen: PartBuffer,
        *,
        only_if_asked: bool = False,
        memo: Memo | None = None,
    ) -> None:
        self._recorded = recorded
        self._pen = pen
        self._strict = only_if_asked
        self._memo: Memo = {} if memo is None else memo
        self.debate = Debate(opened, pen.text(opened.secret), pen)
        self.events: list[DebateEvent] = [opened]
        self.differences: list[Difference] = []
        self.missing: Missing | None = None
        self._told: set[str] = set()
        self._open: set[str] = set()
        self._cut_off: set[str] = set()
        self._case: Case | None = None
        self._asked: defaultdict[str, list[ExchangeRecorded]] = defaultdict(list)
        for exchange in recorded.exchanges.values():
            self._asked[exchange.step].append(exchange)

    def hold(self) -> "Retelling":
        """To the end, or to where an answer is missing.

        Raises:
            UnknownPart: a text that is needed is not there.
            IllegalEvent: a recorded input cannot have happened there.
        """
        inputs = _inputs(self._recorded)
        own = 0
        while True:
            self._take_inputs(inputs.pop(own, []))
            event = self.debate.advance_once()
            if event is not None:
                self.events.append(event)
                own += 1
            elif self.debate.state.ended or not self._ask():
                break
        if not self._strict:
            self._note_untold()
        return self

    def text(self, part: str) -> bytes:
        """The content of a text, recorded or made, by the 43 characters of its reference.

        Raises:
            UnknownPart: it is neither.
        """
        return self._pen.content(part)

    def _take_inputs(self, inputs: list[DebateEvent]) -> None:
        for event in inputs:
            # Under other rules a debate may be over by then: what somebody did to it afterwards did not happen.
            if not self.debate.state.ended or isinstance(event, TextsErased):
                if isinstance(event, _ENDINGS):
                    self._cut_off = {step.id for step in self.debate.pending_steps()}
                self.debate.fold([event])
                self.events.append(event)

    def _ask(self) -> bool:
        """Learn what the steps that are due came to; whether any of them has an outcome."""
        learnt = False
        for step in self.debate.pending_steps():
            if step.id in self._open:
                continue
            found = self._answer(step)
            if isinstance(found, Call):
                self._open.add(step.id)
                self.missing = self.missing or Missing(step, found)
            else:
                self.debate.add_outcome(step.id, found)
                learnt = True
        return learnt

    def _answer(self, step: Step) -> Outcome | Call:
        assignment = self.debate.assign(step, self._asked.get(step.id, ()))
        if not self._strict:
            return self._converse(step, assignment)
        found = self._memo.get(assignment)
        if found is None:
            found = self._memo[assignment] = self._converse(step, assignment)
        return found

    def _converse(self, step: Step, assignment: Assignment) -> Outcome | Call:
        conversation = self.debate.rules.conversation(assignment, self._pen)
        while (call := conversation.call) is not None:
            exchange = self._recorded.exchanges.get(exchange_id(step.id, call.model, call.turn, call.attempt))
            if exchange is None:
                return call
            changes = self._call_changes(call, assignment, exchange)
            if self._strict and changes:
                return call
            self._told.add(exchange.event_id)
            self._note(exchange, changes)
            self._check_tools(assignment, exchange)
            conversation.apply_reply(self.debate.rules.reply_from_record(exchange, self._pen.text))
        assert conversation.outcome is not None
        return conversation.outcome

    def _call_changes(self, call: Call, assignment: Assignment, exchange: ExchangeRecorded) -> tuple[FieldChange, ...]:
        """What would be sent otherwise; of a reused answer nothing is compared, its debate is another."""
        if self.debate.is_reused(assignment.step):
            return ()
        changes = request_changes(exchange.request, call.messages, self._pen.text)
        if assignment.step.juror_id != exchange.juror_id:
            changes += (FieldChange("juror_id", exchange.juror_id, assignment.step.juror_id),)
        if call.tools != exchange.tools:
            changes += (FieldChange("tools", exchange.tools, call.tools),)
        if assignment.settings != exchange.settings:
            settings = (one.model_dump(mode="json") for one in (exchange.settings, assignment.settings))
            changes += (FieldChange("settings", *settings),)
        return changes

    def _note(self, exchange: ExchangeRecorded, changes: tuple[FieldChange, ...]) -> None:
        told = tuple(change for change in changes if change.path.startswith("request"))
        if told:
            version = self.debate.state.debate.prompts
            cause = f"the model would be told something else (prompts version {version}, or what they are made of)"
            self.differences.append(Difference(Kind.PROMPT, exchange.event_id, told, cause))
        if len(told) < len(changes):
            rest = tuple(change for change in changes if change not in told)
            self.differences.append(Difference(Kind.CALL, exchange.event_id, rest, "the call would be made otherwise"))

    def _check_tools(self, assignment: Assignment, exchange: ExchangeRecorded) -> None:
        if not exchange.tool_calls or self._strict or self.debate.is_reused(assignment.step):
            return
        if exchange.tools and self._case is None:
            self._case = Case.from_part(self._pen.text(self.debate.state.debate.case))
        for index, call in enumerate(exchange.tool_calls):
            result, ok = self.debate.rules.answer_tool(
                assignment,
                call.name,
                self._pen.text(call.arguments).decode(),
                index=index,
                case=self._case if exchange.tools else None,
                text=self._pen.text,
            )
            recorded = self._pen.text(call.result).decode()
            if (result, ok) != (recorded, call.ok):
                changes = [FieldChange(f"tool_calls.{index}.ok", call.ok, ok)] if ok != call.ok else []
                if result != recorded:
                    changes.append(FieldChange(f"tool_calls.{index}.result", recorded, result))
                cause = f"the tool {call.name} answers something else (artifact tools, or the marking of their answers)"
                self.differences.append(Difference(Kind.TOOL, exchange.event_id, tuple(changes), cause))

    def _note_untold(self) -> None:
        """Recorded calls that would not be made."""
        untold = [one for one in self._recorded.exchanges.values() if one.event_id not in self._told]
        if not untold:
            return
        named = {one for event in self._recorded.events for one in getattr(event, "exchanges", ())}
        over = {self._recorded.exchanges[one].step for one in self._told} - self._open
        for exchange in untold:
            step = exchange.step
            if step in self._open:
                cause = f"{step} would come to this call only after another, of which there is no record"
            elif step in over:
                cause = f"the step {step} would be over before this call (tries, repairs, tools, or the parser)"
            elif exchange.event_id in named or step in self._cut_off:
                # Of a step that is not reached any more its event tells; what was cut off may be answered late.
                continue
            else:
                cause = f"the step {step} is not asked"
            change = FieldChange("call", exchange.event_id, None)
            self.differences.append(Difference(Kind.CALL, exchange.event_id, (change,), cause))


def _inputs(recorded: RecordedDebate) -> dict[int, list[DebateEvent]]:
    """Inputs by how many events of the debate's own came before them."""
    found: defaultdict[int, list[DebateEvent]] = defaultdict(list)
    own = 0
    for event in recorded.events[1:]:
        if isinstance(event, INPUTS):
            found[own].append(event)
        else:
            own += 1
    return found
