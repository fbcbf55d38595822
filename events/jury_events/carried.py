"""Votes of the stages before, as the jurors of a later stage of a ladder are shown them (`carry: votes`)."""

from typing import Literal

from jury_events.evaluation import Evaluation
from jury_events.value import DebateId, JurorId, Value

Carry = Literal["votes"]
"""What a ladder shows a stage of the stages before it."""


class CarriedVote(Value):
    """The vote of a seat of an earlier debate of the case: its latest evaluation there.

    The texts of `evaluation` are parts of the debate that shows them. `debate` and `juror_id` say whose it is; jurors
    are shown a number alone.
    """

    debate: DebateId
    juror_id: JurorId
    evaluation: Evaluation
