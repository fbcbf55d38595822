"""Suggestions for misspelt words: every "did you mean" uses this module."""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 100
"""Characters. Comparing takes quadratic time."""


def nearest(word: object, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The most similar of `known`, ignoring case and treating hyphens as underscores; None without a similar one.

    Args:
        word: as written; anything but a string is similar to nothing.
        cutoff: the least similarity, 0-1, as in `difflib.get_close_matches`.
    """
    if not isinstance(word, str) or len(word) > _LONGEST:
        return None
    by_plain = {_plain(one): one for one in known}
    found = get_close_matches(_plain(word), by_plain, 1, cutoff)
    return by_plain[found[0]] if found else None


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """` (did you mean preset?)`, to append to a message about `word`; empty without a similar word."""
    near = nearest(word, known)
    return "" if near is None else f" (did you mean {near}?)"


def _plain(word: str) -> str:
    return word.casefold().replace("-", "_")
