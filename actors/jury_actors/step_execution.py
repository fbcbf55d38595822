"""One step of a seat: its calls, rendered and sent, and its outcome."""

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from jury_actors.errors import TextMissing
from jury_actors.messages import StepRequest
from jury_actors.provider_halts import FailedBefore
from jury_debate.artifacts import ToolSpec, tool_definitions
from jury_debate.assignment import Assignment, CallMessage
from jury_debate.conversation import Call
from jury_debate.decision_seats import DecisionQuestion, DecisionQuestions
from jury_debate.prompts_registry import load_prompts
from jury_debate.reading.record_tools import record_tool_definitions
from jury_debate.rules_registry import rules_of
from jury_events.case import Case
from jury_events.codec import decode
from jury_events.errors import UnknownPart
from jury_events.exchange import ExchangeRecorded, FailedCall, RecordedToolCall, RequestMessage, ViaBatch
from jury_events.outcome import ANSWERS
from jury_events.parts import BorrowedTexts, PartBuffer, PartRef
from jury_events.rubric import Rubric
from jury_events.text import CONTROL
from jury_events.value import trusted
from jury_events.verdict_scale import VerdictScale
from jury_providers.provider import (
    Caching,
    ModelMessage,
    ModelPicture,
    ModelReply,
    ModelRequest,
    OfferedTool,
    RequestedTool,
)


class DecodedTexts:
    """Keeps the texts used last, up to a total length.

    Args:
        most: characters; each text counts for `each` more, so that many short ones do not take
            much more memory.
    """

    def __init__(self, most: int, *, each: int = 0) -> None:
        self._each = each
        self._most = most
        self._length = 0
        self._texts: OrderedDict[str, str] = OrderedDict()

    def text(self, part: str, content: bytes) -> str:
        """The text of a part, which is named by its content; the same object as long as it is kept.

        Bytes that are no UTF-8 are replaced.
        """
        found = self._texts.get(part)
        if found is not None:
            self._texts.move_to_end(part)
            return found
        text = content.decode("utf-8", "replace")
        if len(text) + self._each <= self._most:
            self._texts[part] = text
            self._length += len(text) + self._each
            while self._length > self._most:
                _, dropped = self._texts.popitem(last=False)
                self._length -= len(dropped) + self._each
        return text


_MOST_TOOL_CALLS = 100
"""Of one turn that are recorded one by one; the recorded response has them all."""

_SHARED = DecodedTexts(8_000_000, each=1_000)
"""Of this process; in characters. Seats of a debate are asked at about the same time."""

_LABEL = 300
_MODEL_NAME = 200


@lru_cache(maxsize=64)
def _system_text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


@lru_cache(maxsize=256)
def _schema(
    rules: int,
    rubric: Rubric,
    *,
    evidence: bool,
    scale: VerdictScale | None,
    findings: bool,
) -> dict[str, Any]:
    """A run uses one or two schemas; callers must not change them."""
    return rules_of(rules).answer_schema(rubric, evidence=evidence, scale=scale, findings=findings)


def _text(assignment: Assignment, texts: dict[str, bytes], pen: PartBuffer, ref: PartRef) -> bytes:
    """The content of a reference of a step."""
    found = texts.get(ref.part)
    if found is not None:
        return found
    try:
        return pen.text(ref)
    except UnknownPart:
        message = f"debate {assignment.debate_id}: the juror was not sent text {ref.part} of {assignment.step.id}"
        raise TextMissing(message) from None


class StepExecution:
    """One step. It is in no cycle of references: what it has read is free when it is over.

    `failed_before`: the recorded exchanges that gave no answer; `unsettled_before`: what they left to be settled.

    Args:
        request: of the step; its recorded exchanges are applied to the conversation at once.
        texts: contents by reference, at least those that the request refers to.
    """

    def __init__(self, request: StepRequest, texts: dict[str, bytes], pen: PartBuffer) -> None:
        self._assignment = request.assignment
        self._pen = pen
        # Not a method: the conversation refers to it, and must not refer to its step.
        self.text: Callable[[PartRef], bytes] = partial(_text, request.assignment, texts, pen)
        if request.prior:
            # Texts that are in the log keep their references: a new one would be named by no event.
            pen.know_texts(texts)
        self._case = None if request.case is None else Case.from_part(self.text(request.case))
        self._rules = rules_of(request.assignment.rules)
        self.conversation = self._rules.conversation(request.assignment, BorrowedTexts(pen, self.text))
        self.failed_before: list[ExchangeRecorded] = []
        last: dict[str | None, tuple[ExchangeRecorded, int]] = {}
        for stored in request.prior:
            exchange = decode(stored)
            assert isinstance(exchange, ExchangeRecorded)
            self.hear(exchange)
            last[exchange.window] = exchange, stored.recorded_at
            if exchange.outcome not in ANSWERS:
                self.failed_before.append(exchange)
        self.unsettled_before: list[FailedBefore] = []
        if last:
            self.unsettled_before += [FailedBefore(one, *last[one.window]) for one in self.conversation.unsettled]

    def _message(self, message: CallMessage) -> ModelMessage:
        """A message with its texts.

        What the model said is bytes as received, so it may have to be repaired.
        """
        content = b"".join(map(self.text, message.parts[message.shared :]))
        return ModelMessage(
            message.role,
            _system_text(content) if message.role == "system" else content.decode("utf-8", "replace"),
            message.call_id,
            tuple([ModelPicture(image.media_type, self.text(image.content)) for image in message.images])
            if message.images
            else (),
            tuple(map(self._block, message.shared_blocks)) if message.shared else (),
        )

    def _block(self, parts: tuple[PartRef, ...]) -> str:
        if len(parts) == 1:
            return _SHARED.text(parts[0].part, self.text(parts[0]))
        return b"".join(map(self.text, parts)).decode("utf-8", "replace")

    def hear(self, exchange: ExchangeRecorded) -> None:
        """Apply a recorded exchange to the conversation."""
        self.conversation.apply_reply(self._rules.reply_from_record(exchange, self.text), exchange.window)

    def size(self, call: Call) -> int:
        """The bytes of the texts that a call shows."""
        return sum(len(self.text(ref)) for message in call.messages for ref in message.texts)

    def request(self, call: Call, caching: Caching = None) -> ModelRequest:
        """The request to the provider, which is asked to keep what is shared as `caching` says."""
        assignment, spec = self._assignment, self._assignment.spec
        exchange = call.exchange_id(assignment.step.id)
        return ModelRequest(
            model=call.model.partition("/")[2],
            messages=tuple(map(self._message, call.messages)),
            tools=self._tools() if call.tools else (),
            schema={}
            if spec.decision is not None
            else _schema(
                assignment.rules,
                spec.rubric,
                evidence=spec.evidence is not None,
                scale=spec.scale,
                findings=call.findings,
            ),
            settings=call.settings,
            trace=f"{assignment.debate_id}/{exchange}",
            cache=caching,
            questions=() if spec.decision is None else self._questions(call.messages[0]),
        )

    def _questions(self, message: CallMessage) -> tuple[DecisionQuestion, ...]:
        return DecisionQuestions.model_validate_json(self.text(message.parts[-1])).questions

    def exchange(
        self,
        call: Call,
        reply: ModelReply,
        *,
        cost: float | None,
        latency_ms: float,
        waited_ms: float,
        simulated: bool,
        via: ViaBatch | None = None,
    ) -> ExchangeRecorded:
        """The event that records one attempt, with the results of the tools that the model called.

        `via`: the batch that it was answered in.
        """
        step, make = self._assignment.step, self._pen.make
        tools = reply.tool_calls[:_MOST_TOOL_CALLS]
        messages = [
            trusted(RequestMessage)(role=one.role, parts=one.parts, images=one.images, call_id=one.call_id)
            for one in call.messages
        ]
        return ExchangeRecorded.model_validate(
            {
                "step": step.id,
                "juror_id": step.juror_id,
                "model": call.model,
                "model_version": _label(reply.model_version, _MODEL_NAME),
                "turn": call.turn,
                "attempt": call.attempt,
                "request": tuple(messages),
                "tools": call.tools,
                "settings": call.settings,
                "sent": None if reply.sent is None else make(reply.sent),
                "outcome": reply.outcome,
                "answer": None if reply.answer is None else make(reply.answer),
                "response": None if reply.response is None else make(reply.response),
                "error": None if reply.error is None else make(_utf8(reply.error)),
                "tool_calls": tuple([self._answered(call, index, tool) for index, tool in enumerate(tools)]),
                "finish_reason": _label(reply.finish_reason),
                "usage": reply.usage,
                "cost": cost,
                "latency_ms": round(latency_ms, 3),
                "waited_ms": round(waited_ms, 3),
                "request_id": _label(reply.request_id),
                "simulated": simulated,
                "window": call.window,
                "via": via,
                "stripped": reply.stripped or None,
                "host": _label(reply.host),
                "fingerprint": _label(reply.fingerprint),
                "failed": _failed_call(reply),
            }
        )

    def _tools(self) -> tuple[OfferedTool, ...]:
        prompts = load_prompts(self._assignment.prompts, self._assignment.language)
        reading = self._assignment.reading
        by_tools = reading is not None and reading.mode == "tools"
        offered: tuple[ToolSpec, ...] = ()
        if reading is None or not by_tools or reading.records:
            offered = tool_definitions(prompts, opinions=self._assignment.opinions is not None)
        if by_tools:
            offered += record_tool_definitions(prompts.texts)
        return tuple(OfferedTool(tool.name, tool.description, tool.parameters) for tool in offered)

    def _answered(self, call: Call, index: int, tool: RequestedTool) -> RecordedToolCall:
        name, arguments = _label(tool.name) or "unnamed", _utf8(tool.arguments)
        result, ok = self._rules.answer_tool(
            self._assignment,
            name,
            arguments.decode(),
            index=index,
            case=self._case if call.tools else None,
            text=self.text,
        )
        return RecordedToolCall(
            call_id=_label(tool.call_id) or f"call-{index + 1}",
            name=name,
            arguments=self._pen.make(arguments),
            result=self._pen.make(result),
            ok=ok,
        )


def texts_in(exchange: ExchangeRecorded) -> tuple[str, ...]:
    """The references to texts in an exchange, each once."""
    refs = [ref.part for message in exchange.request for ref in message.parts]
    refs += [ref.part for call in exchange.tool_calls for ref in (call.arguments, call.result)]
    said = (exchange.sent, exchange.answer, exchange.response, exchange.error)
    refs += [ref.part for ref in said if ref is not None]
    return tuple(dict.fromkeys(refs))


def _label(text: str | None, most: int = _LABEL) -> str | None:
    """A provider's or model's label, cleaned: an answer is never refused because of it."""
    return None if text is None else CONTROL.sub(" ", text)[:most] or None


def _failed_call(reply: ModelReply) -> FailedCall | None:
    if reply.outcome in ANSWERS or (reply.status is None and reply.code is None):
        return None
    return FailedCall(status=reply.status, code=_label(reply.code), understood=reply.understood)


def _utf8(text: str) -> bytes:
    """Bytes of a text that may have lone surrogates, as decoded JSON may."""
    return text.encode("utf-8", "backslashreplace")
