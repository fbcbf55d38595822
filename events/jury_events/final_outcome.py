"""What a debate came to."""

from typing import NamedTuple


class FinalOutcome(NamedTuple):
    """The verdict of a debate that completed.

    Attributes:
        verdict: one of the three words.
        label: of the panel's own scale; None: it has none, or only an outcome was decided.
        score: 0-100; None: no seat evaluated.
    """

    verdict: str
    label: str | None
    score: int | None

    @property
    def word(self) -> str:
        """The label; without one, the verdict."""
        return self.label or self.verdict
