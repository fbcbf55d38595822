"""The transcript of the judged agent: typed items, each with its author.

A reader must never mistake the author (`origin`): a tool's result is not a request of the user, whichever message
contains it. `NotShown` replaces an item that could not be converted.

A result belongs to a call by the call's id. Ids are unique in most records, but some programs number the calls of each
turn anew, or give all calls of a turn one id: then an id means the calls of the latest turn that has it, and of several
calls with one id the tool's name decides, else the order, where there are as many results as calls. What neither
decides is unclear. Without an id it is the first open call of the tool's name, where the format promises that order;
else the only open call that can be meant.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, SerializerFunctionWrapHandler, StringConstraints, model_serializer, model_validator

from jury_events.value import MAX_TEXT, Label, Value


class Called(NamedTuple):
    """A call."""

    name: str
    call_id: str | None


class CallResult(NamedTuple):
    """A result, or (`is_part`) a file of one.

    `in_order`: without an id it belongs to the first open call of its name. `unclear`: which it is, is not recorded.
    """

    name: str | None
    call_id: str | None
    in_order: bool = True
    unclear: bool = False
    is_part: bool = False


class TurnEnd(NamedTuple):
    """Something that the agent did not do: calls after it belong to another turn."""


Step = Called | CallResult | TurnEnd | None
"""What an item of a transcript is to calls; None: nothing."""


class Join(NamedTuple):
    """The index of the call that an item belongs to; None: there is none, or it is `unclear` which it is."""

    call: int | None = None
    unclear: bool = False


_UNCLEAR = Join(unclear=True)


def joined_calls(steps: Sequence[Step]) -> list[Join]:
    """For each item of a transcript its call; of calls and other items there is none."""
    by_id, waiting = _joined_by_id(steps), _WaitingCalls()
    found: list[Join] = []
    for index, step in enumerate(steps):
        join = Join()
        if isinstance(step, Called):
            waiting.called(index, step.name)
        elif isinstance(step, CallResult):
            join = _UNCLEAR if step.unclear else by_id.get(index, join)
            if step.call_id is None and not step.unclear:
                join = waiting.without_id(step)
            if not step.is_part and join.unclear:
                waiting.answered_by_unknown(step.name)
            elif join.call is not None:
                waiting.close(join.call)
        found.append(join)
    return found


class _SharedId:
    """The calls of one turn that have one id, in order, by name; and the results with this id, likewise."""

    def __init__(self) -> None:
        self.calls: defaultdict[str, list[int]] = defaultdict(list)
        self.results: defaultdict[str | None, list[int]] = defaultdict(list)
        self.last_result: int | None = None

    def add_result(self, index: int, name: str | None) -> None:
        self.results[name].append(index)
        self.last_result = index

    @property
    def only(self) -> int | None:
        """The call, where the id is that of one alone."""
        first = next(iter(self.calls.values()))
        return first[0] if len(self.calls) == len(first) == 1 else None

    def joins(self) -> Iterator[tuple[int, Join]]:
        if (only := self.only) is not None:
            yield from ((result, Join(only)) for results in self.results.values() for result in results)
            return
        for name in self.calls.keys() & self.results.keys():
            yield from _in_order(self.calls[name], self.results[name])
        calls = (one for name, calls in self.calls.items() if name not in self.results for one in calls)
        results = (one for name, results in self.results.items() if name not in self.calls for one in results)
        yield from _in_order(sorted(calls), sorted(results))


def _in_order(calls: Sequence[int], results: Sequence[int]) -> Iterator[tuple[int, Join]]:
    """As many results as calls belong to them in order; several of a single call are parts of its result."""
    if len(calls) == 1:
        yield from ((result, Join(calls[0])) for result in results)
    elif len(calls) == len(results):
        yield from ((result, Join(call)) for call, result in zip(calls, results, strict=True))
    else:
        yield from ((result, _UNCLEAR) for result in results)


def _joined_by_id(steps: Iterable[Step]) -> dict[int, Join]:
    """The joins of results with the id of a call; those with an id that no call has are left out."""
    of_id: defaultdict[str, list[_SharedId]] = defaultdict(list)
    early: dict[int, CallResult] = {}
    parts: dict[int, tuple[_SharedId, int | None]] = {}
    turn, turns = 0, dict[str, int]()
    for index, step in enumerate(steps):
        if isinstance(step, Called) and step.call_id is not None:
            if turns.get(step.call_id) != turn:
                turns[step.call_id] = turn
                of_id[step.call_id].append(_SharedId())
            of_id[step.call_id][-1].calls[step.name].append(index)
        elif isinstance(step, CallResult) and step.call_id is not None:
            if not (latest := of_id[step.call_id][-1:]):
                early[index] = step
            elif step.is_part:
                parts[index] = latest[0], latest[0].last_result
            else:
                latest[0].add_result(index, step.name)
        turn += isinstance(step, CallResult | TurnEnd)
    for index, step in early.items():  # what stands before its call
        if len(shared := of_id[step.call_id or ""]) == 1:
            shared[0].add_result(index, step.name)
    joins = {index: join for shared in of_id.values() for one in shared for index, join in one.joins()}
    for index, (shared_id, result) in parts.items():
        only = shared_id.only
        joins[index] = joins[result] if result is not None else _UNCLEAR if only is None else Join(only)
    return joins


class _WaitingCalls:
    def __init__(self) -> None:
        self._waiting: dict[int, str] = {}
        self._by_name: dict[str, dict[int, None]] = {}
        self._unknown: Counter[str | None] = Counter()

    def called(self, index: int, name: str) -> None:
        self._waiting[index] = name
        self._by_name.setdefault(name, {})[index] = None

    def without_id(self, result: CallResult) -> Join:
        """The first open call of its name, else the only open one."""
        candidates = self._candidates(result.name)
        if len(candidates) > 1 and not result.in_order:
            return _UNCLEAR
        if result.name is None and len(candidates) > 1:
            return Join()
        return Join(next(iter(candidates), None))

    def answered_by_unknown(self, name: str | None) -> None:
        """Take a result whose call the record does not say.

        Once there are as many of them as open calls that they may belong to, these calls are answered.
        """
        self._unknown[name] += 1
        if self._unknown[name] >= len(self._candidates(name)):
            del self._unknown[name]
            for call in list(self._candidates(name)):
                self.close(call)

    def close(self, call: int) -> None:
        name = self._waiting.pop(call, None)
        if name is not None:
            del self._by_name[name][call]

    def _candidates(self, name: str | None) -> dict[int, str] | dict[int, None]:
        """The open calls that a result without an id may belong to: those of its name, else all."""
        return self._waiting if name is None else self._by_name.get(name, {})


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

        See `jury_events.transcript`. A result without an id belongs to the first unanswered call of its name (as in
        Gemini's protocol); without a name too, to the only unanswered call. `call_unknown`: it belongs to none.
        """
        return tuple([join.call for join in joins_of(self.items)]) if self.items else ()


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


_MAGIC: dict[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def picture_type(content: bytes) -> str | None:
    """The media type of a picture by its first bytes; None: not a PNG, JPEG, GIF or WebP."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((media for magic, media in _MAGIC.items() if content.startswith(magic)), None)
