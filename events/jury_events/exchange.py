"""The event of the stream `calls/{id}`: one attempt of one model call, the raw request and the raw answer."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jury_events.debate_events import EventBody, StepId
from jury_events.ids import exchange_id
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_events.parts import ImageRef, PartRef
from jury_events.value import JurorId, Label, ModelName, Value

Count = Annotated[int, Field(ge=0)]


class RequestMessage(Value):
    """One message: the concatenation of its parts, byte for byte, then its pictures.

    `call_id` names the tool call that a `tool` message answers.
    """

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[PartRef, ...]
    images: tuple[ImageRef, ...] = ()
    call_id: Label | None = None


class RecordedToolCall(Value):
    """A tool call by a juror's model: its arguments as received, and the result that it was sent."""

    call_id: Label
    name: Label
    arguments: PartRef
    result: PartRef
    ok: bool


class Usage(Value):
    """Tokens as the provider counted them; None: it did not say."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    reasoning_tokens: Count | None = None


class ExchangeRecorded(EventBody):
    """One attempt. `request` is the messages, `sent` the rest of the request (tools, schema, parameters).

    `answer` is the model's text, `response` the provider's bytes where they contain more than the text.

    `cost` in US dollars (None: unknown), `latency_ms` wall time of the attempt, `waited_ms` the time since the failed
    attempt before it (0 for a first one). `turn` and `attempt` count from 1.
    """

    schema_version: ClassVar[int] = 2

    type: Literal["exchange_recorded"] = "exchange_recorded"
    step: StepId
    juror_id: JurorId | None
    model: ModelName
    model_version: ModelName | None
    turn: Annotated[int, Field(ge=1)]
    attempt: Annotated[int, Field(ge=1)]
    request: tuple[RequestMessage, ...]
    tools: bool
    settings: CallSettings
    sent: PartRef | None
    outcome: CallOutcome
    answer: PartRef | None
    response: PartRef | None
    error: PartRef | None
    tool_calls: tuple[RecordedToolCall, ...] = ()
    finish_reason: Label | None
    usage: Usage
    cost: Annotated[float, Field(ge=0)] | None
    latency_ms: Annotated[float, Field(ge=0)]
    waited_ms: Annotated[float, Field(ge=0)] = 0.0
    request_id: Label | None
    simulated: bool

    @property
    def event_id(self) -> str:
        """The exchange's id in its debate."""
        return exchange_id(self.step, self.model, self.turn, self.attempt)
