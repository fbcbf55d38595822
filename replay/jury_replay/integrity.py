"""The checks of one debate, each without a look at any other."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jury_events.codec import decode
from jury_events.debate_events import TextsErased
from jury_events.envelope import GENESIS, StoredEvent, stored_hash
from jury_events.errors import EventError
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream
from jury_events.parts import SALT_BYTES, decode_digest, encode_digest, part_digest
from jury_store.inventory import DebateRecord, Head

# Bodies are canonical JSON, where a quotation mark inside a text is escaped: this finds references and nothing else.
_REFERENCE = re.compile(rb'\{"part":"([A-Za-z0-9_-]{43})"\}')

_NOWHERE = 2**63


class Failure(NamedTuple):
    """One thing that is not as it was written. `version`, `event_id` and `part` say where, as far as that is known."""

    stream: str
    what: str
    version: int | None = None
    event_id: str | None = None
    part: str | None = None
    position: int = _NOWHERE

    def __str__(self) -> str:
        place = self.stream or "the log"
        if self.version is not None:
            place += f", event {self.version}"
        if self.event_id is not None:
            place += f" ({self.event_id})"
        return f"{place}: {self.what}"


class Checked(NamedTuple):
    """What a debate holds, and what is wrong with it."""

    events: int
    parts: int
    erased: int
    bytes: int
    failures: tuple[Failure, ...]


def check_debate(record: DebateRecord) -> Checked:
    """Chains, heads, bodies and texts of one debate."""
    failures: list[Failure] = []
    named: dict[str, StoredEvent] = {}
    for stream in dict.fromkeys((*record.events, *record.heads)):
        found = list(_stream_failures(stream, record.events.get(stream, []), record.heads.get(stream), named))
        failures += found[:1]
    failures += _exchange_failures(record, named)
    if not record.events and not record.heads:
        failures.append(Failure(f"debate/{record.debate_id}", "there are texts of it, but no stream"))
    events = [event for stream in record.events.values() for event in stream if _is_bytes(event.body)]
    references, erasable = _references(events)
    missing = {one: event for one, event in references.items() if decode_digest(one) not in record.parts}
    failures += [
        _at(event, f"the text {one} is missing, and no erasure of it is recorded", part=one)
        for one, event in missing.items()
        if one not in erasable
    ]
    failures += _text_failures(record, references)
    return Checked(
        events=sum(map(len, record.events.values())),
        parts=len(record.parts),
        erased=len(missing.keys() & erasable),
        bytes=sum(len(event.body) for event in events) + sum(len(part.content) for part in record.parts.values()),
        failures=tuple(failures),
    )


def _is_bytes(value: object) -> bool:
    """A SQLite column holds whatever somebody put there; what is no bytes is a failure already."""
    return isinstance(value, bytes)


def _references(events: list[StoredEvent]) -> tuple[dict[str, StoredEvent], set[str]]:
    """Every text that is referred to, with the first event that does; and those of which an erasure is recorded."""
    references: dict[str, StoredEvent] = {}
    erasable: set[str] = set()
    for event in events:
        found = [one.decode() for one in _REFERENCE.findall(event.body)]
        if event.type == _ERASED:
            erasable.update(found)
        for one in found:
            references.setdefault(one, event)
    return references, erasable


_ERASED: str = TextsErased.model_fields["type"].default


def _exchange_failures(record: DebateRecord, named: dict[str, StoredEvent]) -> Iterator[Failure]:
    """What the jury did names the calls that it follows from: none of them may be gone."""
    kept = {event.event_id for event in record.events.get(calls_stream(record.debate_id), [])}
    for exchange, event in named.items():
        if exchange not in kept:
            yield _at(event, f"the exchange {exchange} that it names is not stored")
            return


def _stream_failures(
    stream: str, events: list[StoredEvent], head: Head | None, named: dict[str, StoredEvent]
) -> Iterator[Failure]:
    """In the order of the stream, so that the first is the place to look at; adds to `named` the exchanges named."""
    previous, position = GENESIS, 0
    for version, event in enumerate(events, 1):
        if event.version != version:
            gap = f"event {version} is missing: the next one stored is event {event.version}"
            yield Failure(stream, gap, version, position=event.position)
        yield from _event_failures(event, previous, named)
        if event.position <= position:
            yield _at(event, f"its position {event.position} does not follow {position}, that of the event before it")
        previous, position = event.hash, event.position
    if head is None:
        yield Failure(stream, "there are events, but the stream has no head")
        return
    if head.version != len(events):
        cut = f"the head says that the last event is {head.version}, stored are {len(events)}"
        yield Failure(stream, cut, min(head.version, len(events)) + 1)
    elif head.hash != previous:
        yield Failure(stream, "the head holds another hash than the last event", len(events))


def _event_failures(event: StoredEvent, previous: bytes, named: dict[str, StoredEvent]) -> Iterator[Failure]:
    numbers = (event.position, event.version, event.schema, event.recorded_at)
    try:
        # SQLite keeps a fraction in a whole-number column, and the hash is made of the digits before it.
        if any(type(number) is not int for number in numbers):
            yield _at(event, "a column holds a value of the wrong kind: a whole number was changed")
            return
        if stored_hash(previous, event) != event.hash:
            yield _at(event, "its hash does not follow from it and the event before: something was changed")
            return
        decoded = decode(event)
        if not isinstance(decoded, ExchangeRecorded):
            for exchange in getattr(decoded, "exchanges", ()):
                named.setdefault(exchange, event)
    except EventError as error:
        yield _at(event, str(error))
    except (TypeError, AttributeError, UnicodeError) as error:
        yield _at(event, f"a column holds a value of the wrong kind: {error}")


def _text_failures(record: DebateRecord, references: dict[str, StoredEvent]) -> Iterator[Failure]:
    for digest, part in record.parts.items():
        try:
            name = encode_digest(digest)
            # Without its fixed length, bytes could move from the content into the salt and leave the digest as it is.
            same = len(part.salt) == SALT_BYTES and part_digest(part.salt, part.content) == digest
        except TypeError as error:
            yield Failure(f"debate/{record.debate_id}", f"a text holds a value of the wrong kind: {error}")
            continue
        event = references.get(name)
        if event is None:
            yield Failure(f"debate/{record.debate_id}", f"no event refers to the stored text {name}", part=name)
        elif not same:
            yield _at(event, f"the text {name} is not the one that was recorded", part=name)


def _at(event: StoredEvent, what: str, part: str | None = None) -> Failure:
    return Failure(event.stream, what, event.version, event.event_id, part, event.position)
