"""Everything recorded of one debate, for every reader of it. Events are decoded on first access, once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Generic, TypeVar, cast, overload

from jury_events.batch_events import BatchTextsErased
from jury_events.codec import DebateEvent, decode
from jury_events.debate_events import DebateCancelled, DebateCompleted, DebateFailed, DebateOpened, TextsErased
from jury_events.envelope import Head, StoredEvent, erased_in
from jury_events.errors import DebateNotFound, MalformedBody
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import batch_stream, calls_stream, debate_stream, is_batch, local_stream, review_stream
from jury_events.local_facts import LocalFacts, local_facts
from jury_events.parts import Digest, Part, encode_digest
from jury_events.review_facts import ReviewFacts, review_facts

E = TypeVar("E", bound=DebateEvent | ExchangeRecorded)

_ENDINGS = frozenset(one.model_fields["type"].default for one in (DebateCompleted, DebateFailed, DebateCancelled))
_ERASED = frozenset(one.model_fields["type"].default for one in (TextsErased, BatchTextsErased))


class DecodedEvents(Sequence[E], Generic[E]):
    """The events of one stream, each decoded when it is first read; reading raises `EventError` as `decode` does."""

    def __init__(self, stream: str, stored: Sequence[StoredEvent]) -> None:
        self._stream = stream
        self._stored = stored
        self._decoded: list[E | None] = [None] * len(stored)

    def __len__(self) -> int:
        return len(self._stored)

    @overload
    def __getitem__(self, index: int) -> E: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[E]: ...

    def __getitem__(self, index: int | slice) -> E | Sequence[E]:
        if isinstance(index, slice):
            return list(map(self.__getitem__, range(*index.indices(len(self)))))
        event = self._decoded[index]
        if event is None:
            stored = self._stored[index]
            if stored.stream != self._stream:
                raise MalformedBody(f"event {stored.version} of {stored.stream} is stored in {self._stream}")
            # `decode` refuses an event type that belongs to another kind of stream.
            event = self._decoded[index] = cast("E", decode(stored))
        return event

    def __iter__(self) -> Iterator[E]:
        return map(self.__getitem__, range(len(self)))

    def know(self, events: Sequence[E]) -> None:
        """Take the first events as they were before they were encoded, in this process."""
        self._decoded[: len(events)] = events


@dataclass(frozen=True)
class DebateHistory:
    """One debate as it is recorded in a store or a cassette, or as far as its stream was read.

    Attributes:
        debate_id: its id.
        streams: stored events by stream name, in the order of `jury_events.ids.PREFIXES`; a stream that was not
            read, or does not exist, is left out.
        heads: of the streams, by name; empty where they were not read.
        parts: texts as stored, altered ones too.
        twins: rows that a table contains a second time, under a key that allows one row; the first of them is in here.
    """

    debate_id: str
    streams: Mapping[str, Sequence[StoredEvent]]
    heads: Mapping[str, Head] = field(default_factory=dict)
    parts: Mapping[Digest, Part] = field(default_factory=dict)
    twins: tuple[str, ...] = ()

    @classmethod
    def of_events(
        cls, debate_id: str, stored: Iterable[StoredEvent], parts: Mapping[Digest, Part] | None = None
    ) -> "DebateHistory":
        """The history in events of one debate as they were appended, from any version on."""
        streams: dict[str, list[StoredEvent]] = {}
        for event in stored:
            streams.setdefault(event.stream, []).append(event)
        return cls(debate_id, streams, parts=parts or {})

    def __getstate__(self) -> dict[str, Any]:
        """Decoded events stay in their process: the stored bytes are smaller, and pickle faster."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def stored_events(self) -> Sequence[StoredEvent]:
        """The stream `debate/`: what the jury did."""
        return self.streams.get(debate_stream(self.debate_id), ())

    @property
    def stored_exchanges(self) -> Sequence[StoredEvent]:
        """The stream `calls/`: what the models answered."""
        return self.streams.get(calls_stream(self.debate_id), ())

    @property
    def stored_local(self) -> Sequence[StoredEvent]:
        """The stream `local/`: what this store did with the debate."""
        return self.streams.get(local_stream(self.debate_id), ())

    @property
    def stored_reviews(self) -> Sequence[StoredEvent]:
        """The stream `review/`: what people said of the debate."""
        return self.streams.get(review_stream(self.debate_id), ())

    @property
    def stored_batch(self) -> Sequence[StoredEvent]:
        """The stream `batches/`: what became of a batch; of a debate there is none."""
        return self.streams.get(batch_stream(self.debate_id), ())

    @property
    def is_batch(self) -> bool:
        """Whether this is a batch, not a debate."""
        return is_batch(self.debate_id)

    @cached_property
    def events(self) -> DecodedEvents[DebateEvent]:
        """The stream `debate/`, decoded."""
        return DecodedEvents(debate_stream(self.debate_id), self.stored_events)

    @cached_property
    def exchanges(self) -> DecodedEvents[ExchangeRecorded]:
        """The stream `calls/`, decoded."""
        return DecodedEvents(calls_stream(self.debate_id), self.stored_exchanges)

    @cached_property
    def exchanges_by_id(self) -> Mapping[str, ExchangeRecorded]:
        """The exchanges by id, in the order of the stream."""
        found = {event.event_id: event for event in self.exchanges}
        if len(found) != len(self.exchanges):
            raise MalformedBody(
                f"debate {self.debate_id} has two exchanges of one id; see jury verify {self.debate_id}"
            )
        return found

    @cached_property
    def local(self) -> LocalFacts:
        """Imports and quarantine of the debate in this store; raises `EventError` as `decode` does."""
        return local_facts(self.stored_local)

    @cached_property
    def reviews(self) -> ReviewFacts:
        """The reviews of people; raises `EventError` as `decode` does."""
        return review_facts(self.stored_reviews, self.local.foreign_reviews)

    @property
    def opened(self) -> DebateOpened:
        """The opening event."""
        if not self.stored_events and not self.stored_exchanges:
            raise DebateNotFound.named(self.debate_id)
        opened = self.events[0] if self.events else None
        if not isinstance(opened, DebateOpened):
            raise MalformedBody(
                f"debate {self.debate_id} does not begin with its opening event; see jury verify {self.debate_id}"
            )
        if opened.debate_id != self.debate_id:
            raise MalformedBody(f"debate {self.debate_id} begins with the opening of another, {opened.debate_id}")
        return opened

    @property
    def labelled(self) -> DebateOpened:
        """The opening event with the newest label of the case; raises as `opened` and `reviews` do."""
        return self.reviews.with_label(self.opened) if self.stored_reviews else self.opened

    @property
    def finished(self) -> bool:
        """Whether the debate completed, failed or was cancelled."""
        return any(event.type in _ENDINGS for event in self.stored_events)

    @cached_property
    def erased_digests(self) -> frozenset[Digest]:
        """Texts whose erasure is recorded; an erasure that does not decode names none."""
        events = (*self.stored_events, *self.stored_batch)
        return frozenset(erased_in(event.body for event in events if event.type in _ERASED))

    @cached_property
    def erased(self) -> frozenset[str]:
        """The same by the 43 characters of their references."""
        return frozenset(map(encode_digest, self.erased_digests))

    @cached_property
    def texts(self) -> Mapping[str, bytes]:
        """Texts by the 43 characters of their references, without altered ones and those whose erasure is recorded."""
        return {
            encode_digest(digest): part.content
            for digest, part in self.parts.items()
            if digest not in self.erased_digests and part.is_whole
        }

    @property
    def portable(self) -> "DebateHistory":
        """The same without the stream `local/`, which belongs to its store: the content of a cassette."""
        local = local_stream(self.debate_id)

        def others(found: Mapping[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in found.items() if name != local}

        return DebateHistory(self.debate_id, others(self.streams), others(self.heads), self.parts, self.twins)
