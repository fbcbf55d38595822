"""Ballot ids and the marker of judged text: derived from the debate's random secret, so that replay is exact."""

import hmac
from base64 import b32encode

from jury_debate.assignment import DebateSigns
from jury_debate.prompts_1.line_marks import SIGN_LETTERS
from jury_events.panel import Panel


def ballot_id(secret: bytes, juror_id: str | None) -> str:
    """The unguessable id that a seat's answers must contain (`None`: the final judge's): 16 characters a-z, 2-7.

    The same in all turns of the seat, so that providers' prompt caches work.
    """
    return _letters(_derive(secret, "final" if juror_id is None else f"seat/{juror_id}")[:10])


def datamark(secret: bytes) -> str:
    """The debate's marker for judged text: 8 characters a-z, 2-7 in ⟦⟧."""
    return f"⟦{_letters(_derive(secret, 'datamark')[:5])}⟧"


def line_sign(secret: bytes) -> str:
    """The debate's sign before each line of judged text: two consonants and a colon.

    Tokenizers join two letters more often than a letter and a digit, and two consonants are hardly ever a word.
    """
    first, second = _derive(secret, "line sign")[:2]
    return f"{SIGN_LETTERS[first % len(SIGN_LETTERS)]}{SIGN_LETTERS[second % len(SIGN_LETTERS)]}:"


def signs_of(secret: bytes, panel: Panel) -> DebateSigns:
    """See `Rules.signs_of`."""
    marker = datamark(secret) if panel.marking == "words" else line_sign(secret)
    return DebateSigns(marker, {juror_id: ballot_id(secret, juror_id) for juror_id in (*panel.juror_ids, None)})


def _derive(secret: bytes, purpose: str) -> bytes:
    # `hmac.digest` gives up the interpreter's lock: beside a thread that writes, that costs ten times as much.
    return hmac.new(secret, purpose.encode(), "sha256").digest()


def _letters(digest: bytes) -> str:
    return b32encode(digest).decode("ascii").lower()
