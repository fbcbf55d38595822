"""What a stream `drift/{id}` says of its baseline and its checks: a fold over its events."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from jury_events.codec import decode_drift
from jury_events.drift_events import (
    CheckAbandoned,
    CheckEnded,
    CheckOpened,
    DrawsJudged,
    DrawsPlanned,
    DriftOpened,
    SeatAnswers,
)
from jury_events.envelope import StoredEvent
from jury_events.errors import MalformedBody
from jury_events.ids import debate_id, drift_id_of, repeat_id

_Later = DrawsPlanned | DrawsJudged | CheckOpened | CheckEnded | CheckAbandoned
_HUNDRED = 100


@dataclass(slots=True)
class DriftCheck:
    """A check: what it began with, and how it ended; neither end: it goes on.

    `at` and `ended_at` in µs since 1970-01-01 UTC; `draws` are the votes that each pair uses up, `usual` what the jury
    said in most of the first hundred draws of each pair's anchor; None: nothing most often.
    """

    opened: CheckOpened
    at: int
    draws: tuple[tuple[str, ...], ...]
    usual: tuple[str | None, ...]
    ended: CheckEnded | None = None
    abandoned: CheckAbandoned | None = None
    ended_at: int = 0

    @property
    def is_open(self) -> bool:
        """Whether it goes on."""
        return self.ended is None and self.abandoned is None


@dataclass(slots=True)
class DriftFacts:
    """A baseline at one version of its stream; folded in place.

    Attributes:
        opened: its anchors and rules.
        at: when it began, in µs since 1970-01-01 UTC.
        version: of the stream.
        planned: draws of each anchor that are to be judged.
        sessions: how many sessions ended, `judged_at` the last of them.
        queue: by anchor, all its draws in their order.
        used: by anchor, how many of them are used up.
        baseline: who answered in the sessions.
        checks: all, in their order.
    """

    opened: DriftOpened
    at: int
    version: int = 1
    planned: int = 0
    plans: int = 0
    sessions: int = 0
    judged_at: int = 0
    queue: list[list[str]] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    baseline: list[tuple[SeatAnswers, ...]] = field(default_factory=list)
    checks: list[DriftCheck] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every draw is judged."""
        return self.sessions >= self.planned

    @property
    def open_check(self) -> DriftCheck | None:
        """The check that goes on."""
        return self.checks[-1] if self.checks and self.checks[-1].is_open else None

    @property
    def ended(self) -> list[DriftCheck]:
        """The checks that ended with a decision."""
        return [one for one in self.checks if one.ended is not None]

    @property
    def left(self) -> int:
        """How many more times each anchor can be judged and compared: that of the one with the fewest draws."""
        return min((len(queue) - used) // self.opened.used for queue, used in zip(self.queue, self.used, strict=True))

    def of_draw(self, anchor: int, number: int) -> str:
        """The id of the debate of a draw of the baseline."""
        return repeat_id(debate_id(self.opened.run_id, self.opened.anchors[anchor].case_id), number)

    def of_check(self, check: CheckOpened, anchor: int, repeat: int = 1) -> str:
        """The id of the debate of a judging in a check."""
        return repeat_id(debate_id(check.run_id, self.opened.anchors[anchor].case_id), repeat)


def drift_facts(events: Iterable[StoredEvent]) -> DriftFacts | None:
    """Fold a stream `drift/{id}`; None: it has no events.

    Raises:
        EventError: an event does not decode, or is not in its place.
    """
    facts: DriftFacts | None = None
    for stored in events:
        facts = next_drift_facts(facts, stored)
    return facts


def next_drift_facts(facts: DriftFacts | None, stored: StoredEvent) -> DriftFacts:
    """Fold one event into `facts`, which are those of all before, None at the first. Raises as `drift_facts`."""
    event = decode_drift(stored)
    where = f"event {stored.version} of {stored.stream} ({stored.type})"
    if facts is None or isinstance(event, DriftOpened):
        if facts is not None or not isinstance(event, DriftOpened):
            raise MalformedBody(f"{where}: a baseline begins with its opening, and has one")
        if event.drift_id != drift_id_of(stored.stream):
            raise MalformedBody(f"{where}: it opens another baseline, {event.drift_id}")
        anchors = len(event.anchors)
        return DriftFacts(
            event, stored.recorded_at, planned=event.draws, queue=[[] for _ in range(anchors)], used=[0] * anchors
        )
    fault = _fault(facts, event)
    if fault is not None:
        raise MalformedBody(f"{where} is not in its place: {fault}")
    _take(facts, event, stored.recorded_at)
    facts.version = stored.version
    return facts


def _take(facts: DriftFacts, event: _Later, at: int) -> None:
    match event:
        case DrawsPlanned():
            facts.plans, facts.planned = event.number, event.draws
        case DrawsJudged():
            facts.sessions, facts.judged_at = event.number, at
            facts.baseline.append(event.answered)
            for queue, votes in zip(facts.queue, event.votes, strict=False):
                queue.append(votes)
        case CheckOpened():
            queues = [facts.queue[pair.anchor] for pair in event.pairs]
            draws = tuple(tuple(q[p.first : p.first + p.used]) for q, p in zip(queues, event.pairs, strict=True))
            usual = tuple(_most(votes[0] for votes in queue[:_HUNDRED]) for queue in queues)
            facts.checks.append(DriftCheck(event, at, draws, usual))
            for pair in event.pairs:
                facts.used[pair.anchor] += pair.used
        case CheckEnded():
            check = facts.checks[-1]
            check.ended, check.ended_at = event, at
            further = check.opened.repeats - 1
            for place, pair in enumerate(check.opened.pairs):
                facts.queue[pair.anchor] += event.further[place * further : (place + 1) * further]
        case CheckAbandoned():
            facts.checks[-1].abandoned, facts.checks[-1].ended_at = event, at


def _most(letters: Iterable[str]) -> str | None:
    """The letter of the strict plurality; None without one."""
    first, *rest = [*Counter(letters).most_common(2), ("", 0)]
    return None if first[1] == rest[0][1] else first[0]


def _fault(facts: DriftFacts, event: _Later) -> str | None:
    """Why the event cannot follow; None: it can."""
    letters = len(facts.opened.seats) + 1
    match event:
        case DrawsPlanned():
            return _counts(event.number, facts.plans + 1)
        case DrawsJudged():
            if event.votes and len(event.votes) != len(facts.opened.anchors):
                return f"{len(event.votes)} anchors were judged, and there are {len(facts.opened.anchors)}"
            return _counts(event.number, facts.sessions + 1) or _lengths(event.votes, letters)
        case CheckOpened():
            return _counts(event.number, len(facts.checks) + 1) or _pairs_fault(facts, event)
        case CheckEnded() | CheckAbandoned():
            check = facts.open_check
            if check is None or event.number != check.opened.number:
                return f"check {event.number} does not go on"
            return None if isinstance(event, CheckAbandoned) else _end_fault(check.opened, event, letters)


def _pairs_fault(facts: DriftFacts, event: CheckOpened) -> str | None:
    if facts.open_check is not None:
        return "the check before it goes on"
    if len({pair.anchor for pair in event.pairs}) < len(event.pairs):
        return "an anchor stands in two pairs"
    for pair in event.pairs:
        if pair.anchor >= len(facts.used) or pair.first != facts.used[pair.anchor]:
            return f"the pair of anchor {pair.anchor} does not begin at its next draw"
        if pair.first + pair.used > len(facts.queue[pair.anchor]):
            return f"anchor {pair.anchor} has no such draw"
    return None


def _end_fault(opened: CheckOpened, event: CheckEnded, letters: int) -> str | None:
    pairs = len(opened.pairs)
    found = (len(event.votes), len(event.further), len(event.stream_votes))
    if found != (pairs, pairs * (opened.repeats - 1), len(opened.stream_pairs)):
        return f"it has {found} votes, and {pairs} pairs"
    return _lengths((*event.votes, *event.further), letters)


def _counts(number: int, expected: int) -> str | None:
    return None if number == expected else f"its number is {number}, not {expected}"


def _lengths(votes: Sequence[str], letters: int) -> str | None:
    return None if all(len(one) == letters for one in votes) else f"votes must have {letters} letters"
