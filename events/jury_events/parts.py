"""Free text, stored apart from the events that refer to it.

A part is stored once a debate under SHA-256(salt ‖ bytes), each with a random salt. The salt is stored beside the
bytes and deleted with them, so that the digest left in an event does not confirm a guess of an erased text.
"""

import hashlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol

from pydantic import StringConstraints

from jury_events.errors import AlteredPart, UnknownPart
from jury_events.value import Value

SALT_BYTES = 16
Digest = bytes

_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_STANDARD = bytes.maketrans(b"-_", b"+/")


@dataclass(frozen=True)
class PartRef:
    """A reference to a part in a body: `{"part": digest}`, the 32-byte digest in unpadded base64url.

    Checked where it is read as a part of a value. Not a `Value` itself, which would take three times the time and the
    memory: there are a hundred in a debate.
    """

    __pydantic_config__ = Value.model_config

    part: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{43}$")]

    @property
    def digest(self) -> Digest:
        """The 32 raw bytes."""
        return decode_digest(self.part)

    def __hash__(self) -> int:
        return hash(self.part)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its text: messages between actors contain thousands of references."""
        return PartRef, (self.part,)


class ImageRef(Value):
    """A picture that is a part, and its media type (`image/png`)."""

    media_type: Annotated[str, StringConstraints(pattern=r"^image/[a-z]{3,8}$")]
    content: PartRef


class Part(NamedTuple):
    """The bytes of one text and the salt that its digest was made with."""

    digest: Digest
    salt: bytes
    content: bytes

    @property
    def ref(self) -> PartRef:
        """The reference to this part."""
        return PartRef(encode_digest(self.digest))

    @property
    def is_whole(self) -> bool:
        """Whether content and salt match the digest, and have the right types and lengths."""
        try:
            # Without a fixed length, bytes could move between content and salt and leave the digest unchanged.
            return len(self.salt) == SALT_BYTES and part_digest(self.salt, self.content) == self.digest
        except TypeError:
            return False  # a SQLite column may contain any type


def whole(parts: Iterable[Part]) -> Iterator[Part]:
    """The same parts, each verified."""
    for part in parts:
        if not part.is_whole:
            digest: object = part.digest  # a SQLite column may contain any type
            raise AlteredPart(encode_digest(digest) if isinstance(digest, bytes) else repr(digest)[:80])
        yield part


def encode_digest(digest: Digest) -> str:
    """32 bytes as 43 base64url characters."""
    return b2a_base64(digest, newline=False).translate(_URL_SAFE)[:43].decode("ascii")


def decode_digest(text: str) -> Digest:
    """The inverse of `encode_digest`."""
    return a2b_base64(text.encode("ascii").translate(_STANDARD) + b"=")


def part_digest(salt: bytes, content: bytes) -> Digest:
    """SHA-256(salt ‖ content); the salt has a fixed length, so the concatenation is unambiguous."""
    return hashlib.sha256(salt + content).digest()


def make_part(content: bytes, salt: bytes) -> Part:
    """A part under the given salt (`SALT_BYTES` random bytes, drawn by the caller)."""
    if len(salt) != SALT_BYTES:
        raise ValueError(f"a salt has {SALT_BYTES} bytes, not {len(salt)}")
    return Part(hashlib.sha256(salt + content).digest(), salt, content)


class PartMaker(Protocol):
    """Makes references of texts; new parts are appended together with the event that refers to them."""

    def make(self, content: str | bytes) -> PartRef:
        """The reference of `content`; the same content gives the same reference."""
        ...


class PartRegistry(PartMaker, Protocol):
    """A `PartMaker` that also returns the texts."""

    def content(self, part: str) -> bytes:
        """The content of a part by the 43 characters of its reference; raises `UnknownPart`."""
        ...


class PartBuffer:
    """A `PartRegistry` that draws salts and collects the parts that are not in the log yet.

    `known` are parts that are already stored, so that a text is stored once a debate.
    """

    def __init__(self, draw_salt: Callable[[], bytes], known: Iterable[Part] = ()) -> None:
        self._draw_salt = draw_salt
        self._refs: dict[bytes, PartRef] = {}
        self._texts: dict[str, bytes] = {}
        self._fresh: dict[str, Part] = {}
        if known:
            self.know(known)

    def know(self, parts: Iterable[Part]) -> None:
        """Add parts that are already in the log."""
        for part in whole(parts):
            text = encode_digest(part.digest)
            self._refs.setdefault(part.content, PartRef(text))
            self._texts[text] = part.content

    def know_texts(self, texts: Mapping[str, bytes]) -> None:
        """Add contents by the 43 characters of their references."""
        for ref, content in texts.items():
            self._refs.setdefault(content, PartRef(ref))
        self._texts.update(texts)

    def text(self, ref: PartRef) -> bytes:
        """The content of a part that was made or added here."""
        return self.content(ref.part)

    def content(self, part: str) -> bytes:
        """As `text`, by the 43 characters of the reference."""
        try:
            return self._texts[part]
        except KeyError:
            raise UnknownPart(part) from None

    def make(self, content: str | bytes) -> PartRef:
        """The reference of `content`, made once."""
        raw = content.encode("utf-8") if isinstance(content, str) else content
        ref = self._refs.get(raw)
        if ref is None:
            part = make_part(raw, self._draw_salt())
            text = encode_digest(part.digest)
            self._fresh[text] = part
            ref = self._refs[raw] = PartRef(text)
            self._texts[text] = raw
        return ref

    def forget(self, ref: PartRef) -> None:
        """Drop a text that is stored and not needed any more; made again, it would have another reference."""
        content = self._texts.pop(ref.part, None)
        if content is not None:
            self._refs.pop(content, None)

    def take(self) -> tuple[Part, ...]:
        """The parts made since the last call."""
        fresh = tuple(self._fresh.values())
        self._fresh.clear()
        return fresh

    def unstored(self, refs: Collection[str]) -> tuple[Part, ...]:
        """The parts made here among these references, until `stored` is called with them.

        Several events that are appended at once may bring the same part: whichever is stored, has its texts.
        """
        return tuple([self._fresh[ref] for ref in refs if ref in self._fresh])

    def stored(self, refs: Collection[str]) -> None:
        """The parts of these references are in the log."""
        for ref in refs:
            self._fresh.pop(ref, None)


class BorrowedTexts:
    """A `PartRegistry` that makes references with one maker and looks texts up elsewhere.

    Args:
        text: the content of a reference; what it raises for an unknown one is passed on.
    """

    def __init__(self, maker: PartMaker, text: Callable[[PartRef], bytes]) -> None:
        self._maker = maker
        self._text = text

    def make(self, content: str | bytes) -> PartRef:
        """See `PartMaker`."""
        return self._maker.make(content)

    def content(self, part: str) -> bytes:
        """See `PartRegistry`."""
        return self._text(PartRef(part))


def refs_in(body: Any) -> Iterator[str]:
    """Every part reference in decoded JSON, in document order, as its 43 characters.

    A reference is an object whose only key is `part`; no other object of any body has that shape.
    """
    if isinstance(body, dict):
        if len(body) == 1 and isinstance(part := body.get("part"), str):
            yield part
            return
        for value in body.values():
            yield from refs_in(value)
    elif isinstance(body, list):
        for value in body:
            yield from refs_in(value)
