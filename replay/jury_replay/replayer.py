"""Runs a recorded debate again: the rules get the recorded answers, and no model is called.

Inputs are taken from the record: answers, beginnings, cancellations, resumptions, erasures, forks. Everything else,
events and prompts too, is computed again, and differences from the record are collected.
"""

from collections import defaultdict
from collections.abc import Hashable, MutableMapping
from pathlib import Path
from typing import NamedTuple

from jury_debate.assignment import JUDGE_ROLE_PROMPT, ROLE_PROMPT, Assignment
from jury_debate.conversation import Call, settle_as_recorded
from jury_debate.debate import Debate
from jury_debate.rules import Rules
from jury_debate.step_outcome import Outcome
from jury_events.case import Case
from jury_events.codec import INPUTS, DebateEvent
from jury_events.debate_events import (
    DebateOpened,
)
from jury_events.debate_history import DebateHistory
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.panel import Panel
from jury_events.parts import PartBuffer
from jury_replay.difference import DifferenceKind, FieldChange, ReplayDifference, request_changes
from jury_replay.recorded_case import operator_policy_of, recorded_case


def pen_of(history: DebateHistory) -> PartBuffer:
    """A pen that gives recorded texts their recorded references; new texts get an empty salt."""
    pen = PartBuffer(lambda: bytes(16))
    pen.know_texts(history.texts)
    return pen


def reopen(
    history: DebateHistory, rules: Rules, pen: PartBuffer, *, prompts: int | None = None, panel: Panel | None = None
) -> DebateOpened:
    """The opening event that `rules` make of the recorded case, panel, role prompts and secret.

    The case keeps its recorded reference: how its text was written is no matter of rules.

    Args:
        prompts: the prompts version; None: the recorded one.
        panel: None: the recorded one.
    """
    opened = history.opened
    role_prompts = {
        piece.name: pen.text(piece.text).decode("utf-8")
        for piece in opened.pieces
        if piece.name.startswith(ROLE_PROMPT)
    }
    judge_prompt = role_prompts.pop(JUDGE_ROLE_PROMPT, None)
    case = recorded_case(opened, pen.text)
    reopened = rules.open_debate(
        case,
        panel or opened.panel,
        debate_id=opened.debate_id,
        run_id=opened.run_id,
        secret=pen.text(opened.secret),
        parts=pen,
        role_prompts={name.removeprefix(ROLE_PROMPT): text for name, text in role_prompts.items()},
        judge_prompt=judge_prompt,
        submission_id=opened.submission_id,
        prompts_version=opened.prompts if prompts is None else prompts,
        operator_policy=operator_policy_of(opened, case, pen.text),
    )
    # A first stage keeps pictures that it is not sent, for a later one.
    return reopened.changed(case=opened.case, stage=opened.stage, images=reopened.images or opened.images)


def crash_message(debate_id: str, error: Exception) -> str:
    """The message for an unexpected exception of the rules, which is a defect of theirs, with its file and line."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = "" if last is None else f" ({Path(last.tb_frame.f_code.co_filename).name}, line {last.tb_lineno})"
    return f"the rules fail on debate {debate_id}: {type(error).__name__}: {error}{where}"


Memo = MutableMapping[Hashable, "Outcome | Call"]
"""Outcomes of steps (or the call that is not recorded) by assignment: equal assignments are replayed once."""


class MissingCall(NamedTuple):
    """A call that the debate needs and that is not recorded."""

    step: Step
    call: Call


class Replayer:
    """Replays one debate.

    Args:
        opened: the opening event to replay under, made with `pen`.
        pen: knows the recorded texts; makes the new ones.
        strict: use an answer only where the same request was made, of the same model under the same settings; else
            any recorded answer of the call counts, and a changed request is a difference.
        memo: shared by replayers of one debate under several openings; of use with `strict` only.

    Attributes:
        events: every event, inputs in their places.
        differences: of prompts, calls and tools.
        missing: the first call without an answer; None when the debate ended.
    """

    def __init__(
        self,
        history: DebateHistory,
        opened: DebateOpened,
        pen: PartBuffer,
        *,
        strict: bool = False,
        memo: Memo | None = None,
    ) -> None:
        self._history = history
        self._pen = pen
        self._strict = strict
        self._memo: Memo = {} if memo is None else memo
        self.debate = Debate(opened, pen.text(opened.secret), pen)
        self.events: list[DebateEvent] = [opened]
        self.differences: list[ReplayDifference] = []
        self.missing: MissingCall | None = None
        self._used: set[str] = set()
        self._unanswered: set[str] = set()
        self._interrupted: set[str] = set()
        self._case: Case | None = None
        self._recorded_by_step: defaultdict[str, list[ExchangeRecorded]] = defaultdict(list)
        for exchange in history.exchanges_by_id.values():
            self._recorded_by_step[exchange.step].append(exchange)

    def run(self) -> "Replayer":
        """Replay to the end, or until an answer is missing; returns itself."""
        inputs = _inputs(self._history)
        computed = 0
        while True:
            self._apply_inputs(inputs.pop(computed, []))
            event = self.debate.advance_once()
            if event is not None:
                self.events.append(event)
                computed += 1
            elif self.debate.state.ended or not self._answer_steps():
                break
        if not self._strict:
            self._note_unused()
        return self

    def text(self, part: str) -> bytes:
        """A text, recorded or made, by the 43 characters of its reference."""
        return self._pen.content(part)

    def _apply_inputs(self, inputs: list[DebateEvent]) -> None:
        for event in inputs:
            # Under other rules the debate may have ended earlier: then a later input has nothing to apply to.
            if not self.debate.state.ended or event.role == "addendum":
                if event.role == "stop":  # no step is asked any more; calls in flight may still be answered
                    self._interrupted = {step.id for step in self.debate.pending_steps()}
                self.debate.fold([event])
                self.events.append(event)

    def _answer_steps(self) -> bool:
        """Give the due steps their recorded outcomes; False when none of them has one."""
        answered = False
        for step in self.debate.pending_steps():
            if step.id in self._unanswered:
                continue
            found = self._answer(step)
            if isinstance(found, Call):
                self._unanswered.add(step.id)
                self.missing = self.missing or MissingCall(step, found)
            else:
                self.debate.add_outcome(step.id, found)
                answered = True
        return answered

    def _answer(self, step: Step) -> Outcome | Call:
        assignment = self.debate.assign(step, self._recorded_by_step.get(step.id, ()))
        if not self._strict:
            return self._replay_step(step, assignment)
        found = self._memo.get(assignment)
        if found is None:
            found = self._memo[assignment] = self._replay_step(step, assignment)
        return found

    def _replay_step(self, step: Step, assignment: Assignment) -> Outcome | Call:
        conversation = self.debate.rules.conversation(assignment, self._pen)
        while conversation.outcome is None:
            # Calls that are due together depend on each other in nothing, whichever of them are recorded.
            due = conversation.calls
            found = [
                (call, exchange) for call in due if (exchange := self._answered(step, call, assignment)) is not None
            ]
            if not found and not conversation.unsettled:
                return due[0]
            if not found:
                settle_as_recorded(conversation, self._history.exchanges_by_id)
            for call, exchange in found:
                self._used.add(exchange.event_id)
                self._note(exchange, self._call_changes(call, assignment, exchange))
                self._check_tools(assignment, exchange)
                reply = self.debate.rules.reply_from_record(exchange, self._pen.text)
                conversation.apply_reply(reply, call.window)
        return conversation.outcome

    def _answered(self, step: Step, call: Call, assignment: Assignment) -> ExchangeRecorded | None:
        exchange = self._history.exchanges_by_id.get(call.exchange_id(step.id))
        if exchange is None or (self._strict and self._call_changes(call, assignment, exchange)):
            return None
        return exchange

    def _call_changes(self, call: Call, assignment: Assignment, exchange: ExchangeRecorded) -> tuple[FieldChange, ...]:
        """Changes of the request; none for a reused answer, whose request belongs to the origin's debate."""
        if self.debate.is_reused(assignment.step):
            return ()
        changes = request_changes(exchange.request, call.messages, self._pen.text)
        if assignment.step.juror_id != exchange.juror_id:
            changes += (FieldChange("juror_id", exchange.juror_id, assignment.step.juror_id),)
        if call.tools != exchange.tools:
            changes += (FieldChange("tools", exchange.tools, call.tools),)
        if assignment.settings.without_carriage() != exchange.settings.without_carriage():
            settings = (one.model_dump(mode="json") for one in (exchange.settings, assignment.settings))
            changes += (FieldChange("settings", *settings),)
        return changes

    def _note(self, exchange: ExchangeRecorded, changes: tuple[FieldChange, ...]) -> None:
        prompt = tuple(change for change in changes if change.path.startswith("request"))
        if prompt:
            version = self.debate.state.debate.prompts
            cause = f"the model would get another prompt (prompts version {version}, or the texts that it is made of)"
            self.differences.append(ReplayDifference(DifferenceKind.PROMPT, exchange.event_id, prompt, cause))
        if len(prompt) < len(changes):
            rest = tuple(change for change in changes if change not in prompt)
            cause = "the call would have other parameters"
            self.differences.append(ReplayDifference(DifferenceKind.CALL, exchange.event_id, rest, cause))

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
                cause = f"the tool {call.name} returns another result (artifact tools, or the marking of their results)"
                self.differences.append(ReplayDifference(DifferenceKind.TOOL, exchange.event_id, tuple(changes), cause))

    def _note_unused(self) -> None:
        unused = [one for one in self._history.exchanges_by_id.values() if one.event_id not in self._used]
        if not unused:
            return
        named = {one for event in self._history.events for one in getattr(event, "exchanges", ())}
        finished = {self._history.exchanges_by_id[one].step for one in self._used} - self._unanswered
        for exchange in unused:
            step = exchange.step
            if step in self._unanswered:
                cause = f"{step} makes this call only after another one, which is not recorded"
            elif step in finished:
                cause = f"the step {step} ends before this call (tries, repairs, tools, or the parser)"
            elif exchange.event_id in named or step in self._interrupted:
                # The event of an unreached step differs already; an interrupted step may be answered late.
                continue
            else:
                cause = f"the step {step} is not asked"
            change = FieldChange("call", exchange.event_id, None)
            self.differences.append(ReplayDifference(DifferenceKind.CALL, exchange.event_id, (change,), cause))


def _inputs(history: DebateHistory) -> dict[int, list[DebateEvent]]:
    """Inputs by the number of computed events before them."""
    found: defaultdict[int, list[DebateEvent]] = defaultdict(list)
    computed = 0
    for event in history.events[1:]:
        if event.type in INPUTS:
            found[computed].append(event)
        else:
            computed += 1
    return found
