"""Whether an event that is sent again says the same as the one that the log holds."""

import json
from collections.abc import Callable
from typing import Any

from jury_events.envelope import NewEvent, StoredEvent
from jury_events.parts import Digest, decode_digest

TextOf = Callable[[Digest], bytes | None]


def says_the_same(new: NewEvent, new_text: TextOf, stored: StoredEvent, stored_text: TextOf) -> bool:
    """True when type, schema, fields and texts agree; times and salts may differ.

    Digests of one text differ with its salt, so references are followed to the text. A stored text that is no
    longer there is taken to be the same.
    """
    if new.type != stored.type or new.schema != stored.schema:
        return False
    if new.body == stored.body:
        return True
    try:
        return _equal(json.loads(new.body), new_text, json.loads(stored.body), stored_text)
    except ValueError:
        return False


def _equal(left: Any, left_text: TextOf, right: Any, right_text: TextOf) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        if left.keys() != right.keys():
            return False
        if left.keys() == {"part"} and isinstance(left["part"], str) and isinstance(right["part"], str):
            return left == right or _same_text(left_text(_digest(left)), right_text(_digest(right)))
        return all(_equal(value, left_text, right[key], right_text) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(
            _equal(one, left_text, other, right_text) for one, other in zip(left, right, strict=True)
        )
    return bool(left == right)


def _digest(reference: dict[str, str]) -> Digest:
    return decode_digest(reference["part"])


def _same_text(sent: bytes | None, kept: bytes | None) -> bool:
    """What is kept may have been erased since; what is sent must be there."""
    return sent is not None and (kept is None or sent == kept)
