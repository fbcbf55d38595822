"""What discussion does to the votes: who changes, towards what, and whether it helps.

A *step* is the way from one round to the next. Its *pairs* are the votes of one seat in both rounds, where it spoke in
the later one. The positions that a seat was shown of its peers are taken to be their votes in the earlier round of the
step, as in parallel rounds. (If seats speak one after the other, a seat also saw the earlier speakers of its own round,
which ballots do not record.)

These figures describe; they prove no cause. A seat that adopts the position of its peers may have found it by itself.

What seats change that are shown the agent's reasoning after they have judged is counted likewise. Both votes are given
without sight of other seats, so that no peer is the cause; a seat that is merely asked again may change too (the probe
`reflection` says how often).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.accuracy import errors
from jury_analysis.coefficients import tallies
from jury_analysis.estimate import FEWEST, Estimate, missing
from jury_analysis.intervals import clustered_mean, holm, proportion
from jury_analysis.reasons import (
    FEWER_THAN,
    NO_DEBATE_LABEL,
    NO_LABELLED_PAIR,
    NO_OPPOSITION,
    NO_PANEL_DECIDED,
    NO_VOTE_IN_BOTH,
    SAME_GAIN,
)
from jury_analysis.scale import plain_text
from jury_analysis.vote_matrix import STANDING, Bools, Codes, VoteMatrix, panel_plurality, strict_plurality
from jury_analysis.wording import Reason

Table = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class NetGainTest:
    """Whether the net gain of a step differs from zero.

    Two-sided one-sample t test of the clusters' gains against zero, with clusters - 1 degrees of freedom. Clusters
    without a pair do not count.
    """

    clusters: int
    p_value: float | None
    p_holm: float | None
    """Corrected for the number of steps that were tested (Holm 1979)."""
    reason: Reason | None
    """Why there is no p value."""


@dataclass(frozen=True)
class NetGain:
    """Votes that became right less votes that became wrong, over the pairs of a step that have a label.

    Pairs with a verdict that counts as an abstention in one of the rounds are left out.
    """

    pairs: int
    abstentions: int
    """Labelled pairs that were left out."""
    right_to_right: int
    right_to_wrong: int
    wrong_to_right: int
    wrong_to_wrong: int
    gain: int
    """wrong_to_right - right_to_wrong."""
    rate: Estimate
    """gain / pairs, with the cluster-robust t interval."""
    test: NetGainTest


@dataclass(frozen=True)
class Conformity:
    """Opposed seats that adopt the position of their peers.

    A seat is opposed if the positions of its peers in the earlier round have a strict plurality that is not its own
    position. It adopts it if that plurality is its position in the later round.
    """

    opposed: int
    adopted: int
    rate: Estimate
    """adopted / opposed."""


@dataclass(frozen=True)
class SeatMoves:
    """Who moves whom: a row for each seat that may move, a column for each seat whose position it may take.

    `opposed[i][j]`: pairs in which seat j had a position other than that of seat i in the earlier round.
    `adopted[i][j]`: of these, pairs in which the position of seat i in the later round is the one that seat j had in
    the earlier round. If several peers had this position, the move counts for each of them.
    """

    seats: tuple[str, ...]
    opposed: Table
    adopted: Table


@dataclass(frozen=True)
class DiscussionStep:
    """The votes of one round beside those of the round before."""

    from_round: int
    to_round: int
    pairs: int
    unpaired: int
    """Votes of one of the two rounds without a vote of the same seat in the other, in debates that have both rounds."""
    transitions: Table
    """Pairs by position: a row for each category of the earlier round, a column for each of the later round."""
    changed: Estimate
    """Share of pairs whose position changed."""
    net_gain: NetGain
    conformity: Conformity
    """Over all pairs, labelled or not."""
    conformity_peers_right: Conformity
    conformity_peers_wrong: Conformity
    moves: SeatMoves


@dataclass(frozen=True)
class RoundVotes:
    """The panel's strict plurality in a round."""

    round: int
    debates: int
    """Debates that had this round, also those in which all seats abstained."""
    votes: int
    decided: int
    labelled: int
    right: int
    accuracy: Estimate
    """right / labelled; an undecided panel is wrong."""


@dataclass(frozen=True)
class JudgeAgainstVote:
    """The final judge beside the strict plurality of the last round.

    `table` has a row for each category of the plurality, and a last one for undecided panels; a column for each verdict
    of the judge.
    """

    debates: int
    table: Table
    follows: Estimate
    """Share of the debates with a decided panel in which the judge gives its verdict."""
    overrules: int
    """Debates with a decided panel in which the judge gives another verdict."""
    overrules_to_right: int
    """Of these, labelled ones in which the judge is right and the plurality wrong."""
    overrules_to_wrong: int
    decides_right: int
    """Labelled debates with an undecided panel in which the judge is right."""
    decides_wrong: int


@dataclass(frozen=True)
class DiscussionPrice:
    """US dollars that the jurors' votes cost, over all debates."""

    first: float
    """Their first votes."""
    rounds: float
    """Those of the discussion."""


@dataclass(frozen=True)
class DiscussionReport:
    """All rounds of a set of debates."""

    categories: tuple[str, ...]
    rounds: tuple[RoundVotes, ...]
    steps: tuple[DiscussionStep, ...]
    tests: int
    """How many tests of a net gain the Holm correction counts."""
    judge: JudgeAgainstVote | None
    """None where no debate has a final judge."""
    price: DiscussionPrice | None = None
    """None where a vote's cost is not known, or nothing cost anything."""


def discussion_price(table: pa.Table) -> DiscussionPrice | None:
    """What the discussion cost beside the first votes; None where that is not known of each vote."""
    if "cost" not in table.column_names:
        return None
    jurors = table.filter(pc.equal(plain_text(table["role"]), "juror"))
    if not jurors.num_rows or jurors["cost"].null_count:
        return None
    costs, later = jurors["cost"].to_numpy(), pc.greater(jurors["round"], 0).to_numpy()
    price = DiscussionPrice(float(costs[~later].sum()), float(costs[later].sum()))
    return price if price.first or price.rounds else None


def discussion(rounds: Mapping[int, VoteMatrix], price: DiscussionPrice | None = None) -> DiscussionReport:
    """Compare each round with the one before, and the final judge with the last round.

    Args:
        rounds: of `vote_matrix.by_round`: the same units and seats in each.
        price: of `discussion_price`.
    """
    if not rounds:
        raise ValueError("ballots without a round have no discussion")
    numbers = sorted(rounds)
    steps = [VotePair(rounds[one], rounds[two]).report(one, two) for one, two in pairwise(numbers)]
    corrected = holm([step.net_gain.test.p_value for step in steps])
    return DiscussionReport(
        categories=rounds[numbers[0]].scale.categories,
        rounds=tuple(_round_votes(number, rounds[number]) for number in numbers),
        steps=tuple(_with_holm(step, p) for step, p in zip(steps, corrected, strict=True)),
        tests=sum(p is not None for p in corrected),
        judge=_judge_against_vote([rounds[number] for number in numbers]),
        price=price,
    )


class VotePair:
    """Earlier and later votes of the same seats, as arrays [units, seats]."""

    def __init__(self, before: VoteMatrix, after: VoteMatrix) -> None:
        self.before, self.after, self.matrix = before.votes, after.votes, before
        self.size = len(before.scale.categories)
        # Who does not speak in a round is seen by the others, and can neither change nor stay by choice.
        speaking: Bools = after.kinds != STANDING
        self.paired: Bools = (self.before >= 0) & (self.after >= 0) & speaking
        self.both_rounds: Bools = np.any(before.kinds >= 0, axis=1) & np.any(after.kinds >= 0, axis=1)
        self.clusters = np.repeat(before.clusters, len(before.seats)).reshape(self.before.shape)

    def report(self, one: int, two: int) -> DiscussionStep:
        labels = self.matrix.labels[:, None]
        peers = self._peers()
        opposed = self.paired & (peers >= 0) & (peers != self.before)
        peers_err = errors(peers, self.matrix.labels, self.matrix.scale)
        alone = self.both_rounds[:, None] & ((self.before >= 0) ^ (self.after >= 0))
        return DiscussionStep(
            from_round=one,
            to_round=two,
            pairs=int(self.paired.sum()),
            unpaired=int(alone.sum()),
            transitions=self.transitions,
            changed=self.changed,
            net_gain=self._net_gain(labels),
            conformity=self._conformity(peers, opposed),
            conformity_peers_right=self._conformity(peers, opposed & (peers_err == 0)),
            conformity_peers_wrong=self._conformity(peers, opposed & (peers_err == 1)),
            moves=self._moves(),
        )

    @property
    def transitions(self) -> Table:
        """Pairs by position: a row for each earlier one, a column for each later one."""
        return _table(self.before[self.paired], self.after[self.paired], self.size, self.size)

    @property
    def changed(self) -> Estimate:
        """The share of pairs whose position changed."""
        return self._share(self.before != self.after, self.paired, NO_VOTE_IN_BOTH)

    def _peers(self) -> Codes:
        """The strict plurality of each seat's peers in the earlier round."""
        counts = tallies(self.before, self.size)
        peers = np.empty_like(self.before)
        for seat in range(self.before.shape[1]):
            own = self.before[:, seat, None] == np.arange(self.size)
            peers[:, seat] = strict_plurality(counts - own)[0]
        return peers

    def _net_gain(self, labels: Codes) -> NetGain:
        scale, truth = self.matrix.scale, self.matrix.labels
        was, became = errors(self.before, truth, scale), errors(self.after, truth, scale)
        labelled = self.paired & (labels >= 0)
        known = labelled & (was >= 0) & (became >= 0)
        counts = _table(was[known], became[known], 2, 2)
        pairs = int(known.sum())
        clusters = self.clusters[known]
        gains = (was[known] - became[known]).astype(np.float64)
        return NetGain(
            pairs=pairs,
            abstentions=int(labelled.sum()) - pairs,
            right_to_right=counts[0][0],
            right_to_wrong=counts[0][1],
            wrong_to_right=counts[1][0],
            wrong_to_wrong=counts[1][1],
            gain=counts[1][0] - counts[0][1],
            rate=clustered_mean(gains, np.ones(pairs), clusters).mean if pairs else missing(NO_LABELLED_PAIR),
            test=_net_gain_test(gains, clusters),
        )

    def _conformity(self, peers: Codes, opposed: Bools) -> Conformity:
        adopted = opposed & (self.after == peers)
        rate = self._share(adopted, opposed, NO_OPPOSITION)
        return Conformity(opposed=int(opposed.sum()), adopted=int(adopted.sum()), rate=rate)

    def _moves(self) -> SeatMoves:
        seats = self.matrix.seats
        opposed = np.zeros((len(seats), len(seats)), dtype=np.int64)
        adopted = opposed.copy()
        for seat in range(len(seats)):
            own, new = self.before[:, seat, None], self.after[:, seat, None]
            other = self.paired[:, seat, None] & (self.before >= 0) & (self.before != own)
            opposed[seat] = other.sum(axis=0)
            adopted[seat] = (other & (self.before == new)).sum(axis=0)
        return SeatMoves(seats=seats, opposed=_rows(opposed), adopted=_rows(adopted))

    def _share(self, successes: Bools, counted: Bools, otherwise: Reason) -> Estimate:
        if not counted.any():
            return missing(otherwise)
        return proportion(successes[counted], np.ones(int(counted.sum()), dtype=np.bool_), self.clusters[counted])


def _net_gain_test(gains: npt.NDArray[np.float64], clusters: npt.NDArray[np.int32]) -> NetGainTest:
    _, place = np.unique(clusters, return_inverse=True)
    totals = np.bincount(place, weights=gains)
    p_value = clustered_mean(totals, np.ones(len(totals)), np.arange(len(totals))).p_value if len(totals) else None
    reason = None
    if p_value is None:
        few = len(totals) < FEWEST
        reason = FEWER_THAN(least=FEWEST) if few else SAME_GAIN
    return NetGainTest(clusters=len(totals), p_value=p_value, p_holm=None, reason=reason)


def _with_holm(step: DiscussionStep, p_value: float | None) -> DiscussionStep:
    test = replace(step.net_gain.test, p_holm=p_value)
    return replace(step, net_gain=replace(step.net_gain, test=test))


def _round_votes(number: int, matrix: VoteMatrix) -> RoundVotes:
    plurality, _ = panel_plurality(matrix)
    present = np.any(matrix.kinds >= 0, axis=1)
    labelled = present & (matrix.labels >= 0)
    right = labelled & (plurality == matrix.labels)
    accuracy = proportion(right, labelled, matrix.clusters) if labelled.any() else missing(NO_DEBATE_LABEL)
    return RoundVotes(
        round=number,
        debates=int(present.sum()),
        votes=int(np.count_nonzero(matrix.votes >= 0)),
        decided=int(np.count_nonzero(plurality >= 0)),
        labelled=int(labelled.sum()),
        right=int(right.sum()),
        accuracy=accuracy,
    )


def _judge_against_vote(rounds: list[VoteMatrix]) -> JudgeAgainstVote | None:
    matrix = rounds[0]
    judges, labels, size = matrix.judges, matrix.labels, len(matrix.scale.categories)
    judged = judges >= 0
    if not judged.any():
        return None
    vote = np.full(matrix.units, -1, dtype=np.int8)
    for each in rounds:  # ascending: the last round that a debate has stays
        present = np.any(each.kinds >= 0, axis=1)
        vote[present] = panel_plurality(each)[0][present]
    decided = judged & (vote >= 0)
    follows = decided & (vote == judges)
    overrules, undecided = decided & ~follows, judged & (vote < 0)
    judge_err, vote_err = errors(judges, labels, matrix.scale), errors(vote, labels, matrix.scale)
    return JudgeAgainstVote(
        debates=int(judged.sum()),
        table=_table(np.where(vote < 0, size, vote)[judged], judges[judged], size + 1, size),
        follows=proportion(follows, decided, matrix.clusters) if decided.any() else missing(NO_PANEL_DECIDED),
        overrules=int(overrules.sum()),
        overrules_to_right=int(np.count_nonzero(overrules & (judge_err == 0) & (vote_err == 1))),
        overrules_to_wrong=int(np.count_nonzero(overrules & (judge_err == 1) & (vote_err == 0))),
        decides_right=int(np.count_nonzero(undecided & (judge_err == 0))),
        decides_wrong=int(np.count_nonzero(undecided & (judge_err == 1))),
    )


@dataclass(frozen=True)
class ReasoningVotes:
    """Votes of seats before they were shown the agent's reasoning, and after."""

    seat: str | None
    """None: of all seats."""
    pairs: int
    transitions: Table
    """A row for each category before, a column for each after."""
    changed: Estimate
    """Share of pairs."""
    labelled: int
    """Pairs of debates with a label."""
    became_right: int
    """Of these, votes that are the label after it alone."""
    no_longer_right: int
    """Of these, votes that are the label before it alone."""


@dataclass(frozen=True)
class ReasoningReport:
    """What became of the first votes once the seats were shown the agent's reasoning."""

    categories: tuple[str, ...]
    debates: int
    """Debates with a seat that voted twice."""
    panel_changed: int
    """Debates in which these seats' strict plurality is another one after it, or is there before or after it alone."""
    all: ReasoningVotes
    seats: tuple[ReasoningVotes, ...]


def reasoning_report(before: VoteMatrix | None, first: VoteMatrix) -> ReasoningReport | None:
    """Compare the votes before the reasoning was shown with those of round 0; None without any."""
    if before is None:
        return None
    pair, places = VotePair(before, first), np.arange(len(first.seats))
    alone = [replace(before, votes=np.where(places == place, before.votes, np.int8(-1))) for place in places]
    seats = [_reasoning_votes(name, VotePair(one, first)) for name, one in zip(first.seats, alone, strict=True)]
    was, became = (
        panel_plurality(replace(matrix, votes=np.where(pair.paired, matrix.votes, np.int8(-1))))[0]
        for matrix in (before, first)
    )
    return ReasoningReport(
        categories=first.scale.categories,
        debates=int(np.count_nonzero(pair.paired.any(axis=1))),
        panel_changed=int(np.count_nonzero(was != became)),
        all=_reasoning_votes(None, pair),
        seats=tuple(one for one in seats if one.pairs),
    )


def _reasoning_votes(seat: str | None, pair: VotePair) -> ReasoningVotes:
    labels = pair.matrix.labels[:, None]
    labelled = pair.paired & (labels >= 0)
    was, became = (labelled & (votes == labels) for votes in (pair.before, pair.after))
    return ReasoningVotes(
        seat=seat,
        pairs=int(pair.paired.sum()),
        transitions=pair.transitions,
        changed=pair.changed,
        labelled=int(labelled.sum()),
        became_right=int(np.count_nonzero(became & ~was)),
        no_longer_right=int(np.count_nonzero(was & ~became)),
    )


def _table(rows: npt.NDArray[np.int8], columns: npt.NDArray[np.int8], height: int, width: int) -> Table:
    flat = np.bincount(rows.astype(np.int64) * width + columns, minlength=height * width)
    return _rows(flat.reshape(height, width))


def _rows(counts: npt.NDArray[np.int64]) -> Table:
    return tuple(tuple(int(count) for count in row) for row in counts)
