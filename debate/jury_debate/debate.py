"""One running debate: folds its events, keeps the outcomes of its steps, decides the next events."""

from collections.abc import Iterable, Sequence

from jury_debate.assignment import Assignment
from jury_debate.rules import Rules
from jury_debate.rules_registry import rules_of
from jury_debate.state import DebateState
from jury_debate.step_outcome import Outcome
from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateBegun, DebateOpened
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.parts import PartRegistry


class Debate:
    """The rules applied to one debate; its caller records the events and asks the jurors."""

    def __init__(self, opened: DebateOpened, secret: bytes, parts: PartRegistry) -> None:
        self.rules: Rules = rules_of(opened.rules)
        self._signs = self.rules.signs_of(secret, opened.panel.marking, opened.panel.juror_ids)
        self._parts = parts
        self.state: DebateState = self.rules.evolve(DebateState(), opened)
        self._outcomes: dict[str, Outcome] = {}

    @property
    def debate_id(self) -> str:
        """Its id in the store."""
        return self.state.debate.debate_id

    def begin(self) -> DebateBegun:
        """The event that it begins with, already folded; the caller records it before it asks anyone."""
        begun = DebateBegun()
        self.fold([begun])
        return begun

    def fold(self, events: Iterable[DebateEvent]) -> None:
        """Apply events that are already in the log, in order."""
        for event in events:
            self.state = self.rules.evolve(self.state, event)

    def add_outcome(self, step_id: str, outcome: Outcome) -> None:
        """Keep the outcome of a step; the first one counts."""
        self._outcomes.setdefault(step_id, outcome)

    def advance(self) -> list[DebateEvent]:
        """Every next event, already folded; the caller records them before it does anything else."""
        events: list[DebateEvent] = []
        while (event := self.advance_once()) is not None:
            events.append(event)
        return events

    def advance_once(self) -> DebateEvent | None:
        """The next event, already folded; None while an outcome is awaited, and at the end."""
        event = self.rules.decide(self.state, self._outcomes, self._signs, self._parts)
        if event is not None:
            self.state = self.rules.evolve(self.state, event)
        return event

    def pending_steps(self) -> tuple[Step, ...]:
        """The steps that can be asked now and have no outcome yet."""
        return self.rules.pending_steps(self.state, self._outcomes)

    def is_reused(self, step: Step) -> bool:
        """Whether the step's answers were given in the debate that this one is a fork of."""
        forked = self.state.forked
        return forked is not None and forked.secret_of(step.id) is not None

    def assign(self, step: Step, asked: Sequence[ExchangeRecorded] = ()) -> Assignment:
        """How to ask a pending step, or how a step was asked whose answers a fork reuses.

        Reused answers have the ballots of the original debate, whose models, settings and tools may differ: `asked`
        are the recorded exchanges of such a step. Its real requests are in those exchanges, not in the assignment's
        messages.
        """
        forked = self.state.forked
        secret = None if forked is None else forked.secret_of(step.id)
        if secret is None:
            return self.rules.assign(self.state, step, self._signs)
        panel = self.state.panel
        signs = self.rules.signs_of(self._parts.content(secret.part), panel.marking, panel.juror_ids)
        assignment = self.rules.assign(self.state, step, signs)
        # The pieces in which quotations are looked for are this debate's.
        own = self.rules.assign(self.state, step, self._signs).spec.evidence
        assignment = assignment._replace(spec=assignment.spec._replace(evidence=own))
        if not asked:
            return assignment
        models = tuple(dict.fromkeys(exchange.model for exchange in asked))
        return assignment._replace(models=models, settings=asked[0].settings, tools=asked[0].tools)
