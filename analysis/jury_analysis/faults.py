"""Faults against labels: how many are found, also where the outcome is correct, and whether at the right message.

A case has a fault if its label is not the first verdict of the order, which passes, or if it names no verdict but the
message that went wrong. A verdict finds the fault if it does not pass either; a missing or undecided one finds nothing.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import MESSAGES
from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import clustered_mean, proportion
from jury_analysis.reasons import (
    NO_AGREED_MESSAGE,
    NO_FAULT_LABEL,
    NO_FAULT_MESSAGE,
    NO_FAULT_OUTCOME,
    NO_FOUND_MESSAGE,
    NO_MESSAGE_COUNT,
    NO_PAIR_OF_MESSAGES,
    NO_PASS_OR_FAIL,
    NO_RIGHT_MESSAGE,
    NO_SUCH_LABEL,
    NONE_NAMES_A_MESSAGE,
)
from jury_analysis.vote_matrix import Bools, Codes, Floats, Ints, VoteMatrix, panel_plurality
from jury_analysis.wording import Reason

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
        column: `decisive_message`, `decisive_item` or another of numbers from 0; without it no vote names anything.
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


@dataclass(frozen=True)
class FaultsFound:
    """What one rater finds."""

    rater: str
    """`seat`, or `panel` (the strict pluralities of the seats' verdicts, and of the messages that they name)."""
    seat: str | None
    """The seat's name; None for the panel."""
    found: Estimate
    """Faults with a verdict that does not pass / faults."""
    silent_found: Estimate
    """The same of the faults whose outcome is correct all the same."""
    loud_found: Estimate
    """The same of the faults whose outcome is not correct."""
    false_alarms: Estimate
    """Verdicts that do not pass / units with a label that passes."""
    message_exact: Estimate
    """Messages that are the label's / found faults in which the rater and the label name one."""
    message_within_one: Estimate
    """Messages that are the label's, the one before it or the one after it / the same."""
    message_exact_of_all: Estimate
    """Found faults with the message of the label / all faults in which the label names one."""


@dataclass(frozen=True)
class FaultReport:
    """All raters beside the labels."""

    passing: str | None
    """The verdict that passes: the first of the order, of a panel's scale all labels that pass; None without an
    order."""
    faults: int
    """Units with a label that does not pass, or that names the message alone."""
    silent: int
    """Of these, units whose outcome is correct."""
    loud: int
    """Of these, units whose outcome is not correct; of the rest it is not known."""
    sound: int
    """Units with a label that passes."""
    messages: int
    """Faults of which the label names the message."""
    seats: tuple[FaultsFound, ...]
    panel: FaultsFound


def faults(matrix: VoteMatrix, named: NamedMessages) -> FaultReport:
    """What seats and panel find in the first evaluation.

    Args:
        matrix: the votes of round 0.
    """
    measured = _Faults(matrix, named)
    verdicts, _ = panel_plurality(matrix)
    seats = tuple(
        measured.of("seat", seat, matrix.votes[:, place], named.votes[:, place])
        for place, seat in enumerate(matrix.seats)
    )
    fault = measured.fault
    return FaultReport(
        passing=", ".join(matrix.scale.passing) if matrix.scale.ordered else None,
        faults=int(fault.sum()),
        silent=int((fault & (named.outcomes == 1)).sum()),
        loud=int((fault & (named.outcomes == 0)).sum()),
        sound=int(measured.sound.sum()),
        messages=int((fault & (named.labels >= 0)).sum()),
        seats=seats,
        panel=measured.of("panel", None, verdicts, pluralities(named.votes).plurality),
    )


class _Faults:
    def __init__(self, matrix: VoteMatrix, named: NamedMessages) -> None:
        self._matrix, self._messages = matrix, named
        ordered = matrix.scale.ordered
        self.sound: Bools = matrix.scale.passes(matrix.labels)
        failing = (matrix.labels >= 0) & ~self.sound
        self.fault: Bools = (failing | ((matrix.labels < 0) & (named.labels >= 0))) & ordered

    def of(self, rater: str, seat: str | None, verdicts: Codes, messages: Numbers) -> FaultsFound:
        fault, named = self.fault, self._messages
        flagged = (verdicts >= 0) & ~self._matrix.scale.passes(verdicts)
        located = fault & (named.labels >= 0)
        both = located & flagged & (messages >= 0)
        distance = np.abs(messages - named.labels)
        passing = NO_SUCH_LABEL(name=", ".join(self._matrix.scale.passing))
        return FaultsFound(
            rater=rater,
            seat=seat,
            found=self._share(flagged, fault, NO_FAULT_LABEL),
            silent_found=self._share(flagged, fault & (named.outcomes == 1), NO_FAULT_OUTCOME),
            loud_found=self._share(flagged, fault & (named.outcomes == 0), NO_FAULT_OUTCOME),
            false_alarms=self._share(flagged, self.sound, passing),
            message_exact=self._named(distance == 0, both, NO_FOUND_MESSAGE),
            message_within_one=self._named(distance <= 1, both, NO_FOUND_MESSAGE, within=1),
            message_exact_of_all=self._named(both & (distance == 0), located, NO_FAULT_MESSAGE),
        )

    def _named(self, successes: Bools, counted: Bools, otherwise: Reason, within: int = 0) -> Estimate:
        """A share of units of which one at least has a message that could be named."""
        if counted.any() and not (self._messages.votes >= 0).any():
            return missing(NONE_NAMES_A_MESSAGE)
        if counted.any() and not (counted & self._messages.may_be_named(within)).any():
            return missing(NO_RIGHT_MESSAGE)
        return self._share(successes, counted, otherwise)

    def _share(self, successes: Bools, counted: Bools, otherwise: Reason) -> Estimate:
        if not self._matrix.scale.ordered:
            return missing(NO_PASS_OR_FAIL)
        return proportion(successes, counted, self._matrix.clusters) if counted.any() else missing(otherwise)


@dataclass(frozen=True)
class MessagePair:
    """Two seats that both name a message in some debate."""

    seats: tuple[str, str]
    same: Estimate
    """Debates in which they name the same / debates in which both name one."""
    right: Estimate
    """Messages that are the label's / the same messages in debates with a known answer, if one of these has a message
    that could be named."""


@dataclass(frozen=True)
class MessageAgreement:
    """Of the debates in which two seats or more name a message, in the first evaluation."""

    one_message: Estimate
    """Debates in which all seats that name a message name the same one."""
    raw: Estimate
    """The mean share of pairs of seats that name the same one."""
    corrected: Estimate
    """(raw - chance) / (1 - chance), where chance is 1 / M: naming any of the M messages of the debate alike (or items,
    where items are named). Over debates it is the ratio Σ (raw - 1/M) / Σ (1 - 1/M), of those with M of two or more. It
    is the S of Bennett, Alpert and Goldstein (1954, Public Opinion Quarterly 18:303), with the number of categories of
    each debate."""
    plurality_right: Estimate
    """Messages that are the label's / strict pluralities of messages in debates with a known answer, if one of these
    has a message that could be named."""
    majority_right: Estimate
    """The same where more than half of the seats that name a message name this one."""
    pairs: tuple[MessagePair, ...]


def message_agreement(matrix: VoteMatrix, named: NamedMessages) -> MessageAgreement | None:
    """Agreement on the message; None where no vote names one.

    Where the label passes, no message is right. Where none could be right in any of the debates, there is no share.

    Args:
        matrix: the votes of round 0.
    """
    if not (named.votes >= 0).any():
        return None
    found = pluralities(named.votes)
    several = found.named > 1
    labelled = (named.truth >= 0) | (named.truth == NO_FAULT)
    right = found.plurality == named.truth
    decided = several & labelled & (found.plurality >= 0)
    same, both, pairs = _pairs(matrix, named, labelled)
    raw = np.divide(same, both, out=np.zeros(len(both)), where=several)
    clusters = matrix.clusters
    return MessageAgreement(
        one_message=_share(same == both, several, matrix, NO_PAIR_OF_MESSAGES),
        raw=clustered_mean(raw, several, clusters).mean.within() if several.any() else missing(NO_PAIR_OF_MESSAGES),
        corrected=_corrected(raw, several, matrix, named),
        plurality_right=_right(right, decided, matrix, named),
        majority_right=_right(right, decided & found.majority, matrix, named),
        pairs=pairs,
    )


def _pairs(matrix: VoteMatrix, named: NamedMessages, labelled: Bools) -> tuple[Floats, Floats, tuple[MessagePair, ...]]:
    """[units]: pairs of seats that name the same message, pairs that name one; and each two seats."""
    same, both = np.zeros(matrix.units), np.zeros(matrix.units)
    pairs = []
    for first in range(len(matrix.seats)):
        for second in range(first + 1, len(matrix.seats)):
            one, other = named.votes[:, first], named.votes[:, second]
            two = (one >= 0) & (other >= 0)
            equal = two & (one == other)
            same += equal
            both += two
            if two.any():
                shared = _share(equal, two, matrix, NO_PAIR_OF_MESSAGES)
                right = _right(one == named.truth, equal & labelled, matrix, named)
                pairs.append(MessagePair((matrix.seats[first], matrix.seats[second]), shared, right))
    return same, both, tuple(pairs)


def _corrected(raw: Floats, several: Bools, matrix: VoteMatrix, named: NamedMessages) -> Estimate:
    """With the interval of a ratio: Σ(raw - chance) / Σ(1 - chance)."""
    if not several.any():
        return missing(NO_PAIR_OF_MESSAGES)
    counted = several & (named.counts > 1)
    if not counted.any():
        return missing(NO_MESSAGE_COUNT)
    chance = 1 / np.maximum(named.counts, 2)
    weights = np.where(counted, 1 - chance, 0.0)
    return clustered_mean((raw - chance) / (1 - chance), weights, matrix.clusters).mean.within(-1.0)


def _right(successes: Bools, counted: Bools, matrix: VoteMatrix, named: NamedMessages) -> Estimate:
    if counted.any() and not (counted & named.may_be_named()).any():
        return missing(NO_RIGHT_MESSAGE)
    return _share(successes, counted, matrix, NO_AGREED_MESSAGE)


def _share(successes: Bools, counted: Bools, matrix: VoteMatrix, otherwise: Reason) -> Estimate:
    return proportion(successes, counted, matrix.clusters) if counted.any() else missing(otherwise)
