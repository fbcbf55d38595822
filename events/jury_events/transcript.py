"""The transcript of the judged agent: typed items, each with its author.

A reader must never mistake the author (`origin`): a tool's result is not a request of the user, whichever message
contains it. A result names its call by id; `NotShown` replaces an item that could not be converted.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, StringConstraints, model_serializer, model_validator

from jury_events.pending_calls import Called, CallResult, Join, Step, TurnEnd, joined_calls
from jury_events.value import MAX_TEXT, Label, Value

Origin = Literal["user", "model", "tool", "environment", "developer", "unknown"]
"""user: the person who asks. model: the judged agent. tool: a tool's result. environment: added by the agent's
surroundings. developer: the author of the agent's instructions. unknown: the record names a role of its own."""

Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
CallId = Annotated[str, StringConstraints(max_length=1 << 16)]
"""It names a call, and is nobody's text; some gateways put the signature of a thought into it."""

Bytes = Annotated[int, Field(ge=0, le=2**53)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Item(Value):
    @model_serializer(mode="wrap")
    def _with_kind(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Writes the kind even where defaults are left out: it is the discriminator."""
        return {"kind": self.__dict__["kind"], **dump(self)}


class Message(_Item):
    """A text in the conversation. `name` distinguishes several users or agents.

    `speaker`: by a role that the record names and no rule knows; `name` is that role.
    """

    kind: Literal["system", "user", "assistant", "speaker"]
    origin: Origin
    text: Text
    name: Text | None = None


class Reasoning(_Item):
    """The agent's reasoning. `text` may be a summary by the provider. `speaker`: the agent's name, of several."""

    kind: Literal["reasoning"] = "reasoning"
    origin: Origin = "model"
    speaker: Text | None = None
    text: Text


class Refusal(_Item):
    """The agent declined. `speaker`: the agent's name, of several."""

    kind: Literal["refusal"] = "refusal"
    origin: Origin = "model"
    speaker: Text | None = None
    text: Text


class ToolCall(_Item):
    """The agent called a tool; `arguments` as in the source (JSON text where it was JSON).

    `speaker`: the agent's name, of several.
    """

    kind: Literal["tool_call"] = "tool_call"
    origin: Origin = "model"
    speaker: Text | None = None
    call_id: CallId | None = None
    name: Text
    arguments: Text = ""


class ToolResult(_Item):
    """A tool's result; `call_id` names the call. `error`: the tool reported a failure.

    `call_unknown`: the record does not say which of several calls it answers.
    """

    kind: Literal["tool_result"] = "tool_result"
    origin: Origin = "tool"
    call_id: CallId | None = None
    name: Text | None = None
    text: Text
    error: bool = False
    call_unknown: bool = False


class Attachment(_Item):
    """A file that was part of the conversation.

    `digest` is the SHA-256 of its `size` bytes; the bytes of a picture that jurors may see are in the case's `images`.
    `text` is its content where that is text. `call_id`: it is part of the result of that call.
    """

    kind: Literal["attachment"] = "attachment"
    origin: Origin
    media_type: Label
    size: Bytes
    digest: Sha256
    name: Text | None = None
    text: Text | None = None
    call_id: CallId | None = None


class Event(_Item):
    """Any other event: a hand-over, a state of the environment, an unusual role."""

    kind: Literal["event"] = "event"
    origin: Origin
    name: Text
    text: Text = ""


class NotShown(_Item):
    """An item of the source that jurors are not shown.

    `what` is its kind (`image`, `audio`, `block computer_call`, `field annotations`), `size` its bytes if known,
    `location` its path in the source (`messages.3.content.1`).
    """

    kind: Literal["not_shown"] = "not_shown"
    origin: Origin
    what: Label
    size: Bytes | None = None
    location: Text = ""


Item = Annotated[
    Message | Reasoning | Refusal | ToolCall | ToolResult | Attachment | Event | NotShown,
    Field(discriminator="kind"),
]


class ItemSource(Value):
    """Where an item comes from.

    `message` is the number of its message in the source, from 0; a message with a text and two calls is three items
    with one number. `place` is its path in the source (`messages.3.content.1`), "" where that is not known.
    """

    message: Annotated[int, Field(ge=0, le=2**31)]
    place: Text = ""


class Transcript(Value):
    """The items in the order in which they happened.

    `sources` are where they come from, one for each item; () where that is not known. It is no part of what is judged.
    """

    items: tuple[Item, ...] = ()
    sources: tuple[ItemSource, ...] = ()

    @model_validator(mode="after")
    def _every_item_has_a_source(self) -> Self:
        if self.sources and len(self.sources) != len(self.items):
            raise ValueError(f"sources: must be one for each of {len(self.items)} items, got {len(self.sources)}")
        return self

    def __len__(self) -> int:
        return len(self.items)

    def message_of(self, index: int) -> int | None:
        """The number of an item's message in the source; None where it is not known."""
        return self.sources[index].message if self.sources else None

    def since(self, index: int) -> Self:
        """The transcript without the items before `index`."""
        return type(self)(items=self.items[index:], sources=self.sources[index:])

    def answered_calls(self) -> tuple[int | None, ...]:
        """For each item the index of the call that it belongs to; None where the transcript has no such call.

        See `jury_events.pending_calls`. A result without an id belongs to the first unanswered call of its name (as in
        Gemini's protocol); without a name too, to the only unanswered call. `call_unknown`: it belongs to none.
        """
        return tuple(join.call for join in joins_of(self.items))


def joins_of(items: Sequence[Item], in_order: Sequence[bool] | None = None) -> list[Join]:
    """For each item the call that it belongs to.

    Args:
        items: of a transcript, in order.
        in_order: for each item whether a result without an id belongs to the first open call of its name; None: each
            does, as those that do not are marked `call_unknown`.
    """
    flags = [True] * len(items) if in_order is None else in_order
    return joined_calls([step_of(item, in_order=flag) for item, flag in zip(items, flags, strict=True)])


def step_of(item: Item, *, in_order: bool = True) -> Step:
    """What an item is to calls; `in_order`: see `joins_of`."""
    if isinstance(item, ToolCall):
        return Called(item.name, item.call_id)
    if isinstance(item, ToolResult):
        return CallResult(item.name, item.call_id, in_order=in_order, unclear=item.call_unknown)
    if isinstance(item, Attachment) and item.call_id is not None:
        return CallResult(None, item.call_id, is_part=True)
    return TurnEnd() if isinstance(item, Message) and item.origin != "model" else None
