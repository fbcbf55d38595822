"""Builds transcripts: items with their authors and messages in order, pictures, calls kept apart, what is not shown."""

import hashlib
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote_to_bytes

from pydantic import ValidationError

from jury_cases.errors import CaseFileError
from jury_cases.transcripts.authors import AUTHORS, MessageAuthor, MessageKind, RoleRules, as_target, author_of
from jury_cases.transcripts.json_values import as_text, is_blank
from jury_events.case import IMAGE_TYPES, MAX_IMAGE_BYTES, MAX_IMAGES, MAX_IMAGES_BYTES, Image
from jury_events.text import condensed
from jury_events.transcript import (
    Attachment,
    Event,
    Item,
    ItemSource,
    Message,
    NotShown,
    Origin,
    Reasoning,
    Refusal,
    ToolCall,
    ToolResult,
    Transcript,
    joins_of,
    picture_type,
)

T = TypeVar("T")


class MessageNumbers:
    """Counts the messages that are read, from 0, in the order of the source's lists.

    Attributes:
        current: the number of the message that is being read; None: between messages.
        following: the number of the next one.
    """

    def __init__(self) -> None:
        self.current: int | None = None
        self.following = 0
        self._paused = False

    def of_list(self, messages: Iterable[tuple[int, T]], count: int) -> Iterator[tuple[int, T]]:
        """The messages with their indices in a list of `count`, each current while it is used.

        The numbers go on where the list before ended. A list inside a message, as of a sub-agent, belongs to it.
        """
        if self._paused or self.current is not None:
            yield from messages
            return
        first = self.following
        try:
            for index, message in messages:
                self.current = first + index
                yield index, message
        finally:
            self.current, self.following = None, first + count

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one message, which is current meanwhile; inside a message nothing is counted."""
        for _ in self.of_list([(0, None)], 1):
            yield

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Count nothing meanwhile: what is read stands beside the messages."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    def placed(self, number: int | None) -> int | None:
        """The number here of a message that another counter gave a number."""
        if self.current is not None or number is None:
            return self.current
        return self.following + number


class BuiltItem(NamedTuple):
    """An item of a transcript that is being built.

    Attributes:
        item: as it was added.
        author: of its message, as the record writes it; None: not recorded.
        in_order: a result without an id belongs to the first open call of its name, by the format's protocol.
        message: the number of its message in the source; None: it was added between messages.
        place: its path in the source.
    """

    item: Item
    author: MessageAuthor | None = None
    in_order: bool = False
    message: int | None = None
    place: str = ""


def with_unclear_calls(built: Sequence[BuiltItem]) -> tuple[Item, ...]:
    """The items; results of which the record does not say the call are marked `call_unknown`.

    A file of such a result is one of its message: the id that it has means several calls.
    """
    items = [one.item for one in built]
    joins = joins_of(items, [one.in_order for one in built])
    return tuple(_marked(item) if join.unclear else item for item, join in zip(items, joins, strict=True))


def _marked(item: Item) -> Item:
    update = {"call_unknown": True} if isinstance(item, ToolResult) else {"call_id": None}
    return item.model_copy(update=update)


def sources_of(built: Sequence[BuiltItem]) -> tuple[ItemSource, ...]:
    """Where the items come from. One between messages belongs to the message before it; before the first, to that."""
    number = next((one.message for one in built if one.message is not None), 0)
    found: list[ItemSource] = []
    for one in built:
        number = number if one.message is None else one.message
        found.append(ItemSource(message=number, place=one.place))
    return tuple(found)


_WHAT = re.compile(r"[^A-Za-z0-9_./+:-]+")
_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),", re.IGNORECASE)
_URL_ALPHABET = str.maketrans("-_", "+/")
_NAMED = 60

_SPOKEN = (Reasoning, Refusal, ToolCall)

THOUGHT = re.compile(r"\s*<(think|thinking)>(.*?)</\1>\s*", re.DOTALL)
"""Reasoning at the head of an answer, as DeepSeek-R1 and Qwen write it; one that is not closed is part of the text."""


class TranscriptBuilder:
    """Collects items in order. Errors are `CaseFileError` whose message begins with the item's place.

    Attributes:
        called: the ids of the tool calls so far.
        answered: the call ids of the results so far.
        messages: counts the messages of the source. Items belong to the message that is being read when they are added;
            those added between two belong to the one before.
    """

    def __init__(self) -> None:
        self.messages = MessageNumbers()
        self._items: list[BuiltItem] = []
        self._author: MessageAuthor | None = None
        self._images: dict[str, Image] = {}
        self.called: set[str] = set()
        self.answered: set[str] = set()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures that models can read, each once, in the order of their first attachment."""
        return tuple(self._images.values())

    def transcript(self) -> Transcript:
        """The items so far.

        A result without the id of its call belongs to the only open call that it can answer, by its tool's name if it
        has one. Where several are open it is marked `call_unknown`, unless it was added with `in_order`.
        """
        return Transcript(items=with_unclear_calls(self._items), sources=sources_of(self._items))

    @property
    def built(self) -> tuple[BuiltItem, ...]:
        """The items so far, with what they were added with."""
        return tuple(self._items)

    def calls_since(self, start: int) -> list[ToolCall]:
        """The calls among the items from the number `start` on."""
        return [one.item for one in self._items[start:] if isinstance(one.item, ToolCall)]

    @property
    def authors(self) -> frozenset[MessageAuthor]:
        """The authors of the messages that the items are of, as far as they were recorded by `by`."""
        return frozenset(one.author for one in self._items if one.author is not None)

    @contextmanager
    def by(self, author: MessageAuthor) -> Iterator[None]:
        """Record for the items added meanwhile which role, and which name, the record gives their message.

        Calls, thoughts and refusals that are added without a `speaker` are of this author. Outside a list of messages
        it is a message of its own.
        """
        before, self._author = self._author, author
        try:
            with self.messages.one():
                yield
        finally:
            self._author = before

    def reassign(self, rules: RoleRules) -> frozenset[str]:
        """Apply the user's rules for roles to the items so far; returns the patterns that matched."""
        used: set[str] = set()
        for index, one in enumerate(self._items):
            pattern = None if one.author is None else rules.pattern_of(one.author)
            if one.author is not None and pattern is not None:
                self._items[index] = one._replace(item=as_target(one.item, one.author.shown, rules.targets[pattern]))
                used.add(pattern)
        return frozenset(used)

    def add(self, make: type[Item], place: str, /, *, in_order: bool = False, **fields: Any) -> None:
        """Add an item made of `fields`.

        `in_order`: the format's protocol says that a result without an id belongs to the first open call of its name.
        Where a source names the call of a result by other means than an id, give both a `call_id` of your own.
        A `<think>` at the head of an assistant's text becomes an item of reasoning, unless it is the item before.
        """
        if make is Message and fields.get("kind") == "assistant" and (thought := THOUGHT.match(fields["text"])):
            text, rest = thought[2].strip(), fields["text"][thought.end() :]
            last = self._items[-1].item if self._items else None
            if text and not (isinstance(last, Reasoning) and last.text.strip() == text):
                self.add(Reasoning, place, origin=fields["origin"], text=text)
            if not rest:
                return
            fields["text"] = rest
        if make in _SPOKEN and self._author is not None:
            fields = {"speaker": self._author.shown, **fields}
        try:
            item = make(**fields)
        except ValidationError as error:
            raise CaseFileError(f"{place}.{condensed(error)}") from error
        self._append(BuiltItem(item, self._author, in_order=in_order, message=self.messages.current, place=place))

    def _append(self, one: BuiltItem) -> None:
        self._items.append(one)
        item = one.item
        if isinstance(item, ToolCall | ToolResult) and item.call_id is not None:
            (self.called if isinstance(item, ToolCall) else self.answered).add(item.call_id)

    def extend(self, later: "TranscriptBuilder") -> None:
        """Append the items of another builder; its messages follow those so far."""
        for one in later.built:
            author = self._author if one.author is None else one.author
            self._append(one._replace(author=author, message=self.messages.placed(one.message)))
        if self.messages.current is None:
            self.messages.following += later.messages.following
        self.take((), later.images)

    def take(self, items: Iterable[Item], images: Iterable[Image] = (), *, place: str = "") -> None:
        """Append items that were read before, and their pictures."""
        for item in items:
            self._append(BuiltItem(item, author_of(item), message=self.messages.current, place=place))
        for image in images:
            self._images.setdefault(image.digest, image)

    def message(self, kind: MessageKind, text: str, place: str, *, name: str | None = None) -> None:
        """Add a text by the default author of its kind: a message of its own, unless it is a system's."""
        with self.messages.paused() if kind == "system" else self.messages.one():
            self.add(Message, place, kind=kind, origin=AUTHORS[kind], text=text, name=name)

    def handover(self, giver: str | None, taker: str | None, place: str) -> None:
        """Add that one agent (None: not named) handed the conversation over to another."""
        text = f"{giver or 'an agent that is not named'} -> {taker or 'an agent that is not named'}"
        self.add(Event, place, origin="environment", name="handover", text=text)

    def not_shown(self, what: str, origin: Origin, place: str, value: Any = None) -> None:
        """Add a part that jurors are not shown; `value` determines its size in bytes (None: unknown)."""
        size = None if value is None else len(as_text(value).encode("utf-8", "replace"))
        self.add(NotShown, place, origin=origin, what=label_of(what), size=size, location=place)

    def unread(self, table: Mapping[str, Any], known: Collection[str], origin: Origin, place: str) -> None:
        """Add the unknown fields of a message or block as not shown."""
        for name, value in table.items():
            if name not in known and not is_blank(value):
                self.not_shown(f"field {name}", origin, f"{place}.{name}", value)

    def base64_file(
        self,
        data: Any,
        media_type: Any,
        origin: Origin,
        place: str,
        *,
        name: str | None = None,
        call_id: str | None = None,
    ) -> None:
        """Add a file given as base64."""
        media = media_type if isinstance(media_type, str) and media_type else "application/octet-stream"
        try:
            content = b64decode("".join(data.split()).translate(_URL_ALPHABET), validate=True)
        except (AttributeError, Base64Error, ValueError):
            self.not_shown(f"{media} that is not base64", origin, place, data)
            return
        self.file(content, media, origin, place, name=name, call_id=call_id)

    def url(
        self, url: Any, what: str, origin: Origin, place: str, *, name: str | None = None, call_id: str | None = None
    ) -> None:
        """Add a file given by its URL. Only `data:` URLs are read; nothing is fetched."""
        found = _DATA_URL.match(url) if isinstance(url, str) else None
        if found is None:
            self.not_shown(f"{what} at a URL", origin, place)
            return
        media, options, rest = found.group(1) or "text/plain", found.group(2).lower(), url[found.end() :]
        if "base64" in options:
            self.base64_file(rest, media, origin, place, name=name, call_id=call_id)
        else:
            self.file(unquote_to_bytes(rest), media, origin, place, name=name, call_id=call_id)

    def file(
        self,
        content: bytes,
        media_type: str,
        origin: Origin,
        place: str,
        *,
        name: str | None = None,
        call_id: str | None = None,
    ) -> None:
        """Add a file: text as text, pictures for jurors that see pictures, others by type and size only."""
        media = label_of(media_type.lower())
        text = None
        if media.startswith("text/") or media in {"application/json", "application/xml"}:
            try:
                text = content.decode("utf-8")
            except UnicodeDecodeError:
                text = None
        digest = hashlib.sha256(content).hexdigest()
        if media.startswith("image/"):
            media = self._keep_picture(content, media, digest)
        self.add(
            Attachment,
            place,
            origin=origin,
            media_type=media,
            size=len(content),
            digest=digest,
            name=name,
            text=text,
            call_id=call_id,
        )

    def _keep_picture(self, content: bytes, media: str, digest: str) -> str:
        """Keep the picture if models can read it; returns its actual media type."""
        real = picture_type(content)
        if real in IMAGE_TYPES and len(content) <= MAX_IMAGE_BYTES:
            kept = Image.model_validate({"media_type": real, "digest": digest, "content": content})
            self._images.setdefault(digest, kept)
        return real or media


def images_within_limits(images: Iterable[Image]) -> tuple[Image, ...]:
    """The first pictures within the limits of a case, by number and total bytes."""
    kept: list[Image] = []
    size = 0
    for image in images:
        if len(kept) < MAX_IMAGES and size + len(image.content) <= MAX_IMAGES_BYTES:
            kept.append(image)
            size += len(image.content)
    return tuple(kept)


def label_of(text: str) -> str:
    """A kind's name as an event's label: letters, digits and a few marks, at most 60 characters."""
    words = (_WHAT.sub("-", word).strip("-") for word in text.split())
    return " ".join(word for word in words if word)[:_NAMED].strip() or "unnamed"


class Speaker(NamedTuple):
    """The author of a message's blocks.

    `kind`: of the message; None for a tool's result, identified by `call_id` and `tool`; `error`: the tool failed.
    """

    kind: str | None
    origin: Origin
    name: str | None = None
    call_id: str | None = None
    tool: str | None = None
    error: bool = False
