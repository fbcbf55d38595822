"""One debate as it goes on: what was recorded is folded, what was answered is learnt, what follows is told."""

from collections.abc import Iterable

from jury_debate.rules import Rules, rules_of
from jury_debate.rules_v1.assignment import Assignment
from jury_debate.rules_v1.outcome import Outcome
from jury_debate.rules_v1.state import DebateState
from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateOpened
from jury_events.ids import Step
from jury_events.parts import PartMaker


class Debate:
    """The pure rules applied to one debate; whoever holds it records the events and asks the jurors."""

    def __init__(self, opened: DebateOpened, secret: bytes, parts: PartMaker) -> None:
        self.rules: Rules = rules_of(opened.rules)
        self.secret = secret
        self._parts = parts
        self.state: DebateState = self.rules.evolve(self.rules.unopened, opened)
        self._outcomes: dict[str, Outcome] = {}

    @property
    def debate_id(self) -> str:
        """Its id in the store."""
        return self.state.debate.debate_id

    def fold(self, events: Iterable[DebateEvent]) -> None:
        """Take events that are already in the log, in order.

        Raises:
            IllegalEvent: the stream was not written under these rules.
        """
        for event in events:
            self.state = self.rules.evolve(self.state, event)

    def learn(self, step_id: str, outcome: Outcome) -> None:
        """Take the outcome of a step; the first one stands."""
        self._outcomes.setdefault(step_id, outcome)

    def follow(self) -> DebateEvent | None:
        """The one event that follows now, folded already; None while an answer is waited for, and after the end."""
        event = self.rules.following(self.state, self._outcomes, self.secret, self._parts)
        if event is not None:
            self.state = self.rules.evolve(self.state, event)
        return event

    def advance(self) -> list[DebateEvent]:
        """Every event that follows now, folded already; the caller records them before it does anything else."""
        events: list[DebateEvent] = []
        while (event := self.follow()) is not None:
            events.append(event)
        return events

    def asked_for(self) -> tuple[Step, ...]:
        """The steps whose answers are waited for."""
        return self.rules.asked_for(self.state, self._outcomes)

    def is_reused(self, step: Step) -> bool:  # noqa: ARG002
        """Whether the step's answers were given in the debate that this one branches off."""
        return False

    def assign(self, step: Step) -> Assignment:
        """How to ask one of them."""
        return self.rules.assign(self.state, step, self.secret)
