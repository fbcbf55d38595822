"""What seats change that are shown the agent's reasoning after they have judged: who, to what, and whether it helps.

Both votes are given without sight of other seats, so that no peer is the cause; a seat that is merely asked again may
change too (the probe `reflection` says how often).
"""

from dataclasses import dataclass, replace

import numpy as np

from jury_analysis.discussion import NetGain, Table, VotePair
from jury_analysis.estimate import Estimate
from jury_analysis.vote_matrix import VoteMatrix, panel_plurality


@dataclass(frozen=True)
class SeatReasoning:
    """The votes of one seat before it was shown the reasoning, and after."""

    seat: str
    pairs: int
    transitions: Table
    """A row for each category before, a column for each after."""
    changed: Estimate
    """Share of pairs."""
    net_gain: NetGain


@dataclass(frozen=True)
class ReasoningReport:
    """The votes of all seats before they were shown the reasoning, and after."""

    categories: tuple[str, ...]
    debates: int
    """Debates with a seat that voted twice."""
    pairs: int
    transitions: Table
    changed: Estimate
    net_gain: NetGain
    panel_changed: int
    """Debates in which the seats' strict plurality is another one after it, or is there before or after it alone."""
    seats: tuple[SeatReasoning, ...]


def reasoning_report(before: VoteMatrix | None, first: VoteMatrix) -> ReasoningReport | None:
    """Compare the votes before the reasoning was shown with those of round 0; None without any."""
    if before is None:
        return None
    pair = VotePair(before, first)
    seats = []
    for place, name in enumerate(first.seats):
        alone = np.arange(len(first.seats))[None, :] == place
        one = VotePair(*(replace(matrix, votes=np.where(alone, matrix.votes, -1)) for matrix in (before, first)))
        if one.paired.any():
            seats.append(SeatReasoning(name, int(one.paired.sum()), one.transitions, one.changed, one.net_gain()))
    debates = pair.paired.any(axis=1)
    was, became = (
        panel_plurality(replace(matrix, votes=np.where(pair.paired, matrix.votes, -1)))[0] for matrix in (before, first)
    )
    return ReasoningReport(
        categories=first.scale.categories,
        debates=int(debates.sum()),
        pairs=int(pair.paired.sum()),
        transitions=pair.transitions,
        changed=pair.changed,
        net_gain=pair.net_gain(),
        panel_changed=int(np.count_nonzero(was != became)),
        seats=tuple(seats),
    )
