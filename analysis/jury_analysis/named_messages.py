"""Which message (or item of a recorded debate) votes and labels name as the first that went wrong."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import MESSAGES
from jury_analysis.vote_matrix import Bools, Codes, Ints, VoteMatrix

Numbers = npt.NDArray[np.int64]

NOT_KNOWN, NO_FAULT = -1, -2
"""In `NamedMessages.truth`, where there is no number of a message."""


@dataclass(frozen=True, eq=False)
class NamedMessages:
    """Numbers of messages, in the units and seats of a `VoteMatrix` of the first evaluation."""

    votes: Numbers
    """[units, seats]: the message that the vote names; -1 where it names none, and where no vote counts."""
    labels: Numbers
    """[units]: the message that the label names, -1 without one."""
    truth: Numbers
    """[units]: the message that the label says went wrong; `NO_FAULT` where its verdict passes, `NOT_KNOWN` where no
    message is labelled."""
    counts: Numbers
    """[units]: how many messages could be named, 0 where it is not known."""
    outcomes: Codes
    """[units]: 1 where the outcome is correct, 0 where it is not, -1 where it is not known."""

    def may_be_named(self, within: int = 0) -> Bools:
        """[units]: whether a message is the one that went wrong, or at most `within` away from it.

        None is where the label passes, or names a number that no message of the unit has.
        """
        known: Bools = self.truth >= 0
        within_unit: Bools = self.truth - within < self.counts
        any_message: Bools = self.counts == 0
        may: Bools = known & (any_message | within_unit)
        return may

    def says_faults(self, matrix: VoteMatrix) -> bool:
        """Whether a label says that there is a fault, or that there is none."""
        return bool((matrix.labels >= 0).any() or (self.labels >= 0).any())


def named_messages(table: pa.Table, matrix: VoteMatrix) -> NamedMessages | None:
    """The messages of a table of ballots; None where it has no column of `ballots.MESSAGES` with a value.

    Args:
        table: checked ballots (`ballots.check`).
        matrix: the votes of its round 0.
    """
    if not any(name in table.column_names and table[name].null_count < len(table) for name in MESSAGES.names):
        return None
    debates = _places(table["debate_id"], matrix.debates)
    labels, counts, outcomes = (
        _of_debates(_numbers(table, name), debates, matrix.units)
        for name in ("label_message", "message_count", "outcome_correct")
    )
    passes = matrix.scale.passes(matrix.labels)
    truth = np.where(passes, NO_FAULT, labels)  # a label may name the message alone, without a verdict
    votes = named_in_round(table, "decisive_message", matrix)
    return NamedMessages(votes, labels, truth, np.maximum(counts, 0), outcomes.astype(np.int8))


def named_items(table: pa.Table, matrix: VoteMatrix) -> NamedMessages:
    """The items that votes of recorded debates name. What labels name is not known: they name messages of the source.

    Args:
        table: as of `named_messages`.
        matrix: as of `named_messages`.
    """
    unknown = np.full(matrix.units, NOT_KNOWN, dtype=np.int64)
    counts = _of_debates(_numbers(table, "item_count"), _places(table["debate_id"], matrix.debates), matrix.units)
    return NamedMessages(
        votes=named_in_round(table, "decisive_item", matrix),
        labels=unknown,
        truth=unknown,
        counts=np.maximum(counts, 0),
        outcomes=np.full(matrix.units, -1, dtype=np.int8),
    )


@dataclass(frozen=True, eq=False)
class Pluralities:
    """Which message the votes of each unit name most often."""

    named: Ints
    """[units]: how many votes name one."""
    plurality: Numbers
    """[units]: the message that more votes name than any other, -1 without one."""
    majority: Bools
    """[units]: whether more than half of the votes that name one name it."""


def pluralities(votes: Numbers) -> Pluralities:
    """The strict plurality of the messages in each row of [units, seats]; -1 is none."""
    given = votes >= 0
    tally = np.zeros(votes.shape, dtype=np.int64)
    for seat in range(votes.shape[1]):
        tally += given & (votes == votes[:, [seat]])
    top = tally.max(axis=1, initial=0)
    leading = given & (tally == top[:, None])
    most = np.where(leading, votes, -1).max(axis=1, initial=-1)
    alone = np.all(~leading | (votes == most[:, None]), axis=1)
    named = np.count_nonzero(given, axis=1)
    return Pluralities(named, np.where(alone, most, -1), 2 * top > named)


def named_in_round(table: pa.Table, column: str, matrix: VoteMatrix, number: int = 0) -> Numbers:
    """[units, seats]: what the votes of a round name; -1 where they name nothing, and where no vote counts.

    Args:
        table: checked ballots (`ballots.check`).
        column: `decisive_message`, `decisive_item` or another of numbers from 0; without it no vote names anything.
        matrix: the votes of the round.
        number: of the round; 0 is the first evaluation.
    """
    chosen = _plain(pc.equal(table["round"], number)) & _plain(pc.equal(table["role"].cast(pa.string()), "juror"))
    debates = _places(table["debate_id"], matrix.debates)[chosen]
    seats = _places(table["seat"], pa.array(matrix.seats, pa.string()))[chosen]
    votes = np.full(matrix.votes.shape, -1, dtype=np.int64)
    votes[debates, seats] = _numbers(table, column)[chosen]
    votes[matrix.votes < 0] = -1
    return votes


def _numbers(table: pa.Table, name: str) -> Numbers:
    """The column as numbers, -1 for null and without such a column."""
    if name not in table.column_names:
        return np.full(len(table), -1, dtype=np.int64)
    column = table[name].cast(pa.int8()) if pa.types.is_boolean(table[name].type) else table[name]
    numbers: Numbers = pc.fill_null(column.cast(pa.int64()), -1).to_numpy()
    return numbers


def _of_debates(values: Numbers, debates: Ints, units: int) -> Numbers:
    """The value of each debate, of which all of its rows have the same."""
    found = np.full(units, -1, dtype=np.int64)
    found[debates] = values
    return found


def _places(column: pa.ChunkedArray, names: pa.Array) -> Ints:
    """The position of each value in `names`, -1 for others."""
    found = pc.index_in(column.cast(pa.string()), value_set=names.cast(pa.string()))
    places: Ints = pc.fill_null(found, -1).to_numpy().astype(np.int64)
    return places


def _plain(column: pa.ChunkedArray) -> Bools:
    flags: Bools = column.to_numpy().astype(np.bool_)
    return flags
