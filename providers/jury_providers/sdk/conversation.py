"""The messages of a call as turns, and which of their blocks are marked to be kept in a provider's prompt cache."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from jury_providers.catalogue import model_facts
from jury_providers.endpoints import ApiProtocol, ProviderConnection
from jury_providers.provider import ModelMessage, ModelPicture, ModelRequest, estimated_tokens, text_bytes, tool_bytes


class ConversationTurn(NamedTuple):
    """A message (`ModelMessage`) with its pictures and the results of its tool calls.

    Results are in the order of the calls and matched by position: ids may be missing or repeated.
    """

    role: str
    text: str
    results: tuple[str, ...]
    pictures: tuple[ModelPicture, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[str | ModelPicture, ...]:
        """What the message shows, in its order."""
        if not self.shared:
            return (self.text, *self.pictures)
        return (*self.shared, *self.pictures, self.text)


def turns(messages: Iterable[ModelMessage]) -> Iterator[ConversationTurn]:
    """A conversation's messages, each tool result with the message that called the tool."""
    message: ModelMessage | None = None
    results: list[str] = []
    for following in messages:
        if following.role == "tool":
            results.append(following.text)
            continue
        if message is not None:
            yield ConversationTurn(message.role, message.text, tuple(results), message.pictures, message.shared)
        message, results = following, []
    if message is not None:
        yield ConversationTurn(message.role, message.text, tuple(results), message.pictures, message.shared)


def data_url(picture: ModelPicture) -> str:
    """A picture as OpenAI's APIs accept it."""
    return f"data:{picture.media_type};base64,{picture.base64}"


def without_unanswered(items: Iterable[Any], is_call: Callable[[Any], bool], results: int) -> list[Any]:
    """A turn without the tool calls beyond the first `results`: providers refuse calls without a result."""
    kept = []
    for item in items:
        if is_call(item):
            if results == 0:
                continue
            results -= 1
        kept.append(item)
    return kept


_MOST_MARKS = 4
"""Of one request: Anthropic refuses more, OpenAI writes the latest four."""


_UNMARKED: frozenset[int] = frozenset()


def marked_blocks(request: ModelRequest, api: ApiProtocol) -> Sequence[frozenset[int]]:
    """For each turn of a request, the indexes of its blocks that end something shared and are marked.

    The last four of the request at most; one before the last only where the prompt up to there, by an estimate, is long
    enough to be kept.
    """
    count = sum(message.role != "tool" for message in request.messages)
    if not is_marked(request):
        return [_UNMARKED] * count
    marks: list[set[int]] = [set() for _ in range(count)]
    for place in _long_enough(request, api)[-_MOST_MARKS:]:
        marks[place.turn].add(place.block)
    return [frozenset(one) for one in marks]


class _SharedEnd(NamedTuple):
    """The end of a shared block, and the size of the prompt up to there in bytes."""

    turn: int
    block: int
    size: int


def _long_enough(request: ModelRequest, api: ApiProtocol) -> list[_SharedEnd]:
    places: list[_SharedEnd] = []
    size = tool_bytes(request)
    for number, turn in enumerate(turns(request.messages)):
        before = size
        for block, text in enumerate(turn.shared):
            before += text_bytes(text)
            places.append(_SharedEnd(number, block, before))
        size = before + text_bytes(turn.text) + sum(map(text_bytes, turn.results))
    smallest = model_facts(api, request.model).smallest_cache
    return [*(place for place in places[:-1] if estimated_tokens(place.size) >= smallest), *places[-1:]]


def is_marked(request: ModelRequest) -> bool:
    """Whether a call asks to keep what ends with a shared block, and has one."""
    return request.cache not in {None, "none"} and any(message.shared for message in request.messages)


def shared_digest(request: ModelRequest) -> str:
    """Equal for calls that begin alike: the provider sends them to the same machine. 32 hexadecimal digits."""
    digest = sha256(request.model.encode())
    for message in request.messages:
        if message.role != "system" and not message.shared:
            continue
        for text in message.shared or (message.text,):
            digest.update(b"\0" + text.encode("utf-8", "replace"))
    return digest.hexdigest()[:32]


MAX_STARTS = 10_000
"""Beyond that the least recently used beginning is forgotten."""


class LastReplies:
    """The provider's ids of replies, by connection and beginning. They decide nothing: what is unknown is not asked."""

    def __init__(self) -> None:
        self._ids: OrderedDict[tuple[object, ...], str] = OrderedDict()

    def note(self, connection: ProviderConnection, request: ModelRequest, reply_id: str) -> None:
        """A call was answered with this id."""
        key = _key(connection, request)
        self._ids[key] = reply_id
        self._ids.move_to_end(key)
        if len(self._ids) > MAX_STARTS:
            self._ids.popitem(last=False)

    def before(self, connection: ProviderConnection, request: ModelRequest) -> str | None:
        """The id of the last reply to a call that begins like this one; None: there is none."""
        return self._ids.get(_key(connection, request))


LAST_REPLIES = LastReplies()
"""Of this process: the seats of a model are asked by different adapters."""


def _key(connection: ProviderConnection, request: ModelRequest) -> tuple[object, ...]:
    return (connection.name, connection.base_url, connection.key, shared_digest(request))
