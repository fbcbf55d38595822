"""The known word that somebody probably meant; every "did you mean" comes from here."""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 100
"""Characters of a word at most: comparing takes the square of them."""


def nearest(word: object, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The one of `known` that is most like `word`, whatever its capitals, hyphens and underscores.

    Args:
        word: as written; what is no text is like nothing.
        known: the words that there are.
        cutoff: how alike they must be, 0-1, as in `difflib.get_close_matches`.
    """
    if not isinstance(word, str) or len(word) > _LONGEST:
        return None
    by_plain = {_plain(one): one for one in known}
    found = get_close_matches(_plain(word), by_plain, 1, cutoff)
    return by_plain[found[0]] if found else None


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """` (did you mean preset?)`, to follow what a message says of `word`; empty where nothing is like it."""
    near = nearest(word, known)
    return "" if near is None else f" (did you mean {near}?)"


def _plain(word: str) -> str:
    return word.casefold().replace("-", "_")
