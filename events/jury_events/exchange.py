"""The event of the stream `calls/{id}`: one attempt of one model call, the raw request and the raw answer."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from jury_events.debate_events import EventBody, StepId
from jury_events.ids import exchange_id
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_events.parts import ImageRef, PartRef
from jury_events.reading import WindowLabel
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


CacheLifetime = Literal["5m", "30m", "1h", "12h"]
"""How long a provider's prompt cache keeps what was written."""

LIFETIMES: tuple[CacheLifetime, ...] = get_args(CacheLifetime)
"""The shortest first."""


class CacheWrite(Value):
    """Input tokens that a call wrote to the provider's prompt cache."""

    lifetime: CacheLifetime
    tokens: Annotated[int, Field(ge=1)]


class Usage(Value):
    """Tokens as the provider counted them; None: it did not say.

    `input_tokens` are all tokens of the prompt: those read from the cache (`cached_input_tokens`), those written to it
    (`cache_writes`, none: the provider named none) and the others. `reasoning_tokens` are part of `output_tokens`.
    `service_tier` is the tier that the provider says it used, `region` the one that the answer was bound to, `speed`
    the mode of inference, each in its own word. `cache_miss`: why nothing was read from the cache, in the provider's
    word; None where something was, or the provider did not say.
    """

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cache_writes: tuple[CacheWrite, ...] = ()
    reasoning_tokens: Count | None = None
    service_tier: Label | None = None
    region: Label | None = None
    speed: Label | None = None
    cache_miss: Label | None = None

    @property
    def written_tokens(self) -> int:
        """Input tokens written to the cache, of all lifetimes."""
        return sum(write.tokens for write in self.cache_writes)


class ViaBatch(Value):
    """The batch that a call was answered in, and for how long the call was there, in milliseconds."""

    batch: Label
    waited_ms: Annotated[float, Field(ge=0)]


class FailedCall(Value):
    """What a provider reported of a call that failed: HTTP's status and its own code; None: it reported none.

    `understood`: this is known to mean the outcome. Otherwise it is what is assumed where nothing else is known.
    """

    status: Annotated[int, Field(ge=100, le=999)] | None = None
    code: Label | None = None
    understood: bool


class ExchangeRecorded(EventBody):
    """One attempt. `request` is the messages, `sent` the rest of the request (tools, schema, parameters).

    `answer` is the model's text, `response` the provider's bytes where they contain more than the text.

    `cost` in US dollars (None: unknown), `latency_ms` wall time of the attempt, `waited_ms` the time since the failed
    attempt before it (0 for a first one). `turn` and `attempt` count from 1.

    `window`: the part of the record that the call shows, or `closing`, where a step reads in windows. `via`: the batch
    that it was answered in; such a call has no latency (0). None: it was made live. `stripped`: what stood around the
    answer in the response and was taken off it, by name, outermost first; None: nothing.

    `model_version` is the model that answered, `fingerprint` that of its configuration, as the provider names them.

    `host`: that was asked, None where that is not known. `failed`: what the provider reported, beside its message
    (`error`); None where the call was answered.
    """

    type: Literal["exchange_recorded"] = "exchange_recorded"
    step: StepId
    juror_id: JurorId | None = None
    model: ModelName
    model_version: ModelName | None = None
    turn: Annotated[int, Field(ge=1)]
    attempt: Annotated[int, Field(ge=1)]
    request: tuple[RequestMessage, ...]
    tools: bool
    settings: CallSettings
    sent: PartRef | None = None
    outcome: CallOutcome
    answer: PartRef | None = None
    response: PartRef | None = None
    error: PartRef | None = None
    tool_calls: tuple[RecordedToolCall, ...] = ()
    finish_reason: Label | None = None
    usage: Usage
    cost: Annotated[float, Field(ge=0)] | None = None
    latency_ms: Annotated[float, Field(ge=0)]
    waited_ms: Annotated[float, Field(ge=0)] = 0.0
    request_id: Label | None = None
    simulated: bool
    window: WindowLabel | None = None
    via: ViaBatch | None = None
    stripped: tuple[Label, ...] | None = None
    host: Label | None = None
    fingerprint: Label | None = None
    failed: FailedCall | None = None

    @property
    def event_id(self) -> str:
        """The exchange's id in its debate."""
        return exchange_id(self.step, self.model, self.turn, self.attempt, self.window)
