"""How a step's models are asked until there is an outcome: tool turns, tries, repairs, fallbacks.

Pure: given the replies so far, it names the next call. The same replies always lead to the same calls, which is how a
step resumes after a crash and how replay checks it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import assert_never

from jury_debate.assignment import Assignment, CallMessage, EvidenceSpec
from jury_debate.conversation import Call, Reply, ToolTurn, UnsettledFailure
from jury_debate.prompts_registry import load_prompts
from jury_debate.rules_1.answers import AnswerRefusal, parse_answer
from jury_debate.rules_1.evidence import ShownEvidence, kept_record
from jury_debate.step_outcome import Answered, Blocked, Outcome, ParsedAnswer, Unanswered
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import exchange_id
from jury_events.outcome import CallOutcome, FailureReason, RefusalReason
from jury_events.parts import PartRef, PartRegistry
from jury_events.verdict import FAIL

_RETRYABLE = frozenset(
    {
        CallOutcome.RATE_LIMITED,
        CallOutcome.OVERLOADED,
        CallOutcome.TIMEOUT,
        CallOutcome.CONNECTION,
        CallOutcome.MALFORMED_RESPONSE,
    }
)


_SHED = frozenset({CallOutcome.RATE_LIMITED, CallOutcome.OVERLOADED})
"""Answers of a provider that has no room for calls at the tier flex."""


_OF_PROVIDERS = frozenset(
    {
        FailureReason.RATE_LIMITED,
        FailureReason.OVERLOADED,
        FailureReason.TIMEOUT,
        FailureReason.CONNECTION,
        FailureReason.MALFORMED_RESPONSE,
        FailureReason.BAD_REQUEST,
    }
)
"""Failures that every request may meet; the others are those of this request, if they are understood."""


_HALTING = frozenset({CallOutcome.AUTHENTICATION, CallOutcome.QUOTA})
"""A person has to replace the key or pay: every other call to that provider would fail too; the step is unfinished."""


class StepConversation(ABC):
    """The calls of one step; implements `jury_debate.conversation.Conversation`."""

    def __init__(self, assignment: Assignment, parts: PartRegistry, window: str | None = None) -> None:
        self.assignment = assignment
        self._window = window
        self.parts = parts
        self._prompts = load_prompts(assignment.prompts, assignment.language)
        self.exchanges: list[str] = []
        self._refusal: RefusalReason | None = None
        self._settings = assignment.settings
        self._model_index = 0
        self.outcome: Outcome | None = None
        self.call: Call | None = None
        self.halted: CallOutcome | None = None
        self._attempts: dict[tuple[str, int], int] = {}
        self._unsettled: FailureReason | None = None
        self._last = Reply(CallOutcome.ANSWERED)
        self._start_model()

    def _start_model(self) -> None:
        self._messages = list(self.assignment.messages)
        self._turn = self.turns_before
        self._tool_turns = 0
        self._repairs = 0
        self._next_turn()

    def _next_call(self) -> None:
        assignment = self.assignment
        self.call = Call(
            model=assignment.models[self._model_index],
            turn=self._turn,
            attempt=self._attempt,
            messages=tuple(self._messages),
            tools=self.offers_tools,
            settings=self._settings,
            window=self._window,
            findings=self.asks_findings,
            failures=self._failures,
        )

    turns_before = 0
    """Turns of an earlier conversation under the same window, which this one goes on from."""

    turns = 0
    """The last turn of any of its models; an earlier one may have had more than the last."""

    asks_findings = False
    """Whether the answers are findings, and not an evaluation."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """See `Conversation`."""
        return () if self.call is None else (self.call,)

    @property
    def offers_tools(self) -> bool:
        """Whether the next turn may still ask for tools."""
        return self.assignment.tools and self._tool_turns < self.assignment.artifacts.max_turns

    def call_of(self, window: str | None) -> Call | None:
        """See `Conversation`."""
        return self.call if window == self._window else None

    @property
    def unsettled(self) -> tuple[UnsettledFailure, ...]:
        """See `Conversation`."""
        if self._unsettled is None:
            return ()
        model = self.assignment.models[0 if self._begins_again else self._model_index]
        turn = self.turns_before + 1 if self._begins_again else self._turn
        attempt = self._attempts.get((model, turn), 0) + 1
        again = exchange_id(self.assignment.step.id, model, turn, attempt, self._window)
        return (UnsettledFailure(self._window, self.assignment.models[self._model_index], self._unsettled, again),)

    @property
    def _begins_again(self) -> bool:
        """Whether the models are asked again from the first on: nothing is lost that the last one has answered."""
        return self._model_index > 0 and self._turn == self.turns_before + 1

    def settle(self, window: str | None, *, again: bool) -> None:
        """See `Conversation`."""
        reason = self._unsettled
        assert reason is not None, "no failure is unsettled"
        assert window == self._window, "the failure is of another window"
        begins_again = self._begins_again
        self._unsettled = None
        if again and begins_again:
            self._model_index = 0
            self._start_model()
        elif again:
            self._begin_turn()
        elif reason is FailureReason.BLOCKED:
            self._blocked()
        else:
            self._give_up(reason)

    def apply_reply(self, reply: Reply, window: str | None = None) -> None:
        """See `Conversation`."""
        if self._unsettled is not None:
            self.settle(window, again=True)
        call = self.call
        assert call is not None, "the step already has an outcome"
        assert call.window == window, "the reply is to a call of another window"
        self.exchanges.append(call.exchange_id(self.assignment.step.id))
        self._attempts[call.model, call.turn] = call.attempt
        self._last = reply
        self.call = None
        self.halted = None
        match reply.outcome:
            case CallOutcome.ANSWERED if reply.tools:
                self._tool_turn(reply)
            case CallOutcome.ANSWERED:
                self._answered(call, reply)
            case CallOutcome.TRUNCATED:
                refusal = AnswerRefusal(
                    RefusalReason.INCOMPLETE, "the answer was cut off at the output limit; be shorter"
                )
                self._repair(reply, refusal, FailureReason.TRUNCATED)
            case CallOutcome.BLOCKED if not reply.understood and not self._falls_back_when_blocked:
                self._unsettled = FailureReason.BLOCKED
            case CallOutcome.BLOCKED:
                self._blocked()
            case outcome if outcome in _HALTING:
                self.halted = outcome
                self._attempt += 1
                self._next_call()
            case outcome if outcome in _RETRYABLE and self._may_retry(reply.seconds):
                self._attempt += 1
                if outcome in _SHED:
                    self._fall_back_to_standard()
                self._next_call()
            case outcome:
                self._next_model(FailureReason(outcome.value))

    def _may_retry(self, seconds: float) -> bool:
        settings = self.assignment.settings
        self._failures += 1
        self._failing += seconds
        return self._failures < settings.tries and self._failing < settings.turn_seconds

    def _fall_back_to_standard(self) -> None:
        """The further attempts of this turn are made at the standard tier, where the settings allow that."""
        if self._settings.tier == "flex" and self._settings.flex_fallback == "on":
            self._settings = self._settings.model_copy(update={"tier": "standard"})

    def _tool_turn(self, reply: Reply) -> None:
        if not self.offers_tools:
            refusal = AnswerRefusal(RefusalReason.TOOLS_OVER, "no more tools can be called; answer now")
            self._repair(reply, refusal, FailureReason.TOOL_LOOP)
            return
        self._tool_turns += 1
        self._append_turn(reply)
        if not self.offers_tools:
            self._messages.append(CallMessage("user", (self.parts.make(self.tools_over),)))
        self._next_turn()

    @property
    def tools_over(self) -> str:
        """What the model is said when no more tools are offered."""
        return self._prompts.texts.turns.tools_over

    def _append_turn(self, reply: Reply) -> None:
        if reply.appended is not None:
            self._messages.append(CallMessage("assistant", (reply.appended,)))
        self._messages += [CallMessage("tool", (tool.result,), tool.call_id) for tool in reply.tools]

    def _next_turn(self) -> None:
        self._turn += 1
        self.turns = max(self.turns, self._turn)
        self._begin_turn()

    def _begin_turn(self) -> None:
        self._attempt = self._attempts.get((self.assignment.models[self._model_index], self._turn), 0) + 1
        self._failures = 0
        self._failing = 0.0
        self._settings = self.assignment.settings
        self._next_call()

    @abstractmethod
    def _answered(self, call: Call, reply: Reply) -> None:
        """Take an answer: there is an outcome then, or a further call."""

    def _repair(self, reply: Reply, refusal: AnswerRefusal, reason: FailureReason) -> None:
        self._refusal = refusal.reason
        if not self.may_repair:
            self._next_model(reason)
            return
        self._repairs += 1
        self._append_turn(reply)
        text = self._prompts.repair(reason=refusal.reason.value, detail=refusal.detail)
        self._messages.append(CallMessage("user", (self.parts.make(text),)))
        self._next_turn()

    def _blocked(self) -> None:
        policy = self.assignment.answers.safety_filter
        if self.assignment.step.juror_id is not None and policy == "neutral":
            self.outcome = Blocked(self.assignment.models[self._model_index], tuple(self.exchanges))
        elif self.assignment.step.juror_id is not None and policy == "abstain":
            self._give_up(FailureReason.BLOCKED)
        else:
            self._next_model(FailureReason.BLOCKED)

    @property
    def _falls_back_when_blocked(self) -> bool:
        """Whether a further model is asked after one that is blocked."""
        more = self._model_index + 1 < len(self.assignment.models)
        return more and self.assignment.answers.safety_filter == "fallback"

    @property
    def may_repair(self) -> bool:
        """Whether this model may be asked once more after an answer that is refused."""
        return self._repairs < self.assignment.answers.repairs

    def _next_model(self, reason: FailureReason) -> None:
        if self._model_index + 1 < len(self.assignment.models):
            self._model_index += 1
            self._start_model()
        elif reason in _OF_PROVIDERS or not self._last.understood:
            self._unsettled = reason
        else:
            self._give_up(reason)

    def _give_up(self, reason: FailureReason) -> None:
        self.outcome = Unanswered(reason, self._refusal, tuple(self.exchanges))


class EvaluationConversation(StepConversation):
    """Asks for an evaluation, and checks its quotations."""

    _support_asked = False
    """Whether a verdict without support was refused already: that happens once a step."""

    def _answered(self, call: Call, reply: Reply) -> None:
        parsed = self._parsed(reply.answer or b"")
        match parsed:
            case ParsedAnswer():
                self.outcome = Answered(
                    parsed, call.model, reply.model_version, tuple(self.exchanges), simulated=reply.simulated
                )
            case AnswerRefusal():
                self._repair(reply, parsed, FailureReason.UNPARSEABLE)
            case _:
                assert_never(parsed)

    def _parsed(self, raw: bytes) -> ParsedAnswer | AnswerRefusal:
        """Read an answer as it was received.

        Where the panel requires evidence, a failing verdict without support is refused once.
        """
        spec = self.assignment.spec
        answer = parse_answer(raw, spec)
        if isinstance(answer, AnswerRefusal) or spec.evidence is None:
            return answer
        shown = self.shown(spec.evidence)
        if answer.decisive_item is not None and shown.items.item(answer.decisive_item) is None:
            return AnswerRefusal(
                RefusalReason.OUT_OF_RANGE, f"decisive_item: there is no item [{answer.decisive_item}]"
            )
        answer = shown.checked(answer)
        if spec.evidence.required and _is_unsupported(answer) and self.may_repair and not self._support_asked:
            self._support_asked = True
            return AnswerRefusal(
                RefusalReason.UNSUPPORTED,
                f"evidence: a verdict of {answer.position.word} needs a quotation that stands in the item it names",
            )
        return answer

    def shown(self, spec: EvidenceSpec) -> ShownEvidence:
        """What can be quoted: of all of the record, whatever the call shows of it."""
        items = kept_record(self.assignment, self.parts.content).items
        return ShownEvidence(spec, self.assignment.marker, self.parts.content, items)


def _is_unsupported(answer: ParsedAnswer) -> bool:
    entries = () if answer.checked is None else answer.checked.entries
    return answer.verdict is FAIL and not any(one.supports for one in entries)


def reply_from_record(exchange: ExchangeRecorded, text: Callable[[PartRef], bytes]) -> Reply:
    """See `Rules.reply_from_record`."""
    return Reply(
        outcome=exchange.outcome,
        model_version=exchange.model_version,
        simulated=exchange.simulated,
        seconds=(exchange.waited_ms + exchange.latency_ms) / 1000,
        answer=None if exchange.answer is None else text(exchange.answer),
        appended=exchange.response or exchange.answer,
        understood=exchange.failed is None or exchange.failed.understood,
        tools=tuple(
            ToolTurn(call.call_id, call.result, call.name, call.arguments, call.ok) for call in exchange.tool_calls
        ),
    )
