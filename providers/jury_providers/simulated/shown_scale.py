"""The verdict words that a prompt asks for, and the scores at which a simulated juror gives each of them."""

from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from jury_events.panel import Bands
from jury_events.verdict_scale import VERDICTS

BANDS = Bands()

THREE_VERDICTS = tuple(verdict.value for verdict in VERDICTS.values())
"""From worst to best, as prompts show them."""


class ShownScale(NamedTuple):
    """Words from worst to best; a score reaches a word from its edge on, and the worst without one.

    What follows from a word is not shown, so that a juror goes by its share of the scale: from 70 of 100 on it is
    favourable, below 40 grave, as in the default bands.
    """

    words: tuple[str, ...]
    edges: tuple[float, ...]

    def word(self, score: float) -> str:
        """The word for a score, 0-100."""
        return self.words[bisect_right(self.edges, score)]

    def rank(self, word: str) -> int | None:
        """The place of a word, 0 for the worst; None for a word that is none of the scale."""
        return self.words.index(word) if word in self.words else None

    def score_of(self, word: str) -> float:
        """Its share of the scale, 0-100: the score where no points are asked for."""
        return 100 * self.words.index(word) / (len(self.words) - 1)

    @property
    def favourable_from(self) -> float:
        """The lowest score of a favourable word."""
        return self._edge(BANDS.pass_from)

    @property
    def grave_below(self) -> float:
        """The lowest score of a word that is not grave."""
        return self._edge(BANDS.review_from)

    def is_favourable(self, word: str) -> bool:
        """Whether a word speaks for what is judged."""
        return word in self.words and self.score_of(word) >= BANDS.pass_from

    def is_grave(self, word: str) -> bool:
        """Whether a word speaks against what is judged."""
        return word in self.words and self.score_of(word) < BANDS.review_from

    def _edge(self, band: float) -> float:
        rank = next(rank for rank, word in enumerate(self.words) if self.score_of(word) >= band)
        return self.edges[rank - 1]


@lru_cache(maxsize=256)
def scale_of_words(words: tuple[str, ...]) -> ShownScale:
    """The scale of words as a prompt lists them, from worst to best.

    Of the three verdicts, the edges are the default bands; of others, equal steps.
    """
    if words == THREE_VERDICTS:
        return ShownScale(words, (BANDS.review_from, BANDS.pass_from))
    return ShownScale(words, tuple(100 * place / len(words) for place in range(1, len(words))))


def words_or_three(words: Iterable[object]) -> tuple[str, ...]:
    """The words that a prompt asks for; the three verdicts where it does not say, or lists them in another order."""
    found = tuple(word for word in words if isinstance(word, str))
    return found if len(found) > 1 and set(found) != set(THREE_VERDICTS) else THREE_VERDICTS
