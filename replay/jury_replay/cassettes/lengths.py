"""Signed lengths: how long the streams of a debate were in its store, when its cassette was written.

Chains and proofs of inclusion show that what is in a cassette was recorded. That nothing is missing at the end of a
stream, such as the withdrawal of a review, only the store can say.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from jury_events.debate_history import DebateHistory
from jury_events.ids import portable_streams
from jury_events.local_events import SignedLengths
from jury_events.parts import encode_digest
from jury_events.text import moment
from jury_replay.cassettes.lines import LengthsLine, SignedEnd, StreamLengths
from jury_store.errors import BadNote
from jury_store.seals.keys import PublicKey, SealKey
from jury_store.seals.statement import STREAMS, known_key, read_statement, sign_statement, statement_fault

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
