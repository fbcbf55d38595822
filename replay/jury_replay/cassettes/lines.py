"""The lines of a cassette, each one canonical JSON value. docs/cassettes.md has the format for readers elsewhere.

    manifest · every event of debate/ID · of calls/ID · of review/ID · every text · the seal · the signed lengths

The last two are there where the debate was sealed, and where its lengths were signed.

Nothing in them belongs to the store that the debate is taken from: no position, no epoch.
"""

import hashlib
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from jury_events.calibration import Hex256
from jury_events.canonical import canonical_json
from jury_events.envelope import END_OF_TIME, MOST_NAME, StoredEvent
from jury_events.parts import SALT_BYTES, Part, decode_digest, encode_digest
from jury_events.value import DebateId, Value

FORMAT: Final = "jury-judge 1"
SUFFIX = ".cassette.jsonl"
BATCH_SUFFIX = ".batch.jsonl"
"""Of a file with the stream of a batch of calls: of the same form, and no debate."""
RUN_SUFFIX = ".run.jsonl"
"""Of a file with the stream of a run and its list; its debates are files of their own."""

DRIFT_SUFFIX = ".drift.jsonl"
"""Of a file with the stream of a baseline of drift checks; its debates are files of their own."""

STREAM_BEGINS = b'{"cassette":"jury-judge 1","listed":'
"""The first bytes of a file of a run or a baseline."""

BEGINS = b'{"cassette":'
"""The first bytes of every cassette: no other field of the manifest sorts before it."""

MAX_LINE = 256 * 1024 * 1024
MAX_CASSETTE = 1024 * 1024 * 1024
"""Bytes of one line, and of a whole cassette."""

Hash = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{43}$")]
"""32 bytes in unpadded base64url."""

Salt = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{22}$")]
"""16 bytes in unpadded base64url."""

_Count = Annotated[int, Field(ge=0, lt=2**31)]
_Number = Annotated[int, Field(ge=1, lt=2**31)]
_Time = Annotated[int, Field(ge=0, lt=END_OF_TIME)]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=MOST_NAME)]


class StreamEnd(Value):
    """How many events a stream has, and the hash of the last one."""

    events: _Number
    head: Hash


class Manifest(Value):
    """What follows: streams by name, the number of texts, whether a seal ends the file, the hash of all that follows.

    `lengths`: signed lengths are the last line.
    `sha256` is over the bytes of every line after this one, in hexadecimal, as `tail -n +2 FILE | sha256sum` prints it.
    """

    cassette: Literal["jury-judge 1"] = FORMAT
    debate_id: DebateId
    streams: dict[str, StreamEnd]
    parts: _Count
    sealed: bool
    lengths: Literal[True] | None = None
    sha256: Hex256


class StreamManifest(Value):
    """What follows in the file of one stream: its events, a line for each of the `listed` debates, then the seal."""

    cassette: Literal["jury-judge 1"] = FORMAT
    streams: dict[str, StreamEnd]
    listed: _Count
    sealed: bool
    sha256: Hex256


class ListedLine(Value):
    """A debate of the list, in its order, and the hash of its opening event."""

    debate_id: DebateId
    opened: Hash


class CassetteEvent(Value):
    """One event; `body` is the text of its bytes, exactly."""

    stream: _Name
    version: _Number
    event_id: _Name
    type: _Name
    # The column's name; the base class has an attribute of that name that nothing here uses.
    schema_: Annotated[int, Field(ge=1, lt=2**31, alias="schema")]
    recorded_at: _Time
    body: str
    hash: Hash

    @classmethod
    def of(cls, event: StoredEvent) -> "CassetteEvent":
        """The line of a stored event; UnicodeDecodeError where its body is no text."""
        fields = event._asdict()
        del fields["position"]
        return cls.model_validate({**fields, "body": event.body.decode("utf-8"), "hash": encode_digest(event.hash)})

    def stored(self, position: int) -> StoredEvent:
        """The event under a position of the reader's choice."""
        return StoredEvent(
            position,
            self.stream,
            self.version,
            self.event_id,
            self.type,
            self.schema_,
            self.recorded_at,
            self.body.encode("utf-8"),
            decode_digest(self.hash),
        )


class TextPartLine(Value):
    """A text that is valid UTF-8, under its digest."""

    part: Hash
    salt: Salt
    text: str


class BytesPartLine(Value):
    """A text that is not: in base64."""

    part: Hash
    salt: Salt
    base64: str


class Included(Value):
    """Position of a stream's event `version` in the checkpoint's tree: its leaf from 0, and the proof up to the root.

    The chain binds every event before it.
    """

    version: _Number
    leaf: Annotated[int, Field(ge=0, lt=2**63)]
    proof: tuple[Hash, ...]


class SealLine(Value):
    """The checkpoint of the log in which the debate was recorded, and where its streams stand in it."""

    note: str
    streams: dict[str, Included]


class SignedEnd(Value):
    """How many events a stream has in its store, and the hash of the last one; None where it has none."""

    events: _Count
    head: Hash | None = None


class StreamLengths(Value):
    """What a store had of debates: every portable stream, also those without an event.

    `key` is the name of the signing key, `at` microseconds since 1970-01-01 UTC. `content` is the SHA-256 of the lines
    between the first of the cassette and this one: a statement fits no other cassette.
    """

    at: _Time
    content: Hex256
    debates: dict[DebateId, dict[str, SignedEnd]]
    key: str

    @property
    def digest(self) -> str:
        """The SHA-256 that is signed, in hexadecimal."""
        return hashlib.sha256(written(self).removesuffix(b"\n")).hexdigest()


class LengthsLine(Value):
    """Stream lengths and the signed note over their digest (`jury_store.seals.statement`)."""

    lengths: StreamLengths
    note: str


def part_line(part: Part) -> TextPartLine | BytesPartLine:
    """The line of a text."""
    name, salt = encode_digest(part.digest), urlsafe_b64encode(part.salt).rstrip(b"=").decode()
    try:
        return TextPartLine(part=name, salt=salt, text=part.content.decode("utf-8"))
    except UnicodeDecodeError:
        return BytesPartLine(part=name, salt=salt, base64=b64encode(part.content).decode())


def part_of(line: TextPartLine | BytesPartLine) -> Part:
    """The text of a line; ValueError where it could have been written more simply, or is no base64."""
    salt = urlsafe_b64decode(line.salt + "==")
    assert len(salt) == SALT_BYTES
    content = line.text.encode("utf-8") if isinstance(line, TextPartLine) else b64decode(line.base64, validate=True)
    part = Part(decode_digest(line.part), salt, content)
    if part_line(part) != line:
        raise ValueError("this is not the one way in which a text is written")
    return part


def written(line: Value) -> bytes:
    """The bytes of a line, its end included."""
    return canonical_json(line.model_dump(mode="json", by_alias=True, exclude_none=True)) + b"\n"
