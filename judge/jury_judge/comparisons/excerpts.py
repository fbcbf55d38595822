"""Search excerpts: the text around the first matching word, as it was written."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jury_events.envelope import StoredEvent
from jury_events.errors import AlteredPart
from jury_store.event_store import EventStore
from jury_store.search_terms import contains_terms, query_terms, searchable_digests, searchable_events, terms_by_event

_AROUND = 60
"""Characters shown before and after the word."""


class Excerpt(NamedTuple):
    """`text` is an excerpt of event `version` of the debate, with an ellipsis where text is left out."""

    version: int
    text: str


def excerpts(store: EventStore, debate_ids: Iterable[str], search: str) -> dict[str, Excerpt]:
    """The first excerpt of each debate that matches; debates that match by id alone have none."""
    sought = query_terms(search)
    ids = list(debate_ids)
    if not sought or not ids:
        return {}
    found: dict[str, Excerpt] = {}
    for history in store.event_histories(ids):
        excerpt = _excerpt(store, history.debate_id, history.stored_events, sought)
        if excerpt is not None:
            found[history.debate_id] = excerpt
    return found


def _excerpt(store: EventStore, debate_id: str, stream: Sequence[StoredEvent], sought: Sequence[str]) -> Excerpt | None:
    try:
        parts = store.parts(debate_id, [digest for event in stream for digest in searchable_digests(event)])
    except AlteredPart:
        return None  # `jury verify` names it
    terms = terms_by_event(searchable_events(stream), {(debate_id, digest): part for digest, part in parts.items()})
    for event in stream:
        if not contains_terms(sought, terms.get(event.position, ())):
            continue
        texts = [parts[one].content.decode("utf-8", "replace") for one in searchable_digests(event) if one in parts]
        for text in texts:
            flat = " ".join(unicodedata.normalize("NFKC", text).split())
            at = flat.casefold().find(sought[0])
            if at >= 0:
                return Excerpt(event.version, _piece(flat, at))
    return None


def _piece(text: str, at: int) -> str:
    start, end = max(0, at - _AROUND), at + 2 * _AROUND
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
