"""How this server lets people review."""

from collections.abc import Callable
from typing import NamedTuple

from jury_events.review_facts import Review
from jury_judge.reviews.reviews import NewReview

RecordReview = Callable[[str, NewReview], Review]
"""Records what a person says of a debate; raises as `record_review`."""


class Reviewing(NamedTuple):
    """`record` writes a review. `blind`: the jury's words are shown only after the reviewer's own verdict."""

    record: RecordReview
    blind: bool = True
