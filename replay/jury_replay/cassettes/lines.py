"""The lines of a cassette, each one canonical JSON value. docs/cassettes.md has the format for readers elsewhere.

    manifest · every event of debate/ID · of calls/ID · of review/ID · every text · the seal · the signed lengths

The last two are there where the debate was sealed, and where its lengths were signed.

Nothing in them belongs to the store that the debate is taken from: no position, no epoch.

Chains and proofs of inclusion show that what is in a cassette was recorded. That nothing is missing at the end of a
stream, such as the withdrawal of a review, only the store can say: it signs how long the streams of a debate were when
the cassette was written.
"""

import hashlib
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Collection
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field, StringConstraints

from jury_events.calibration import Hex256
from jury_events.canonical import canonical_json
from jury_events.debate_history import DebateHistory
from jury_events.envelope import END_OF_TIME, MOST_NAME, StoredEvent
from jury_events.ids import portable_streams
from jury_events.local_events import SignedLengths
from jury_events.parts import SALT_BYTES, Part, decode_digest, encode_digest
from jury_events.text import moment
from jury_events.value import DebateId, Value
from jury_store.errors import BadNote
from jury_store.seals.keys import PublicKey, SealKey
from jury_store.seals.note import STREAMS, known_key, read_statement, sign_statement, statement_fault

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
    """Stream lengths and the signed note over their digest (`jury_store.seals.note`)."""

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


SignLengths = Callable[[DebateHistory, str], LengthsLine]
"""From what a cassette has of a debate, and the SHA-256 of its lines after the first, in hexadecimal."""


def signing(key: SealKey, clock: Callable[[], int]) -> SignLengths:
    """Signs with this key; `clock`: microseconds since 1970-01-01 UTC."""

    def sign(history: DebateHistory, content: str) -> LengthsLine:
        debates = {history.debate_id: _ends(history)}
        lengths = StreamLengths(at=clock(), content=content, debates=debates, key=key.public.name)
        return LengthsLine(lengths=lengths, note=sign_statement(STREAMS, lengths.digest, key))

    return sign


def _ends(history: DebateHistory) -> dict[str, SignedEnd]:
    return {
        stream: SignedEnd(events=len(events), head=encode_digest(events[-1].hash) if events else None)
        for stream in portable_streams(history.debate_id)
        for events in [history.streams.get(stream, ())]
    }


def lengths_fault(history: DebateHistory, content: str, line: LengthsLine) -> str | None:
    """Why signed lengths are not those of this cassette; None: they are. Whose signature it is stays open.

    Args:
        content: the SHA-256 of the lines between its first and its last one, in hexadecimal.
    """
    lengths = line.lengths
    try:
        statement = read_statement(line.note, STREAMS)
    except BadNote as error:
        return f"the note of its signed lengths: {error}"
    if (statement.digest, statement.signer) != (lengths.digest, lengths.key):
        return f"the note of its signed lengths, by {statement.key}, is over other lengths"
    if [history.debate_id] != list(lengths.debates):
        return f"its signed lengths are of {', '.join(lengths.debates)[:300]}, not of {history.debate_id}"
    signed, found = lengths.debates[history.debate_id], _ends(history)
    if signed.keys() != found.keys():
        return f"its signed lengths are of the streams {', '.join(signed)[:600]}, not of {', '.join(found)}"
    said = f"signed by {statement.key} as of {moment(lengths.at)}"
    for stream, here in found.items():
        there = signed[stream]
        if here.events != there.events:
            return f"the stream {stream} has {here.events} events here, and {there.events} in the lengths {said}"
        if here.head != there.head:
            return f"the stream {stream} ends with another event than in the lengths {said}"
    if content != lengths.content:
        return f"its texts or its seal are not those of the lengths {said}"
    return None


class TrustedLengths(NamedTuple):
    """Who signed lengths, and when; None: no trusted key did. `fault`: a signature in the name of one is invalid."""

    signed: SignedLengths | None = None
    fault: str | None = None


def trusted_lengths(line: LengthsLine, keys: Collection[PublicKey]) -> TrustedLengths:
    """What lengths are worth under these keys; those by an unknown key are as none."""
    statement = read_statement(line.note, STREAMS)
    key = known_key(statement, keys)
    if key is None:
        return TrustedLengths()
    if (fault := statement_fault(statement, [key])) is not None:
        return TrustedLengths(fault=f"its signed lengths: {fault}")
    return TrustedLengths(SignedLengths(signed_by=key.name[:300], at=line.lengths.at))


def signer_of(line: LengthsLine) -> str:
    """The key that signed lengths, as they say: its name and id."""
    return read_statement(line.note, STREAMS).key
