"""The last vote of each seat and the verdict that they led to: what an acceptance is decided by."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jury_analysis.correctness import decided
from jury_analysis.plurality import panel_plurality
from jury_analysis.scale import OURS, Scale
from jury_analysis.vote_matrix import Bools, Codes, Floats, VoteMatrix, by_round
from jury_events.calibration import SignalVote

JURY, PLURALITY = "jury", "plurality"


@dataclass(frozen=True, eq=False)
class LastVotes:
    """The last votes of every debate. `matrix` is of no single round: each unit has the votes of its own last one.

    A seat that failed later has its earlier vote. What stands in for a blocked answer is no vote.
    """

    matrix: VoteMatrix
    verdict: str
    """`jury` (the final verdicts) or `plurality` (the strict plurality of the last votes)."""
    verdicts: Codes
    """[units]: -1 where there is none, or where it counts as an abstention (`needs_review` among our verdicts)."""

    @property
    def labels(self) -> Codes:
        """[units]: -1 without one."""
        return self.matrix.labels

    def votes_of(self, unit: int) -> list[SignalVote]:
        """The votes of a unit, one a seat."""
        matrix = self.matrix
        names = matrix.scale.categories
        return [
            SignalVote(
                seat,
                None if code < 0 else names[code],
                _number(matrix.confidences[unit, place]),
                _number(matrix.scores[unit, place]),
            )
            for place, (seat, code) in enumerate(zip(matrix.seats, matrix.votes[unit].tolist(), strict=True))
        ]


def last_votes(table: pa.Table, scale: Scale) -> LastVotes:
    """The last votes.

    The verdict is the jury's where the ballots have final verdicts, otherwise the strict plurality.

    Args:
        table: checked ballots (`ballots.check`), with labels.
        scale: the declared verdicts.

    Raises:
        UnknownVerdict: a verdict or label is not declared in `scale`.
    """
    rounds = by_round(table, scale, stale=True)
    first, *later = rounds.values()
    matrix = first
    for one in later:
        spoke: Bools = np.asarray(one.kinds.max(axis=1, keepdims=True) >= 0)
        matrix = replace(
            matrix,
            votes=np.where(spoke, one.votes, matrix.votes),
            scores=np.where(spoke, one.scores, matrix.scores),
            confidences=np.where(spoke, one.confidences, matrix.confidences),
            kinds=np.where(spoke, one.kinds, matrix.kinds),
        )
    known = {scale.categories[code] for code in np.unique(matrix.labels) if code >= 0}
    # Our needs_review asks for a person, so that there is nothing to accept, whatever the labels are.
    counted = (
        replace(scale, abstaining=OURS.categories[1]) if scale.categories == OURS.categories else scale.against(known)
    )
    matrix = replace(matrix, scale=counted)
    if (matrix.finals >= 0).any():
        return LastVotes(matrix, JURY, decided(matrix.finals, counted))
    return LastVotes(matrix, PLURALITY, decided(panel_plurality(matrix)[0], counted))


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
    _, first, kinds = np.unique(np.hstack(columns), axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), kinds.reshape(-1).astype(np.int64)
