"""The events of the stream `drift/{id}`: anchors that are judged again and again, and what that says of their judge.

Votes of a judging are one text: a letter for the jury and one for each seat, in the order of the seats: `p`, `r`, `f`
by outcome (pass, review, fail), `-` without a verdict of one's own.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from jury_events.debate_events import EventBody
from jury_events.run_events import Count, EventNumber, Sha256
from jury_events.value import DebateId, JurorId, Label, ModelName, RunId, Value
from jury_events.verdict import Verdict

Votes = Annotated[str, StringConstraints(pattern=r"^[prf-]{1,200}$")]
MOST_ANCHORS = 10_000
MOST_OF_A_STREAM = 2_000
"""Pairs of a check."""

Number = Annotated[float, Field(ge=0)]
Place = Annotated[int, Field(ge=0, lt=2**31)]
DriftCoin = Literal["direction", "distance", "odd", "silence"]
DriftKind = Literal["milder", "stricter", "farther", "nearer", "balanced", "silent", "answering"]
DriftVerdict = Literal["none", "judge", "agent_or_traffic", "not_decided"]
"""Who drifted."""


class DriftSeat(Value):
    """A seat, and the model that it asks first."""

    juror_id: JurorId
    model: ModelName


class Anchor(Value):
    """A case whose label is known; `case_id` as in its runs."""

    case_id: Label
    label: Verdict


class DriftOpened(EventBody):
    """A baseline begins: which anchors are judged, by whom, how often, and what counts, before the first judging.

    `panel` is the digest of all that the panel judges by. `draws`: judgings of each
    anchor, in the order of their numbers; `used`: how many of them a later judging uses up (2: the odd one of three is
    looked for too). `tossed`: whether each pair is a toss of the coin, or each check by its majority. `alpha`: the
    chance of a false alarm of the jury over the life of the baseline. `daily`: a draw a day. `stream`: the run whose
    cases later cases of the same `stratum` (a field of cases; None: all) are paired with. `run_id`: of the draws.
    """

    id_form: ClassVar[str] = "opened"
    """One a baseline."""

    type: Literal["drift_opened"] = "drift_opened"
    drift_id: RunId
    run_id: RunId
    panel: Sha256
    panel_name: Label
    seats: Annotated[tuple[DriftSeat, ...], Field(min_length=1)]
    judge: ModelName | None = None
    anchors: Annotated[tuple[Anchor, ...], Field(min_length=1, max_length=MOST_ANCHORS)]
    draws: Annotated[int, Field(ge=1, le=1000)]
    used: Literal[1, 2]
    tossed: Literal["pair", "check"]
    alpha: Annotated[float, Field(gt=0, lt=1)]
    daily: bool
    stream: RunId | None = None
    stratum: Label | None = None
    by: Label
    program: Label


class _NumberedEvent(EventBody):
    """One of several of its type in the stream: `number` counts them, and of checks is that of the check."""

    number: EventNumber


class DrawsPlanned(_NumberedEvent):
    """From now on the baseline has so many draws of each anchor; further sessions judge them."""

    id_form = "planned/{0.number}"
    type: Literal["draws_planned"] = "draws_planned"
    draws: Annotated[int, Field(ge=1, le=1000)]
    by: Label


class SeatAnswers(Value):
    """Which models answered a seat's calls, of those that asked its first model, and their fingerprints, sorted.

    `juror_id` None: the final judge.
    """

    juror_id: JurorId | None = None
    versions: tuple[ModelName, ...] = ()
    fingerprints: tuple[Label, ...] = ()


class DrawsJudged(_NumberedEvent):
    """A session of the baseline ended: one draw of each anchor, in their order, which go to the end of the queue.

    `votes` is empty where debates of the session were cancelled: those that ended first would not be a fair part.
    """

    id_form = "judged/{0.number}"
    type: Literal["draws_judged"] = "draws_judged"
    votes: tuple[Votes, ...]
    answered: tuple[SeatAnswers, ...]


class DriftPair(Value):
    """An anchor to be judged, by its place in the list, and the draws that it uses up: `used` from `first` on."""

    anchor: Place
    first: Place
    used: Literal[1, 2]


class StreamPair(Value):
    """A debate of the stream, and the earlier one of its stratum that it is compared with and uses up."""

    debate: DebateId
    base: DebateId


class CheckOpened(_NumberedEvent):
    """A check begins: its pairs, before its first call.

    `repeats`: judgings of each anchor; the first is compared, the others go to the end of the queue. `stream`: the run
    whose debates, which are over, are compared with those of the baseline's stream.
    """

    id_form = "check/{0.number}"
    type: Literal["check_opened"] = "check_opened"
    run_id: RunId
    pairs: Annotated[tuple[DriftPair, ...], Field(min_length=1, max_length=MOST_ANCHORS)]
    repeats: Annotated[int, Field(ge=1, le=100)]
    stream: RunId | None = None
    stream_pairs: Annotated[tuple[StreamPair, ...], Field(max_length=MOST_OF_A_STREAM)] = ()


class CoinFigures(Value):
    """Where the bets on a coin stand: the e-value, and of `n` discordant judgings how many (`k`) came out as 1."""

    coin: DriftCoin
    e: Number
    n: Count
    k: Count


class WatchedFigures(Value):
    """What is known of the jury (`name` "jury"), a seat ("seat/" and its id) or the stream ("stream").

    `e` is the mean of the coins' e-values, an alarm from `bound` on; `alarm`: the first check at which it was one;
    `since`: the check from which on the judgings say most. `kinds`: how it changed, what is surest first.
    """

    name: Label
    e: Number
    bound: Number
    alarm: EventNumber | None = None
    since: EventNumber | None = None
    kinds: tuple[DriftKind, ...] = ()
    coins: tuple[CoinFigures, ...]


class ChangedFact(Value):
    """A seat's calls were answered by what never answered them in the baseline; `juror_id` None: the final judge."""

    juror_id: JurorId | None = None
    what: Literal["model", "fingerprint"]
    before: tuple[Label, ...]
    now: tuple[Label, ...]


class ChangedAnchor(Value):
    """An anchor whose verdict differs from that of most of its first hundred draws; letters as of `Votes`."""

    case_id: Label
    before: Annotated[str, StringConstraints(pattern=r"^[prf-]$")]
    now: Annotated[str, StringConstraints(pattern=r"^[prf-]$")]


class DriftDecision(Value):
    """What a check came to; everything follows from the events before it and the votes beside it.

    `anchors`: those whose verdict changed.
    """

    verdict: DriftVerdict
    facts: tuple[ChangedFact, ...] = ()
    watched: tuple[WatchedFigures, ...]
    anchors: tuple[ChangedAnchor, ...] = ()

    @property
    def found(self) -> bool:
        """Whether something changed."""
        return self.verdict != "none"


class CheckEnded(_NumberedEvent):
    """Every judging of a check has ended.

    `votes` are those of the pairs in their order, `further` those that go to the end of the queue, in the order of the
    pairs, of each pair by repeat. `stream_votes`: of each pair of the stream the letter before and the letter now.
    """

    id_form = "check/{0.number}/ended"
    type: Literal["check_ended"] = "check_ended"
    votes: tuple[Votes, ...]
    further: tuple[Votes, ...] = ()
    stream_votes: tuple[Annotated[str, StringConstraints(pattern=r"^[prf-]{2}$")], ...] = ()
    answered: tuple[SeatAnswers, ...]
    decision: DriftDecision


class CheckAbandoned(_NumberedEvent):
    """Debates of a check were cancelled: its pairs are used up, since those that ended first are no fair part."""

    id_form = "check/{0.number}/abandoned"
    type: Literal["check_abandoned"] = "check_abandoned"
    cancelled: Count


class DriftImported(_NumberedEvent):
    """All events before this one came in a file of the baseline: this store judged none of them.

    `sealed_by` is the log that the file's seal names, `verified_with` the key that its signature was checked with;
    None: there is none, or it was not checked, and then the checks before count for nothing here.
    """

    id_form = "imported/{0.number}"
    type: Literal["drift_imported"] = "drift_imported"
    sealed_by: Label | None = None
    verified_with: Label | None = None
