"""Ballot ids and the marker of judged text: derived from the debate's random secret, so that replay is exact."""

import hmac
from base64 import b32encode
from functools import lru_cache

from jury_debate.prompts_1.line_marks import SIGN_LETTERS
from jury_events.panel import Marking


def ballot_id(secret: bytes, juror_id: str | None) -> str:
    """The unguessable id that a seat's answers must contain (`None`: the final judge's): 16 characters a-z, 2-7.

    The same in all turns of the seat, so that providers' prompt caches work.
    """
    return _derive(secret, "final" if juror_id is None else f"seat/{juror_id}", 10)


def datamark(secret: bytes) -> str:
    """The debate's marker for judged text: 8 characters a-z, 2-7 in ⟦⟧."""
    return f"⟦{_derive(secret, 'datamark', 5)}⟧"


def line_sign(secret: bytes) -> str:
    """The debate's sign before each line of judged text: two consonants and a colon.

    Tokenizers join two letters more often than a letter and a digit, and two consonants are hardly ever a word.
    """
    first, second = hmac.digest(secret, b"line sign", "sha256")[:2]
    return f"{SIGN_LETTERS[first % len(SIGN_LETTERS)]}{SIGN_LETTERS[second % len(SIGN_LETTERS)]}:"


def marker_of(secret: bytes, marking: Marking | None = None) -> str:
    """What marks judged text under the panel's `marking`."""
    return datamark(secret) if marking == "words" else line_sign(secret)


@lru_cache(maxsize=4096)
def _derive(secret: bytes, purpose: str, length: int) -> str:
    digest = hmac.digest(secret, purpose.encode(), "sha256")
    return b32encode(digest[:length]).decode("ascii").lower()
