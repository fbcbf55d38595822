"""Faults against labels: how many are found, also where the outcome is correct, and whether at the right message.

A case has a fault if its label is not the first verdict of the order, which passes, or if it names no verdict but the
message that went wrong. A verdict finds the fault if it does not pass either; a missing or undecided one finds nothing.
"""

from dataclasses import dataclass

import numpy as np

from jury_analysis.estimate import Estimate, missing
from jury_analysis.intervals import proportion
from jury_analysis.named_messages import NamedMessages, Numbers, pluralities
from jury_analysis.reasons import (
    NO_FAULT_LABEL,
    NO_FAULT_MESSAGE,
    NO_FAULT_OUTCOME,
    NO_FOUND_MESSAGE,
    NO_PASS_OR_FAIL,
    NO_RIGHT_MESSAGE,
    NO_SUCH_LABEL,
    NONE_NAMES_A_MESSAGE,
)
from jury_analysis.vote_matrix import Bools, Codes, VoteMatrix, panel_plurality
from jury_analysis.wording import Reason


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
        named: the messages of its units and seats.
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
