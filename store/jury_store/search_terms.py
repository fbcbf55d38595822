"""Search terms of texts and queries, the same on every database.

Terms match by prefix: `refund` finds `refunded`. In scripts written without spaces every pair of neighbouring
characters is a term, and so is the last character, so that a query of any length finds the texts that contain it.
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
from jury_store.projection import UNREADABLE

MAX_TEXT_CHARACTERS = 20_000
"""The searchable beginning of each text."""

MAX_QUERY_TERMS = 40
"""Further terms of a query are ignored."""

_LONGEST = 64
"""Characters of a term; a longer word is cut."""

# Han, kana; Thai, Lao, Burmese, Khmer: with combining marks.
_UNSPACED = "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED += "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ecf\u1000-\u109f\u1780-\u17d3"
_RUN = re.compile(f"([{_UNSPACED}]+)|((?:(?![{_UNSPACED}])\\w)+)")

Texts = Mapping[tuple[str, Digest], Part]
"""Texts by debate and digest."""


def terms_of(text: str) -> set[str]:
    """The terms of a text, normalized by NFKC and case folding."""
    terms: set[str] = set()
    for unspaced, word in _runs(text[:MAX_TEXT_CHARACTERS]):
        if word:
            terms.add(word[:_LONGEST])
        else:
            terms.update(map("".join, pairwise(unspaced)))
            terms.add(unspaced[-1])
    return terms


def query_terms(text: str) -> tuple[str, ...]:
    """The terms of a query: a text matches when each is the prefix of one of its terms.

    Empty where the query contains neither letters nor digits.
    """
    terms: dict[str, None] = {}
    for unspaced, word in _runs(text):
        if word:
            terms[word[:_LONGEST]] = None
        elif len(unspaced) == 1:
            terms[unspaced] = None
        else:
            terms.update(dict.fromkeys(map("".join, pairwise(unspaced))))
    return tuple(terms)[:MAX_QUERY_TERMS]


def contains_terms(query: Iterable[str], terms: Iterable[str]) -> bool:
    """Whether a text with these terms matches the terms of a query; an empty query matches no text."""
    terms, query = tuple(terms), tuple(query)
    return bool(query) and all(any(term.startswith(one) for term in terms) for one in query)


def _runs(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = _RUN.findall(unicodedata.normalize("NFKC", text).casefold())
    return found


def searchable_digests(event: StoredEvent) -> tuple[Digest, ...]:
    """The digests of the searchable texts of an event, in reading order: statement, rationale."""
    references = _REFERENCES.get(event.type)
    if references is None or not event.stream.startswith("debate/"):
        return ()
    try:
        return tuple(decode_digest(ref["part"]) for ref in references(json.loads(event.body)) if ref is not None)
    except UNREADABLE:
        return ()


def terms_by_event(events: Iterable[StoredEvent], texts: Texts) -> dict[int, set[str]]:
    """The terms of each event with a stored searchable text, by position."""
    found: dict[int, set[str]] = {}
    for event in events:
        debate_id = stream_debate(event.stream)
        parts = [part for one in searchable_digests(event) if (part := texts.get((debate_id, one))) is not None]
        if parts:
            found[event.position] = set().union(*(terms_of(part.content.decode("utf-8", "replace")) for part in parts))
    return found


def _evaluated(body: Any) -> tuple[Any, ...]:
    return (body["evaluation"]["rationale"],)


def _stated(body: Any) -> tuple[Any, ...]:
    statement = body["statement"]
    return (statement["statement"], statement["evaluation"]["rationale"])


def _judged(body: Any) -> tuple[Any, ...]:
    judge = body["judgment"]["judge"]
    return () if judge is None else (judge["rationale"],)


_REFERENCES = {"juror_evaluated": _evaluated, "statement_made": _stated, "judgment_rendered": _judged}
