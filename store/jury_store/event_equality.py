"""Whether a resent event equals the stored one."""

import json
from collections.abc import Callable
from typing import Any

from jury_events.envelope import NewEvent, StoredEvent
from jury_events.parts import Digest, decode_digest

TextOf = Callable[[Digest], bytes | None]


def is_same_event(new: NewEvent, new_text: TextOf, stored: StoredEvent, stored_text: TextOf) -> bool:
    """True when type, schema, fields and texts are equal; times and salts may differ.

    The digest of a text depends on its salt, so references are compared by the texts. A deleted stored text counts as
    equal.
    """
    if new.type != stored.type or new.schema != stored.schema:
        return False
    if new.body == stored.body:
        return True
    try:
        return _equal(json.loads(new.body), new_text, json.loads(stored.body), stored_text)
    except ValueError:
        return False


def _equal(new: Any, new_text: TextOf, stored: Any, stored_text: TextOf) -> bool:
    if type(new) is not type(stored):
        return False
    if isinstance(new, dict):
        if new.keys() != stored.keys():
            return False
        if new.keys() == {"part"} and isinstance(new["part"], str) and isinstance(stored["part"], str):
            return new == stored or _same_text(
                new_text(decode_digest(new["part"])), stored_text(decode_digest(stored["part"]))
            )
        return all(_equal(value, new_text, stored[key], stored_text) for key, value in new.items())
    if isinstance(new, list):
        return len(new) == len(stored) and all(
            _equal(one, new_text, other, stored_text) for one, other in zip(new, stored, strict=True)
        )
    return bool(new == stored)


def _same_text(new: bytes | None, stored: bytes | None) -> bool:
    return new is not None and (stored is None or new == stored)
