"""The last vote of each seat and the verdict that they led to: what an acceptance is decided by."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jury_analysis.accuracy import decided
from jury_analysis.faults import Numbers, named_in_round
from jury_analysis.scale import OURS, Scale
from jury_analysis.vote_matrix import STALE, Bools, Codes, Floats, VoteMatrix, by_round, panel_plurality
from jury_events.calibration import SignalVote

JURY, PLURALITY = "jury", "plurality"


@dataclass(frozen=True, eq=False)
class NamedSteps:
    """The decisive steps that the last votes name."""

    step: Literal["item", "message"]
    """What is numbered."""
    numbers: Numbers
    """[units, seats]: -1 where none is named."""


@dataclass(frozen=True, eq=False)
class LastVotes:
    """The last votes of every debate. `matrix` is of no single round: each unit has the votes of its own last one.

    A seat that failed later has its earlier vote. What stands in for a blocked answer is no vote.
    """

    matrix: VoteMatrix
    verdict: str
    """`jury` (the final verdicts) or `plurality` (the strict plurality of the last votes)."""
    verdicts: Codes
    """[units]: -1 where there is none, or where it counts as an abstention, as those that ask for a person."""
    steps: NamedSteps | None = None
    """None where the table has no such column with a value."""

    @property
    def labels(self) -> Codes:
        """[units]: -1 without one."""
        return self.matrix.labels

    def votes_of(self, unit: int) -> list[SignalVote]:
        """The votes of a unit, one a seat."""
        matrix = self.matrix
        names = matrix.scale.categories
        steps = [-1] * len(matrix.seats) if self.steps is None else self.steps.numbers[unit].tolist()
        return [
            SignalVote(
                seat,
                None if code < 0 else names[code],
                _number(matrix.confidences[unit, place]),
                _number(matrix.scores[unit, place]),
                None if steps[place] < 0 else steps[place],
            )
            for place, (seat, code) in enumerate(zip(matrix.seats, matrix.votes[unit].tolist(), strict=True))
        ]


def last_votes(table: pa.Table, scale: Scale) -> LastVotes:
    """The last votes.

    The verdict is the jury's where the ballots have final verdicts, otherwise the strict plurality. Decisive items are
    read where the table has them, otherwise decisive messages; a vote that repeats an earlier one names the same.
    """
    (first, matrix), *later = by_round(table, scale, stale=True).items()
    column = _step_column(table)
    steps = named_in_round(table, column, matrix, first)
    for number, one in later:
        spoke: Bools = np.asarray(one.kinds.max(axis=1, keepdims=True) >= 0)
        named = named_in_round(table, column, one, number)
        named = np.where((one.kinds == STALE) & (named < 0), steps, named)
        steps = np.where(spoke, named, steps)
        matrix = replace(
            matrix,
            votes=np.where(spoke, one.votes, matrix.votes),
            scores=np.where(spoke, one.scores, matrix.scores),
            confidences=np.where(spoke, one.confidences, matrix.confidences),
            kinds=np.where(spoke, one.kinds, matrix.kinds),
        )
    known = {scale.categories[code] for code in np.unique(matrix.labels) if code >= 0}
    # Our middle verdict asks for a person, so that there is nothing to accept, whatever the labels are.
    counted = (
        replace(scale, abstaining=OURS.categories[1]) if scale.categories == OURS.categories else scale.against(known)
    )
    matrix = replace(matrix, scale=counted)
    found = NamedSteps("message" if column == _MESSAGE else "item", steps) if (steps >= 0).any() else None
    jury = bool((matrix.finals >= 0).any())
    verdicts = decided(matrix.finals if jury else panel_plurality(matrix)[0], counted)
    asks = np.isin(verdicts, [scale.categories.index(name) for name in scale.for_people])
    return LastVotes(matrix, JURY if jury else PLURALITY, np.where(asks, np.int8(-1), verdicts), found)


STEP_COLUMNS = ("decisive_item", "decisive_message")
"""Columns with decisive steps; the first that has a value is read."""

_ITEM, _MESSAGE = STEP_COLUMNS


def _step_column(table: pa.Table) -> str:
    """Of recorded debates both may be known: what their judgments compare are items."""
    has_items = _ITEM in table.column_names and table[_ITEM].null_count < len(table)
    return _ITEM if has_items else _MESSAGE


def _number(value: npt.NDArray[np.float64] | float) -> float | None:
    return None if np.isnan(value) else float(value)


def distinct_units(votes: LastVotes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Units with the same verdict and votes: a representative of each kind, and the kind of each unit."""
    matrix = votes.matrix
    columns: list[Floats] = [
        votes.verdicts[:, None].astype(np.float64),
        matrix.votes.astype(np.float64),
        np.nan_to_num(matrix.confidences, nan=-1.0),
        np.nan_to_num(matrix.scores, nan=-1.0),
    ]
    if votes.steps is not None:
        columns.append(votes.steps.numbers.astype(np.float64))
    _, first, kinds = np.unique(np.hstack(columns), axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), kinds.reshape(-1).astype(np.int64)
