"""A calibration: when a panel's verdict may stand without a person. The numbers that the judgment needs.

A *signal* turns the seats' last votes into the estimated chance that a verdict is right, or into the share of the seats
that voted for it. A verdict is accepted from the calibration's threshold on. The same functions are used where a
threshold is certified and where a debate is judged, so that both see the same numbers.

Signals are recorded in opening events: what a released kind of signal computes never changes.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, StringConstraints, model_validator

from jury_events.value import JurorId, Label, Value
from jury_events.verdict import Verdict
from jury_events.verdict_scale import VERDICTS, LabelId

_DIGITS = 9
"""Decimals of a signal: fewer than the functions of another machine differ by."""

_LEAST = 1e-10
"""In place of the chance 0, as in the estimation of the confusions."""

_MOST = 1500
_HUNDREDTHS = 100
_MIDDLE_SCORE = 50.0

Hex256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Chance = Annotated[float, Field(ge=0, le=1)]
Coefficient = Annotated[float, Field(ge=-1e6, le=1e6)]
SignalKind = Literal["share", "isotonic", "weights", "dawid_skene", "votes+step", "probability"]
InputKind = Literal["vote", "confidence", "score"]
Harm = Literal["error", "false_pass"]


class SignalVote(NamedTuple):
    """The last vote of a seat, as signals read it.

    `verdict` is None for a seat that abstained, and for what stands in for a blocked answer. `step` is the number of
    the item or message that the seat names as the first that went wrong; None where it names none.
    """

    seat: str
    verdict: str | None
    confidence: float | None = None
    score: float | None = None
    step: int | None = None


class ShareSignal(Value):
    """The votes for the verdict / all seats. A seat without a vote stays in the denominator."""

    kind: Literal["share"] = "share"

    def probability(self, verdict: str, votes: Sequence[SignalVote]) -> float:
        """The share of the seats that voted for the verdict; `votes` has every seat of the panel."""
        return _rounded(_share(verdict, votes))


class VotesStepSignal(Value):
    """Agreement of the votes on the verdict and, unless it passes, on the step that is decisive for it.

    Of n seats, a votes agree: they are for the verdict and name its step, the one that more of the votes for it name
    than any other, if two or more name it. So a / n is the share of the votes times the share of these votes that name
    the step. A verdict that is `passing` names no step: its votes are all that is known.

    not passing: (n + a) / 2n, more than a half. 0 where its votes name no step, where only one names each, or where two
    steps come first.
    passing: half the share of the votes, at most a half.

    Seats that are wrong rarely name the same step, while nothing but votes speaks for a pass. So a step that two seats
    agree on ranks above any number of votes for a pass, and one threshold accepts in this order.

    `step` says what is numbered: items of a prompt (recorded debates), or messages of the source (votes of files).
    """

    kind: Literal["votes+step"] = "votes+step"
    passing: Label
    step: Literal["item", "message"]

    def probability(self, verdict: str, votes: Sequence[SignalVote]) -> float:
        """The value of the verdict, which is no chance; `votes` has every seat of the panel."""
        if verdict == self.passing:
            return _rounded(_share(verdict, votes) / 2)
        named = Counter(vote.step for vote in votes if vote.verdict == verdict and vote.step is not None)
        (_, agreeing), (_, others) = (*named.most_common(2), (None, 0), (None, 0))[:2]
        if agreeing <= max(1, others):
            return 0.0
        return _rounded((len(votes) + agreeing) / (2 * len(votes)))

    @staticmethod
    def levels(seats: int) -> tuple[float, ...]:
        """Every value that it can have, descending, but 0."""
        return tuple(_rounded(steps / (2 * seats)) for steps in range(2 * seats, 0, -1) if steps != seats + 1)


class ProbabilitySignal(Value):
    """The mean probability of the verdict, over all seats.

    A seat that voted for the verdict counts its probability: what a decision model answered, or a juror stated as its
    confidence. A seat that voted for another verdict counts 0, as its vote does not say how probable this one is to it;
    so does a seat without a vote, or without a confidence. So it is at most the share of the votes, and at most the
    mean of what the seats hold of the verdict.
    """

    kind: Literal["probability"] = "probability"

    def probability(self, verdict: str, votes: Sequence[SignalVote]) -> float:
        """The mean; `votes` has every seat of the panel."""
        total = math.fsum(vote.confidence or 0.0 for vote in votes if vote.verdict == verdict)
        return _rounded(total / len(votes)) if votes else 0.0

    @staticmethod
    def levels() -> tuple[float, ...]:
        """The thresholds that are tried, descending: every hundredth, whatever the votes."""
        return tuple(step / _HUNDREDTHS for step in range(_HUNDREDTHS, 0, -1))


class IsotonicSignal(Value):
    """The chance that a verdict with this vote share is right: an ascending function, linear between its points.

    `shares` ascend; `chances` never descend and are as many. Outside the points the nearest one counts (isotonic
    regression; Zadrozny and Elkan 2002).
    """

    kind: Literal["isotonic"] = "isotonic"
    shares: Annotated[tuple[Chance, ...], Field(min_length=1, max_length=_MOST)]
    chances: Annotated[tuple[Chance, ...], Field(min_length=1, max_length=_MOST)]

    def probability(self, verdict: str, votes: Sequence[SignalVote]) -> float:
        """The chance that the verdict is right; `votes` has every seat of the panel."""
        share = _share(verdict, votes)
        points = list(zip(self.shares, self.chances, strict=False))
        before = [point for point in points if point[0] <= share]
        after = [point for point in points if point[0] > share]
        if not before or not after:
            return _rounded((before[-1] if before else after[0])[1])
        (low, least), (high, most) = before[-1], after[0]
        return _rounded(least + (most - least) * (share - low) / (high - low))


class WeightedInput(Value):
    """One input of a `WeightsSignal`, with its weight for each label.

    vote: 1 where the seat votes for `verdict`, -1/(q-1) where it votes for another of q verdicts, 0 without a vote.
    confidence: the same times the stated confidence; 0 where none is stated.
    score: (score - 50) / 50; 0 without one. Its `verdict` is None.
    """

    input: InputKind
    seat: JurorId
    verdict: Label | None = None
    weights: Annotated[tuple[Coefficient, ...], Field(min_length=2, max_length=_MOST)]


class WeightsSignal(Value):
    """The chance of each label, by logistic regression over votes, confidences and scores.

    `labels` are the labels that it was fitted on, `verdicts` how many verdicts are declared, `intercepts` one a label.
    """

    kind: Literal["weights"] = "weights"
    labels: Annotated[tuple[Label, ...], Field(min_length=2, max_length=_MOST)]
    verdicts: Annotated[int, Field(ge=2, le=127)]
    intercepts: Annotated[tuple[Coefficient, ...], Field(min_length=2, max_length=_MOST)]
    inputs: Annotated[tuple[WeightedInput, ...], Field(max_length=10 * _MOST)]

    def probability(self, verdict: str, votes: Sequence[SignalVote]) -> float:
        """The chance that the label is the verdict; 0 for a verdict that no label had."""
        by_seat = {vote.seat: vote for vote in votes}
        sums = list(self.intercepts)
        for one in self.inputs:
            value = self._value(one, by_seat)
            sums = [total + weight * value for total, weight in zip(sums, one.weights, strict=False)]
        return _rounded(_softmax(dict(zip(self.labels, sums, strict=False))).get(verdict, 0.0))

    def values(self, one: WeightedInput, votes: Sequence[SignalVote]) -> float:
        """The value of an input, to fit the weights by."""
        return self._value(one, {vote.seat: vote for vote in votes})

    def _value(self, one: WeightedInput, votes: Mapping[str, SignalVote]) -> float:
        vote = votes.get(one.seat)
        if vote is None or vote.verdict is None:
            return 0.0
        if one.input == "score":
            return 0.0 if vote.score is None else (vote.score - _MIDDLE_SCORE) / _MIDDLE_SCORE
        sign = 1.0 if vote.verdict == one.verdict else -1.0 / (self.verdicts - 1)
        if one.input == "vote":
            return sign
        return 0.0 if vote.confidence is None else sign * vote.confidence


class SeatConfusion(Value):
    """How often a seat gives each verdict: a row a true verdict, a column a given one."""

    seat: JurorId
    chances: Annotated[tuple[Annotated[tuple[Chance, ...], Field(max_length=127)], ...], Field(max_length=127)]


class DawidSkeneSignal(Value):
    """The posterior chance of each verdict by the model of Dawid and Skene (1979), whose confusions need no labels."""

    kind: Literal["dawid_skene"] = "dawid_skene"
    verdicts: Annotated[tuple[Label, ...], Field(min_length=2, max_length=127)]
    prior: Annotated[tuple[Chance, ...], Field(min_length=2, max_length=127)]
    seats: Annotated[tuple[SeatConfusion, ...], Field(min_length=1, max_length=_MOST)]

    def probability(self, verdict: str, votes: Sequence[SignalVote]) -> float:
        """The posterior chance of the verdict."""
        sums = [math.log(max(chance, _LEAST)) for chance in self.prior]
        by_seat = {one.seat: one.chances for one in self.seats}
        for vote in votes:
            chances = by_seat.get(vote.seat)
            if chances is None or vote.verdict not in self.verdicts:
                continue
            given = self.verdicts.index(vote.verdict)
            sums = [
                total + math.log(max(row[given] if given < len(row) else 0.0, _LEAST))
                for total, row in zip(sums, chances, strict=False)
            ]
        return _rounded(_softmax(dict(zip(self.verdicts, sums, strict=False))).get(verdict, 0.0))


Signal = Annotated[
    ShareSignal | IsotonicSignal | WeightsSignal | DawidSkeneSignal | VotesStepSignal | ProbabilitySignal,
    Field(discriminator="kind"),
]


class OutcomeThreshold(Value):
    """From which signal on verdicts of this outcome are accepted; at most `risk` of the accepted ones are wrong."""

    outcome: Literal["pass", "fail"]
    threshold: Chance
    risk: Annotated[float, Field(gt=0, lt=1)]


class Calibration(Value):
    """What a calibrated panel applies.

    Of the accepted verdicts at most `risk` are wrong, with `confidence`, for cases like those that it was certified on.
    `on` says what is wrong: error, a verdict that is not the label; false_pass, a pass whose label fails.
    `made_on` is the day on which it was calibrated (`2026-11-28`, UTC); None: the file does not say it.
    `digest` is the SHA-256 of the calibration file, `panel` and `prompts` of what votes: see `jury_debate.calibrated`.

    `by_outcome` is of a stage of a ladder (`jury_events.ladder`): each outcome has a threshold and a risk of its own,
    and one that is not there is never accepted. `threshold` is then the lowest of them (1 without any), `risk` the
    highest.
    """

    digest: Hex256
    panel: Hex256
    prompts: Hex256
    on: Harm
    risk: Annotated[float, Field(gt=0, lt=1)]
    confidence: Annotated[float, Field(gt=0, lt=1)]
    signal: Signal
    threshold: Chance
    by_outcome: tuple[OutcomeThreshold, ...] | None = None
    made_on: Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")] | None = None

    @model_validator(mode="after")
    def _outcomes(self) -> Self:
        if self.by_outcome is None:
            return self
        outcomes = [one.outcome for one in self.by_outcome]
        if len(set(outcomes)) < len(outcomes):
            raise ValueError("by_outcome: an outcome has one threshold")
        if self.threshold != min((one.threshold for one in self.by_outcome), default=1.0):
            raise ValueError("threshold: must be the lowest of by_outcome")
        return self

    def threshold_for(self, verdict: Verdict) -> float | None:
        """From which signal on this verdict is accepted; None: never."""
        if self.by_outcome is None:
            return self.threshold
        return next((one.threshold for one in self.by_outcome if VERDICTS[one.outcome] is verdict), None)


class Acceptance(Value):
    """Whether a verdict may stand without a person.

    `verdict` is the panel's before; one that is not accepted becomes `REVIEW`. `probability` is the signal's value,
    None where there is nothing to accept because the verdict asks for a person already, or because the calibration
    accepts no verdict of its outcome. `label` is that of the verdict before, as in `Judgment`.
    """

    signal: SignalKind
    verdict: Verdict
    probability: Chance | None = None
    threshold: Chance
    accepted: bool
    label: LabelId | None = None


def _share(verdict: str, votes: Sequence[SignalVote]) -> float:
    return sum(vote.verdict == verdict for vote in votes) / len(votes) if votes else 0.0


def _softmax(sums: Mapping[str, float]) -> dict[str, float]:
    most = max(sums.values())
    grown = {name: math.exp(total - most) for name, total in sums.items()}
    whole = math.fsum(grown.values())
    return {name: one / whole for name, one in grown.items()}


def _rounded(chance: float) -> float:
    return round(min(1.0, max(0.0, chance)), _DIGITS)
