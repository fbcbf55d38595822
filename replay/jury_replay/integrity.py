"""The checks of one debate, each without a look at any other: its streams, its texts, its recorded imports."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jury_events.batch_events import BatchTextsErased
from jury_events.batch_facts import BatchFacts, next_facts
from jury_events.codec import AnyEvent, ReviewEvent, decode_exactly
from jury_events.debate_events import (
    DebateBegun,
    DebateOpened,
    JudgmentRendered,
    JurorAbstained,
    JurorEvaluated,
    StatementMade,
    TextsErased,
)
from jury_events.debate_history import DebateHistory
from jury_events.envelope import GENESIS, Head, StoredEvent, stored_hash
from jury_events.errors import EventError
from jury_events.ids import (
    DEBATE_PREFIX,
    LOCAL_PREFIX,
    batch_stream,
    calls_stream,
    local_stream,
    owner_stream,
    review_stream,
    stream_debate,
)
from jury_events.local_events import DebateImported
from jury_events.parts import Digest, Part, decode_digest, encode_digest
from jury_replay.quarantine import is_set_aside

# Bodies are canonical JSON, where a quotation mark inside a text is escaped: this finds references and nothing else.
_REFERENCE = re.compile(rb'\{"part":"([A-Za-z0-9_-]{43})"\}')

_NOWHERE = 2**63


class IntegrityFailure(NamedTuple):
    """One deviation from what was written. `version`, `event_id` and `part` locate it, as far as they are known."""

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
    """The amounts of a debate, and its failures."""

    events: int
    parts: int
    erased: int
    bytes: int
    failures: tuple[IntegrityFailure, ...]


def check_debate(history: DebateHistory) -> Checked:
    """Chains, heads, bodies and texts of one debate; of one in quarantine, bodies are hashed and not read."""
    failures: list[IntegrityFailure] = []
    named: dict[str, StoredEvent] = {}
    read = not is_set_aside(history.stored_local)
    for stream in dict.fromkeys((*history.streams, *history.heads)):
        found = _stream_failure(stream, history.streams.get(stream, []), history.heads.get(stream), named, read=read)
        if found is None and read and stream == batch_stream(history.debate_id):
            found = _batch_failure(stream, history.streams[stream])
        failures += () if found is None else (found,)
    failures += _exchange_failures(history, named)
    failures += _begun_failures(history)
    failures += (IntegrityFailure(f"debate/{history.debate_id}", twin) for twin in history.twins)
    if not history.streams and not history.heads:
        failures.append(IntegrityFailure(f"debate/{history.debate_id}", "there are texts of it, but no stream"))
    events = [event for stream in history.streams.values() for event in stream if _is_bytes(event.body)]
    references, erasable = _references(events)
    missing = {digest: event for digest, event in references.items() if digest not in history.parts}
    for digest in sorted(history.parts.keys() & erasable):
        name, event = encode_digest(digest), references[digest]
        back = f"the text {name} is stored, although its erasure is recorded: finish it or repeat it with jury erase"
        failures.append(at_event(event, back, part=name))
    for digest, event in missing.items():
        if digest not in erasable:
            name = encode_digest(digest)
            failures.append(at_event(event, f"the text {name} is missing, and no erasure of it is recorded", part=name))
    failures += _text_failures(history, references)
    return Checked(
        events=sum(map(len, history.streams.values())),
        parts=len(history.parts),
        erased=len(missing.keys() & erasable),
        bytes=sum(len(event.body) for event in events) + sum(_size(part) for part in history.parts.values()),
        failures=tuple(failures),
    )


def _begun_failures(history: DebateHistory) -> Iterator[IntegrityFailure]:
    """No model is asked before the debate begins."""
    calls = history.stored_exchanges
    if calls and history.stored_events and not any(event.type == _BEGUN for event in history.stored_events):
        yield at_event(calls[0], "a model was asked, and no event says that the debate began")


def _size(part: Part) -> int:
    return len(part.content) if _is_bytes(part.content) else 0


def _is_bytes(value: object) -> bool:
    """A tampered SQLite column can contain any type; a value that is not bytes is a failure already."""
    return isinstance(value, bytes)


def _references(events: list[StoredEvent]) -> tuple[dict[Digest, StoredEvent], set[Digest]]:
    """Every referenced text with the first event that names it; and the texts whose erasure is recorded."""
    referring: dict[bytes, StoredEvent] = {}
    erasable: set[Digest] = set()
    for event in events:
        found = _REFERENCE.findall(event.body)
        if event.type in _ERASED:
            erasable.update(decode_digest(one.decode()) for one in found)
        for one in found:
            referring.setdefault(one, event)
    return {decode_digest(one.decode()): event for one, event in referring.items()}, erasable


_BEGUN: str = DebateBegun.model_fields["type"].default
_ERASED = frozenset(one.model_fields["type"].default for one in (TextsErased, BatchTextsErased))


def _exchange_failures(history: DebateHistory, named: dict[str, StoredEvent]) -> Iterator[IntegrityFailure]:
    """Events name the exchanges that they follow from: each must be stored."""
    kept = {event.event_id for event in history.stored_exchanges}
    for exchange, event in named.items():
        if exchange not in kept:
            yield at_event(event, f"the exchange {exchange} that it names is not stored")
            return


def _stream_failure(
    stream: str, events: Sequence[StoredEvent], head: Head | None, named: dict[str, StoredEvent], *, read: bool
) -> IntegrityFailure | None:
    """The first failure in a stream; adds to `named` the exchanges named before it."""
    previous, position = GENESIS, 0
    for version, event in enumerate(events, 1):
        if event.version != version:
            gap = f"event {version} is missing: the next one stored is event {event.version}"
            if wrong := _wrong_types(event, _KINDS):
                gap = f"a column contains a value of the wrong type: {wrong}"
            return at_event(event, gap)._replace(version=version, event_id=None)
        fault = _event_fault(event, previous, named, read=read)
        if fault is not None:
            return at_event(event, fault)
        if event.position <= position:
            return at_event(
                event, f"its position {event.position} does not follow {position}, that of the event before it"
            )
        previous, position = event.hash, event.position
    return _head_failure(stream, events, head, previous)


def stream_failure(stream: str, events: Sequence[StoredEvent], head: Head | None) -> IntegrityFailure | None:
    """The first failure in the chain, the bodies or the head of a stream that belongs to no debate."""
    return _stream_failure(stream, events, head, {}, read=True)


def _batch_failure(stream: str, events: Sequence[StoredEvent]) -> IntegrityFailure | None:
    """The first event of a batch that contradicts those before it; its chain is whole."""
    facts: BatchFacts | None = None
    for event in events:
        try:
            facts = next_facts(facts, event)
        except EventError as error:
            return at_event(event, str(error))
    if facts is not None and facts.listed != facts.prepared.items:
        return IntegrityFailure(stream, f"{facts.listed} of its {facts.prepared.items} items are listed")
    return None


def _head_failure(
    stream: str, events: Sequence[StoredEvent], head: Head | None, last: bytes
) -> IntegrityFailure | None:
    """Why a head is not that of these events, the last of which has the hash `last`."""
    if head is None:
        return IntegrityFailure(stream, "there are events, but the stream has no head")
    if not events and head.version == 0:
        return IntegrityFailure(stream, "there is a head, and no event")
    if wrong := _wrong_types(head, _HEAD_KINDS):
        return IntegrityFailure(stream, f"a column of its head contains a value of the wrong type: {wrong}")
    if head.version != len(events):
        cut = f"the head says that the last event is {head.version}, stored are {len(events)}"
        return IntegrityFailure(stream, cut, min(head.version, len(events)) + 1)
    if head.hash != last:
        return IntegrityFailure(stream, "the head contains another hash than the last event", len(events))
    return None


_KINDS = (int, str, int, str, str, int, int, bytes, bytes)
"""Of the columns of an event, in their order."""

_HEAD_KINDS = (int, int, bytes)

_FOLLOWING = (JurorEvaluated, JurorAbstained, StatementMade, JudgmentRendered)
"""Events that name the exchanges that they follow from."""


def _event_fault(event: StoredEvent, previous: bytes, named: dict[str, StoredEvent], *, read: bool) -> str | None:
    try:
        # SQLite stores a fraction in an integer column, and the hash covers only the digits before the point.
        if tuple(map(type, event)) != _KINDS:
            return f"a column contains a value of the wrong type: {_wrong_types(event, _KINDS)}"
        if stored_hash(previous, event) != event.hash:
            return "its hash does not follow from it and the event before: something was changed"
        if not read and not event.stream.startswith(LOCAL_PREFIX):
            return None
        decoded = decode_exactly(event)
    except EventError as error:
        return str(error)
    except (TypeError, AttributeError, UnicodeError) as error:
        return f"a column contains a value of the wrong type: {error}"
    if (misplaced := _misplaced(event, decoded)) is not None:
        return misplaced
    if isinstance(decoded, _FOLLOWING):
        for exchange in decoded.exchanges:
            named.setdefault(exchange, event)
    return None


def _wrong_types(row: StoredEvent | Head | Part, kinds: Sequence[type]) -> str:
    return ", ".join(
        f"{name} contains {type(value).__name__}, not {kind.__name__}"
        for name, value, kind in zip(row._fields, row, kinds, strict=True)
        if type(value) is not kind
    )


def _misplaced(event: StoredEvent, decoded: AnyEvent) -> str | None:
    """Why an event of a debate or a review is misplaced; None: it is not."""
    if isinstance(decoded, ReviewEvent) and decoded.number != event.version:
        return f"it says that it is event {decoded.number} of its stream"
    if not event.stream.startswith(DEBATE_PREFIX):
        return None
    if (event.version == 1) != isinstance(decoded, DebateOpened):
        return "a debate begins with its opening, and has one"
    if isinstance(decoded, DebateOpened) and decoded.debate_id != stream_debate(event.stream):
        return f"it opens another debate, {decoded.debate_id}"
    return None


def _text_failures(history: DebateHistory, references: dict[Digest, StoredEvent]) -> Iterator[IntegrityFailure]:
    for digest, part in history.parts.items():
        event = references.get(digest)
        try:
            if part.is_whole and event is not None:
                continue
            name = encode_digest(digest)
        except TypeError:
            what = f"a text stands under {str(digest)[:80]!r}, which is no digest{_wrong_part(part)}"
            yield IntegrityFailure(f"debate/{history.debate_id}", what)
            continue
        if event is None:
            yield IntegrityFailure(
                f"debate/{history.debate_id}", f"no event refers to the stored text {name}", part=name
            )
        else:
            yield at_event(event, f"the text {name} is not the one that was recorded{_wrong_part(part)}", part=name)


def _wrong_part(part: Part) -> str:
    wrong = _wrong_types(part, (bytes, bytes, bytes))
    return f": {wrong}" if wrong else ""


def at_event(event: StoredEvent, what: str, part: str | None = None) -> IntegrityFailure:
    """A failure at an event, with those of its columns that have the right type."""
    return IntegrityFailure(
        event.stream,
        what,
        event.version if type(event.version) is int else None,
        event.event_id if type(event.event_id) is str else None,
        part,
        event.position if type(event.position) is int else _NOWHERE,
    )


def seal_digest(origin: bytes) -> str:
    """The digest of a stored seal as `debate_imported` records it."""
    return hashlib.sha256(origin).hexdigest()


def import_failures(history: DebateHistory, origin: bytes | None) -> Iterator[IntegrityFailure]:
    """Failures of the recorded imports: a cut stream, a missing or replaced seal."""
    try:
        imports = history.local.imports
    except EventError:
        return  # the check of the chain reports it
    stream = local_stream(history.debate_id)
    if origin is not None and not any(imported.seal for imported in imports):
        yield IntegrityFailure(stream, "a seal is stored with it, and no import with a seal is recorded")
    for imported in imports:
        for name, arrived in arrived_in(history.debate_id, imported):
            if len(history.streams.get(name, ())) < arrived:
                there = len(history.streams.get(name, ()))
                what = f"{arrived} events of {name} were imported, stored are {there}"
                yield IntegrityFailure(stream, what, event_id=imported.event_id)
        if imported.seal is None:
            continue
        if origin is None:
            yield IntegrityFailure(stream, "the seal of its import is missing", event_id=imported.event_id)
        elif not _is_bytes(origin) or seal_digest(origin) != imported.seal:
            yield IntegrityFailure(
                stream, "the seal stored with it is not that of the import", event_id=imported.event_id
            )


def arrived_in(debate_id: str, imported: DebateImported) -> tuple[tuple[str, int], ...]:
    """The imported streams, each with its last imported version."""
    return (
        (owner_stream(debate_id), imported.debate.until),
        (calls_stream(debate_id), imported.calls.until),
        (review_stream(debate_id), imported.review.until),
    )
