"""The messages of a call as turns, each with its pictures and the results of its tool calls."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from jury_providers.provider import ModelMessage, ModelPicture


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
