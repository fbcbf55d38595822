"""What single judges, pairs and juries do on a set of recorded judges: the figures of `docs/results.md`."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from recorded_judges import ReadSet, Refused

from jury_analysis.accuracy import AgainstLabels, accuracy
from jury_analysis.calibration import CalibrationOptions, calibrate
from jury_analysis.certificate import Certificate
from jury_analysis.discussion import DiscussionReport
from jury_analysis.errors import TooFewLabels
from jury_analysis.estimate import Estimate
from jury_analysis.faults import FaultReport, MessageAgreement
from jury_analysis.ladder_promises import Promises
from jury_analysis.ladder_report import LadderOptions, LadderReport, calibrate_ladder
from jury_analysis.ladder_use import StageBallots
from jury_analysis.panel_worth import EarlyStop, early_stops
from jury_analysis.seat_value import BestSeat, best_seat
from jury_analysis.statistics import StatisticsOptions, statistics
from jury_analysis.vote_matrix import VoteMatrix, vote_matrix
from jury_events.calibration import SignalKind

RISKS = (0.05, 0.10)
LADDER_RISKS = (0.05, 0.08, 0.10)
"""Most wrong ones of the passes that are accepted early, and of the fails."""
CONFIDENCE = 0.9


@dataclass(frozen=True)
class PanelResult:
    """A jury by the strict plurality of its seats."""

    seats: tuple[str, ...]
    verdicts: AgainstLabels
    best: BestSeat
    asked: EarlyStop | None
    """With early stop, the last of the seats asked last; None for two seats."""

    @property
    def wins(self) -> bool:
        """Better than its best member in hindsight, by the whole interval."""
        interval = self.best.hindsight.gain.interval
        return interval is not None and interval.low > 0

    @property
    def loses(self) -> bool:
        """Worse than its best member that was chosen on other clusters, by the whole interval."""
        interval = self.best.apart.gain.interval
        return interval is not None and interval.high < 0


@dataclass(frozen=True)
class Promise:
    """What is certified for all judges by one signal at one risk."""

    signal: SignalKind
    risk: float
    certificate: Certificate | None
    """None: there are fewer labels than any such promise takes."""


@dataclass(frozen=True)
class CertifiedStages:
    """A ladder, certified at one risk for passes and for fails."""

    stages: tuple[tuple[str, ...], ...]
    """The judges of each."""
    risk: float
    report: LadderReport | None
    """None: there are fewer labels than any such promise takes."""


@dataclass(frozen=True)
class SetResult:
    """All figures of one set."""

    read: ReadSet
    cases: int
    labelled: int
    clusters: int
    judges: tuple[AgainstLabels, ...]
    effective: Estimate
    """How many independent votes those of all judges are worth."""
    everyone: PanelResult
    unanimous: tuple[int, int]
    """Cases in which all judges vote alike, and in how many of them they are right."""
    pairs: tuple[PanelResult, ...]
    panels: tuple[PanelResult, ...]
    """Those that the definition names; `pairs` are their first two seats."""
    triples: tuple[PanelResult, ...]
    """Every three judges."""
    promises: tuple[Promise, ...]
    ladders: tuple[CertifiedStages, ...]
    faults: FaultReport | None
    messages: MessageAgreement | None


@dataclass(frozen=True)
class RoundsResult:
    """What rounds of discussion change in one set."""

    read: ReadSet
    debates: int
    clusters: int
    effective: Estimate
    report: DiscussionReport


def rounds_of(read: ReadSet) -> RoundsResult:
    """The figures of a set with rounds.

    Raises:
        AnalysisError: its votes or labels do not suffice.
    """
    found = statistics(read.ballots, None, StatisticsOptions(scale=read.scale, resamples=0)).panels[0]
    return RoundsResult(read, found.debates, found.clusters, found.effective_votes.effective, found.discussion)


def results(read: ReadSet) -> SetResult:
    """The figures of a set.

    Raises:
        AnalysisError, Refused: its votes or labels do not suffice.
    """
    options = StatisticsOptions(scale=read.scale, resamples=0)
    found = statistics(read.ballots, None, options).panels[0]
    matrix = _matrix(read, read.seats)
    everyone = _panel(read, read.seats)
    signals: list[SignalKind] = ["share"] if found.messages is None else ["share", "votes+step"]
    return SetResult(
        read=read,
        cases=found.debates,
        labelled=found.against_labels.labelled,
        clusters=len(set(matrix.clusters[matrix.labels >= 0].tolist())),
        judges=found.against_labels.seats,
        effective=found.effective_votes.effective,
        everyone=everyone,
        unanimous=_unanimous(matrix),
        pairs=tuple(_panel(read, seats[:2]) for seats in read.recorded.panels),
        panels=tuple(_panel(read, seats) for seats in read.recorded.panels),
        triples=tuple(_panel(read, seats) for seats in combinations(read.seats, 3)),
        promises=tuple(_promise(read, signal, risk) for signal in signals for risk in RISKS),
        ladders=tuple(_ladder(read, stages, risk) for stages in read.recorded.ladders for risk in LADDER_RISKS),
        faults=found.faults,
        messages=found.messages,
    )


def _panel(read: ReadSet, seats: Sequence[str]) -> PanelResult:
    """Of some judges; the last of them is asked last."""
    matrix = _matrix(read, tuple(seats))
    best = best_seat(matrix)
    if best is None:
        raise Refused(f"{read.recorded.file}: too few clusters with a label to choose a best judge on others")
    stops = [one for one in early_stops(matrix) if one.order[-1] == seats[-1]]
    return PanelResult(tuple(seats), accuracy(matrix).panel, best, stops[0] if stops else None)


def _matrix(read: ReadSet, seats: tuple[str, ...]) -> VoteMatrix:
    return vote_matrix(read.of_seats(seats), read.scale)


def _unanimous(matrix: VoteMatrix) -> tuple[int, int]:
    alike = (matrix.votes >= 0).all(axis=1) & (matrix.votes == matrix.votes[:, :1]).all(axis=1) & (matrix.labels >= 0)
    return int(alike.sum()), int((alike & (matrix.votes[:, 0] == matrix.labels)).sum())


def _promise(read: ReadSet, signal: SignalKind, risk: float) -> Promise:
    options = CalibrationOptions(risk=risk, confidence=CONFIDENCE, signal=signal, scale=read.scale)
    try:
        return Promise(signal, risk, calibrate(read.ballots, None, options).certificate)
    except TooFewLabels:
        return Promise(signal, risk, None)


def _ladder(read: ReadSet, stages: tuple[tuple[str, ...], ...], risk: float) -> CertifiedStages:
    ballots = [StageBallots(" + ".join(seats), read.of_seats(seats)) for seats in stages]
    options = LadderOptions(Promises(risk, risk, confidence=CONFIDENCE), scale=read.scale)
    try:
        return CertifiedStages(stages, risk, calibrate_ladder(ballots, None, options))
    except TooFewLabels:
        return CertifiedStages(stages, risk, None)


def interval_of(estimate: Estimate) -> tuple[float, float] | None:
    """The bounds of an estimate, if it has some."""
    return None if estimate.interval is None else (estimate.interval.low, estimate.interval.high)
