"""What a stream `drift/{id}` says of its baseline and its checks: a fold over its events."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from jury_events.codec import decode_drift
from jury_events.drift_events import (
    CheckAbandoned,
    CheckEnded,
    CheckOpened,
    DrawsJudged,
    DrawsPlanned,
    DriftImported,
    DriftOpened,
    SeatAnswers,
)
from jury_events.envelope import StoredEvent
from jury_events.errors import MalformedBody
from jury_events.ids import debate_id, repeat_id, stream_debate

_Later = DrawsPlanned | DrawsJudged | CheckOpened | CheckEnded | CheckAbandoned | DriftImported
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
        imported: the last import; None: the baseline was made here.
        foreign: so many checks came without a trusted key, and count for nothing.
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
    imported: DriftImported | None = None
    foreign: int = 0

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

    def draws(self, number: int) -> list[str]:
        """The ids of the debates of a session of the baseline."""
        return [repeat_id(debate_id(self.opened.run_id, one.case_id), number) for one in self.opened.anchors]

    def judgings(self, check: CheckOpened) -> list[str]:
        """The debates of a check: the first judging of each pair, then the further ones, of each pair by repeat."""
        first = [debate_id(check.run_id, self.opened.anchors[pair.anchor].case_id) for pair in check.pairs]
        return first + [repeat_id(one, repeat) for one in first for repeat in range(2, check.repeats + 1)]


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
        if event.drift_id != stream_debate(stored.stream):
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
        case DriftImported():
            facts.imported, facts.foreign = event, 0 if event.verified_with else len(facts.checks)


def _most(letters: Iterable[str]) -> str | None:
    """The letter of the strict plurality; None without one."""
    first, *rest = [*Counter(letters).most_common(2), ("", 0)]
    return None if first[1] == rest[0][1] else first[0]


def _fault(facts: DriftFacts, event: _Later) -> str | None:
    """Why the event cannot follow; None: it can."""
    check, votes = facts.open_check, tuple[str, ...]()
    match event:
        case DrawsPlanned():
            expected = facts.plans + 1
        case DriftImported():
            expected = 1 if facts.imported is None else facts.imported.number + 1
        case DrawsJudged():
            expected, votes = facts.sessions + 1, event.votes
            if votes and len(votes) != len(facts.opened.anchors):
                return f"{len(votes)} anchors were judged, and there are {len(facts.opened.anchors)}"
        case CheckOpened():
            expected = len(facts.checks) + 1
            if (fault := _pairs_fault(facts, event)) is not None:
                return fault
        case _:
            expected = 0 if check is None else check.opened.number
    if event.number != expected:
        return f"its number is {event.number}, not {expected}"
    if isinstance(event, CheckEnded) and check is not None:
        pairs, votes = len(check.opened.pairs), (*event.votes, *event.further)
        found = (len(event.votes), len(event.further), len(event.stream_votes))
        if found != (pairs, pairs * (check.opened.repeats - 1), len(check.opened.stream_pairs)):
            return f"it has {found} votes, and {pairs} pairs"
    letters = len(facts.opened.seats) + 1
    return None if all(len(one) == letters for one in votes) else f"votes must have {letters} letters"


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
