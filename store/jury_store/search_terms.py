"""Search terms of texts and queries, the same on every database.

Terms match by prefix: `refund` finds `refunded`. In scripts written without spaces every pair of neighbouring
characters is a term, and so is the last character, so that a query of any length finds the texts that contain it.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from jury_events.envelope import StoredEvent
from jury_events.ids import stream_debate
from jury_events.parts import Digest, Part, decode_digest
from jury_store.ballot_sheet import UNREADABLE
from jury_store.projection import decoded

MAX_TEXT_CHARACTERS = 20_000
"""The searchable beginning of each text."""

MAX_QUERY_TERMS = 40
"""Further terms of a query are ignored."""

_LONGEST = 64
"""Characters of a term; a longer word is cut."""

# Han, kana; Thai, Lao, Burmese, Khmer: with combining marks.
_UNSPACED = "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED += "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ecf\u1000-\u109f\u1780-\u17d3"
_RUN = re.compile(f"([{_UNSPACED}]+)|([^\\W{_UNSPACED}]+)")
_ASCII_WORDS = {code: chr(code).lower() if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128)}
"""Of every ASCII character, what it is in a term."""

Texts = Mapping[tuple[str, Digest], Part]
"""Texts by debate and digest."""


def terms_of(text: str) -> set[str]:
    """The terms of a text, normalized by NFKC and case folding."""
    text = text[:MAX_TEXT_CHARACTERS]
    if text.isascii():  # nothing to normalize, and every word has spaces around it
        words = set(text.translate(_ASCII_WORDS).split())
        return words if max(map(len, words), default=0) <= _LONGEST else {word[:_LONGEST] for word in words}
    terms: set[str] = set()
    for unspaced, word in _runs(text):
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
    if references is None or type(event.stream) is not str or not event.stream.startswith("debate/"):
        return ()
    try:
        return tuple([decode_digest(ref["part"]) for ref in references(decoded(event.body)) if ref is not None])
    except UNREADABLE:
        return ()


class SearchableEvent(NamedTuple):
    """An event of a debate with the digests of its searchable texts, of which there is at least one."""

    event: StoredEvent
    debate_id: str
    digests: tuple[Digest, ...]


def searchable_events(events: Iterable[StoredEvent]) -> list[SearchableEvent]:
    """Those of the events that have searchable texts; decodes each once."""
    return [
        SearchableEvent(event, stream_debate(event.stream), digests)
        for event in events
        if event.type in _REFERENCES and (digests := searchable_digests(event))
    ]


def terms_by_event(events: Iterable[SearchableEvent], texts: Texts) -> dict[int, set[str]]:
    """The terms of each event with a stored searchable text, by position."""
    found: dict[int, set[str]] = {}
    known: dict[tuple[str, Digest], set[str]] = {}
    for event, debate_id, digests in events:
        for digest in digests:
            key = debate_id, digest
            if (part := texts.get(key)) is None:
                continue
            terms = known.get(key)
            if terms is None:
                terms = known[key] = terms_of(part.content.decode("utf-8", "replace"))
            before = found.get(event.position)
            found[event.position] = terms if before is None else before | terms
    return found


def _evaluated(body: Any) -> tuple[Any, ...]:
    return (body["evaluation"].get("rationale"),)


def _stated(body: Any) -> tuple[Any, ...]:
    statement = body["statement"]
    return (statement["statement"], statement["evaluation"].get("rationale"))


def _judged(body: Any) -> tuple[Any, ...]:
    judge = body["judgment"].get("judge")
    return () if judge is None else (judge.get("rationale"),)


_REFERENCES = {"juror_evaluated": _evaluated, "statement_made": _stated, "judgment_rendered": _judged}

SEARCHABLE = frozenset(_REFERENCES)
"""The types of events that have searchable texts."""
