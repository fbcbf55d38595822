"""What of a text a search looks through, and what it looks for: the same on every database.

A text is taken apart into terms, which are compared by their beginnings: `refund` finds `refunded`. A script that is
written without blanks has no words to take; of it every two neighbouring characters are a term, and the last one alone,
so that a search for any number of characters finds what holds them.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from jury_events.envelope import StoredEvent
from jury_events.ids import stream_debate
from jury_events.parts import Digest, Part, decode_digest

MAX_TEXT_CHARACTERS = 20_000
"""Of each text so many are looked through."""

MOST_SOUGHT = 40
"""Terms of a search; what is beyond them is not looked for."""

_LONGEST = 64
"""Characters of a term; a longer word is found by its beginning."""

# Han, kana; Thai, Lao, Burmese, Khmer: with the marks that are no letters of their own.
_UNSPACED = "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED += "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ecf\u1000-\u109f\u1780-\u17d3"
_RUN = re.compile(f"([{_UNSPACED}]+)|((?:(?![{_UNSPACED}])\\w)+)")

_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What a body raises that is not of its type; `jury verify` names it."""


Texts = Mapping[tuple[str, Digest], Part]
"""Texts by debate and digest."""


def terms_of(text: str) -> set[str]:
    """The terms of a text. Width and case of letters are of no account."""
    terms: set[str] = set()
    for unspaced, word in _runs(text[:MAX_TEXT_CHARACTERS]):
        if word:
            terms.add(word[:_LONGEST])
        else:
            terms.update(map("".join, pairwise(unspaced)))
            terms.add(unspaced[-1])
    return terms


def query_terms(text: str) -> tuple[str, ...]:
    """What a search for this text looks for: a text is found that has a term beginning with each of these.

    Empty where there is nothing to look for, neither letter nor number.
    """
    sought: dict[str, None] = {}
    for unspaced, word in _runs(text):
        if word:
            sought[word[:_LONGEST]] = None
        elif len(unspaced) == 1:
            sought[unspaced] = None
        else:
            sought.update(dict.fromkeys(map("".join, pairwise(unspaced))))
    return tuple(sought)[:MOST_SOUGHT]


def contains_terms(sought: Iterable[str], terms: Iterable[str]) -> bool:
    """Whether a text with these terms is found; no text is where nothing is sought."""
    there = tuple(terms)
    wanted = tuple(sought)
    return bool(wanted) and all(any(term.startswith(one) for term in there) for one in wanted)


def _runs(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = _RUN.findall(unicodedata.normalize("NFKC", text).casefold())
    return found


def searchable_digests(event: StoredEvent) -> tuple[Digest, ...]:
    """The texts of an event that a search looks through, as they are read: statement, rationale."""
    place = _PLACES.get(event.type)
    if place is None or not event.stream.startswith("debate/"):
        return ()
    try:
        return tuple(decode_digest(ref["part"]) for ref in place(json.loads(event.body)) if ref is not None)
    except _UNREADABLE:
        return ()


def terms_by_event(events: Iterable[StoredEvent], texts: Texts) -> dict[int, set[str]]:
    """The terms of each event that names a text which is there, by position."""
    found: dict[int, set[str]] = {}
    for event in events:
        debate_id = stream_debate(event.stream)
        there = [part for one in searchable_digests(event) if (part := texts.get((debate_id, one))) is not None]
        if there:
            found[event.position] = set().union(*(terms_of(_read(part)) for part in there))
    return found


def _read(part: Part) -> str:
    return part.content.decode("utf-8", "replace")


def _evaluated(body: Any) -> tuple[Any, ...]:
    return (body["evaluation"]["rationale"],)


def _stated(body: Any) -> tuple[Any, ...]:
    statement = body["statement"]
    return (statement["statement"], statement["evaluation"]["rationale"])


def _judged(body: Any) -> tuple[Any, ...]:
    judge = body["judgment"]["judge"]
    return () if judge is None else (judge["rationale"],)


_PLACES = {"juror_evaluated": _evaluated, "statement_made": _stated, "judgment_rendered": _judged}
