"""What providers answer about batches: ids, times and lines, each kept as the bytes that it was sent as."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from json import JSONDecoder
from typing import IO, Any, NamedTuple

from jury_events.outcome import CallOutcome
from jury_events.text import CONTROL, visible_line
from jury_providers.batches.calls import upload_seconds
from jury_providers.batches.provider import BatchUnavailable, PreparedBatch
from jury_providers.sdk.json_fields import label_at, objects, text_at

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = JSONDecoder()


class JsonMember(NamedTuple):
    """A member's value, and the text that it was read from."""

    value: Any
    text: str


def members(text: str) -> Mapping[str, JsonMember]:
    """The members of the JSON object in `text`; of two with the same name, the last."""
    found: dict[str, JsonMember] = {}
    at = _after(text, "{", _spaces(text, 0))
    if text[at : at + 1] == "}":
        at += 1
    else:
        while True:
            name, at = _DECODER.raw_decode(text, at)
            if not isinstance(name, str):
                raise ValueError("a member has no name")  # noqa: TRY004  (of JSON, not of Python)
            start = _spaces(text, _after(text, ":", _spaces(text, at)))
            value, end = _DECODER.raw_decode(text, start)
            found[name] = JsonMember(value, text[start:end])
            at = _spaces(text, end)
            if text[at : at + 1] == "}":
                at += 1
                break
            at = _spaces(text, _after(text, ",", at))
    if _spaces(text, at) != len(text):
        raise ValueError("there is more after the object")
    return found


def _spaces(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _after(text: str, character: str, at: int) -> int:
    """The index after `character`, and the spaces that follow an opening brace."""
    if text[at : at + 1] != character:
        raise ValueError(f"expected {character!r} at character {at}")
    return _spaces(text, at + 1) if character == "{" else at + 1


_SLACK = timedelta(minutes=5)
"""By which two times of one provider may differ: its servers have a clock each."""

_LONGEST_SENDING = timedelta(hours=1)
"""From the time before a batch is sent to the end of its last attempt, beside what its bytes take in each."""

_ATTEMPTS = 4

_MOST_PAGES = 500
"""Of a provider's list of batches."""

Page = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Asks for a page of the list with some arguments; none for the first."""

Next = Callable[[Mapping[str, Any], list[dict[str, Any]]], Mapping[str, Any] | None]
"""The arguments of the page that follows a page with those batches; None: there is none."""

_MOST_ID = 300
"""Characters of an id, as of every label of the log."""

_SHOWN = 60
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 1, tzinfo=UTC)


def custom_id_in(line: Mapping[str, JsonMember], name: str) -> str:
    found = line.get(name)
    if found is None or not isinstance(found.value, str) or not found.value:
        raise ValueError(f"it has no {name}")
    return found.value


def identity_in(document: Mapping[str, Any], name: str, what: str) -> str:
    """The id in what a provider answers."""
    found = text_at(document, name)
    if not found:
        raise missing(f"the provider names no id of the {what}")
    if len(found) > _MOST_ID or CONTROL.search(found):
        raise missing(f"the provider names an id of the {what} that is none: {visible_line(found, _SHOWN)}")
    return found


def word_at(document: Mapping[str, Any], name: str) -> str:
    """The provider's word for how far a batch is."""
    found = label_at(document, name)
    if found is None:
        raise missing("the answer does not say how far the batch is")
    return found


def missing(message: str) -> BatchUnavailable:
    """What was done was answered with something else than what it is called."""
    return BatchUnavailable(message, CallOutcome.MALFORMED_RESPONSE, may_have_arrived=True)


def time_of(value: object) -> datetime | None:
    """A time as providers write it: seconds since 1970, or RFC 3339; None: it is none, or before 1970.

    It is in UTC, and some days before the end of the year 9999, so that one may reckon with it.
    """
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return found if _FIRST <= found <= _LAST else None


async def listed(ask: Page, name: str, following: Next) -> AsyncIterator[dict[str, Any]]:
    """The batches of a provider's list, as they stand under `name` in its pages."""
    arguments: Mapping[str, Any] = {}
    for _ in range(_MOST_PAGES):
        page = await ask(arguments)
        found = page.get(name)
        if not isinstance(found, list):
            raise missing(f"the answer is no list of batches: it has no {name}")
        batches = objects(found)
        for one in batches:
            yield one
        further = following(page, batches)
        if further is None:
            return
        arguments = further
    raise missing(f"the list of batches does not end within {_MOST_PAGES} pages")


def is_older(created: datetime | None, prepared: PreparedBatch) -> bool:
    """Whether a batch was created before this one was sent, by the provider's own clock."""
    return created is not None and prepared.sent_after is not None and created < prepared.sent_after - _SLACK


def may_be(created: datetime | None, prepared: PreparedBatch) -> bool:
    """Whether a batch was created within the time in which this one was sent, by the provider's own clock."""
    if created is None or prepared.sent_after is None:
        return True
    longest = _LONGEST_SENDING + _ATTEMPTS * timedelta(seconds=upload_seconds(prepared.size))
    return prepared.sent_after - _SLACK <= created <= prepared.sent_after + longest


MOST_LINE_BYTES = 16 * 1024 * 1024
"""As of one response to a live call."""


class ResultLine(NamedTuple):
    """A line without its end; None: it was longer than `MOST_LINE_BYTES`."""

    data: bytes | None


def result_lines(file: IO[bytes], most: int = MOST_LINE_BYTES) -> Iterator[ResultLine]:
    """The lines of a file that are not empty, in its order; a long one is skipped without having it in memory."""
    while line := file.readline(most + 1):
        if len(line) > most and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(most)
            yield ResultLine(None)
        elif line.strip():
            yield ResultLine(line.strip())
