"""The verdict words that a prompt asks for, and the scores at which a simulated juror gives each of them."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from jury_events.panel import Bands
from jury_events.verdict_scale import VERDICTS

BANDS = Bands()

THREE_VERDICTS = tuple(verdict.value for verdict in VERDICTS.values())
"""From worst to best, as prompts show them."""


class WordScale(NamedTuple):
    """Words from worst to best; a score, 0-100, reaches a word from its edge on, and the worst without one.

    Of the three verdicts the edges are the default bands, of other words equal steps. What follows from a word is not
    shown: from 70 % of the scale on it is favourable, below 40 % grave.
    """

    words: tuple[str, ...] = THREE_VERDICTS

    @property
    def edges(self) -> tuple[float, ...]:
        """The least score of each word but the worst."""
        if self.words == THREE_VERDICTS:
            return (BANDS.review_from, BANDS.pass_from)
        return tuple(100 * place / len(self.words) for place in range(1, len(self.words)))

    def word(self, score: float) -> str:
        return self.words[bisect_right(self.edges, score)]

    def middle(self, word: str) -> float:
        """The score in the middle of a word's."""
        place = self.words.index(word)
        return sum((0.0, *self.edges, 100.0)[place : place + 2]) / 2

    def is_favourable(self, word: str) -> bool:
        """Whether it speaks for what is judged."""
        return self._share(word) >= BANDS.pass_from

    def is_grave(self, word: str) -> bool:
        """Whether it speaks against what is judged."""
        return self._share(word) < BANDS.review_from

    def confidence(self, score: float) -> float:
        """It grows with the distance from the next edge."""
        return round(0.5 + 0.45 * min(1.0, min(abs(score - edge) for edge in self.edges) / 25), 2)

    def _share(self, word: str) -> float:
        return 100 * self.words.index(word) / (len(self.words) - 1)


def spread(score: float, dimensions: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Points for each dimension, in tenths, that add up to the score as closely as the maxima allow."""
    points = {name: min(most, round(most * score / 100, 1)) for name, most in dimensions}
    for name, most in sorted(dimensions, key=lambda one: -one[1]):
        rest = score - sum(points.values())
        points[name] = max(0.0, min(most, round(points[name] + rest, 1)))
    return points
