"""The state of a debate, folded from its events. Immutable: every event makes a new state."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from jury_events.debate_events import DebateCompleted, DebateForked, DebateOpened, EndReason
from jury_events.evaluation import Evaluation
from jury_events.ids import Step
from jury_events.judgment import ConsensusCheck, Judgment
from jury_events.panel import Panel
from jury_events.parts import PartRef


class Phase(StrEnum):
    """The phases of a debate.

    `WAITING`: opened, and not begun: no step is asked.
    `DELIBERATED`: phase 1 or a round is checked, and the rules decide what comes next.
    """

    UNOPENED = "unopened"
    WAITING = "waiting"
    EVALUATING = "evaluating"
    DELIBERATED = "deliberated"
    DISCUSSING = "discussing"
    JUDGED = "judged"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({Phase.COMPLETED, Phase.FAILED, Phase.CANCELLED})


class SeatEvaluation(NamedTuple):
    """An evaluation that a seat made in a round (0: phase 1), and the text of it that peers are shown.

    `reasoning`: in phase 1, once the seat was shown the agent's reasoning.
    """

    round: int
    juror_id: str
    evaluation: Evaluation
    peer_text: PartRef
    reasoning: bool = False


class DebateState(NamedTuple):
    """One debate at one version of its stream.

    Attributes:
        version: events folded so far, which is the version of the stream.
        round: the current or last round; 0 before the first.
        speaker_order: of that round; seat order in phase 1.
        done: seats that evaluated, spoke, abstained or are not asked in this phase or round, in speaker order.
        not_asked: seats that are not asked, as no answer of them could change what is decided.
        reasoning_shown: whether the seats judge with the agent's reasoning, which they have judged without.
        evaluations: every evaluation made, in order.
        changed: whether this round changed a position.
        quiet_rounds: completed rounds in a row, up to now, that changed no position.
        partly_read: by juror id, the parts of the record that a seat did not read which abstained.
        checks: one for phase 1, then one a round.
        end_reason: why the discussion is over, once it is.
        resumed: how often a coordinator resumed it.
        erased: how often texts of it were erased.
        replaced: whether its case is judged again.
        forked: the origin of a fork.
        pieces: the fixed texts of its prompts by name.
    """

    phase: Phase = Phase.UNOPENED
    version: int = 0
    opened: DebateOpened | None = None
    round: int = 0
    speaker_order: tuple[str, ...] = ()
    instruction: PartRef | None = None
    done: tuple[str, ...] = ()
    not_asked: tuple[str, ...] = ()
    reasoning_shown: bool = False
    evaluations: tuple[SeatEvaluation, ...] = ()
    changed: bool = False
    quiet_rounds: int = 0
    partly_read: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    checks: tuple[ConsensusCheck, ...] = ()
    end_reason: EndReason | None = None
    judgment: Judgment | None = None
    completed: DebateCompleted | None = None
    resumed: int = 0
    erased: int = 0
    replaced: bool = False
    forked: DebateForked | None = None
    pieces: Mapping[str, PartRef] = MappingProxyType({})

    @property
    def debate(self) -> DebateOpened:
        """The opening event of a debate that was opened."""
        assert self.opened is not None
        return self.opened

    @property
    def panel(self) -> Panel:
        """The resolved panel."""
        assert self.opened is not None
        return self.opened.panel

    @property
    def ended(self) -> bool:
        """Whether nothing can follow but an erasure, or that it is replaced."""
        return self.phase in ENDED

    def latest(self, juror_id: str) -> SeatEvaluation | None:
        """The latest evaluation of a seat."""
        for entry in reversed(self.evaluations):
            if entry.juror_id == juror_id:
                return entry
        return None

    def step_of(self, juror_id: str) -> Step:
        """The step of a seat in this phase or round."""
        return Step(self.round, juror_id, self.reasoning_shown and not self.round)

    def is_current(self, entry: SeatEvaluation) -> bool:
        """Whether an evaluation was made in this phase or round, in phase 1 with the agent's reasoning once shown."""
        return entry.round == self.round and (bool(self.round) or entry.reasoning == self.reasoning_shown)

    def not_read(self, juror_id: str) -> tuple[str, ...]:
        """The parts of the record that a seat did not read: those of its latest evaluation, else of its abstention."""
        entry = self.latest(juror_id)
        return self.partly_read.get(juror_id, ()) if entry is None else entry.evaluation.partly_read

    @property
    def waiting(self) -> tuple[str, ...]:
        """Seats without an outcome in this phase or round, in speaker order."""
        return self.speaker_order[len(self.done) :]
