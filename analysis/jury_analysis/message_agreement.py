"""Do the seats name the same message as the first that went wrong, and is it the right one then?"""

from dataclasses import dataclass, replace

import numpy as np

from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import clustered_mean, proportion
from jury_analysis.named_messages import NO_FAULT, NamedMessages, pluralities
from jury_analysis.reasons import NO_AGREED_MESSAGE, NO_MESSAGE_COUNT, NO_PAIR_OF_MESSAGES, NO_RIGHT_MESSAGE
from jury_analysis.vote_matrix import Bools, Floats, VoteMatrix
from jury_analysis.wording import Reason


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
        named: the messages of its units and seats.
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
        raw=_within(clustered_mean(raw, several, clusters).mean, 0.0)
        if several.any()
        else missing(NO_PAIR_OF_MESSAGES),
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
    return _within(clustered_mean((raw - chance) / (1 - chance), weights, matrix.clusters).mean, -1.0)


def _right(successes: Bools, counted: Bools, matrix: VoteMatrix, named: NamedMessages) -> Estimate:
    if counted.any() and not (counted & named.may_be_named()).any():
        return missing(NO_RIGHT_MESSAGE)
    return _share(successes, counted, matrix, NO_AGREED_MESSAGE)


def _share(successes: Bools, counted: Bools, matrix: VoteMatrix, otherwise: Reason) -> Estimate:
    return proportion(successes, counted, matrix.clusters) if counted.any() else missing(otherwise)


def _within(estimate: Estimate, least: float) -> Estimate:
    """The estimate with an interval that does not leave `least` to 1."""
    interval = estimate.interval
    if interval is None:
        return estimate
    return replace(estimate, interval=replace(interval, low=max(least, interval.low), high=min(1.0, interval.high)))
