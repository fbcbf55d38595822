"""A consensus check over all seats of a panel."""

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Self

from pydantic import Field, model_validator

from jury_events.value import Value
from jury_events.verdict import Verdict
from jury_events.verdict_scale import LabelId


class ConsensusStatus(StrEnum):
    """Document 004 §4.2."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    SPLIT = "split"


class ConsensusCheck(Value):
    """`largest` of `seats` seats have the same position; a seat that abstains stays in the denominator.

    `majority_position` is None when split; `majority_label` is its label, as in `SeatPosition`. `reached`: by the
    rules of the panel, the consensus ends phase 1 or the rounds.
    """

    status: ConsensusStatus
    largest: Annotated[int, Field(ge=0)]
    seats: Annotated[int, Field(ge=1)]
    majority_position: Verdict | None = None
    reached: bool
    majority_label: LabelId | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.largest > self.seats:
            raise ValueError(f"largest: {self.largest} is more than the {self.seats} seats")
        if (self.status is ConsensusStatus.SPLIT) != (self.majority_position is None):
            raise ValueError("majority_position: null exactly when the status is split")
        if self.majority_label is not None and self.majority_position is None:
            raise ValueError("majority_label: a split panel has none")
        return self

    @property
    def agreement(self) -> Fraction:
        """largest / seats, exact."""
        return Fraction(self.largest, self.seats)

    @property
    def agreement_level(self) -> float:
        """largest / seats, 0-1."""
        return self.largest / self.seats
