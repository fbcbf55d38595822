"""The interface of a rules version. A debate is run, resumed and replayed under the version in its opening event.

A version is a package (`rules_1`) whose module `rules` implements `Rules`; `rules_registry` lists them by number.
Every function is pure: ids, secrets and texts are passed in.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from jury_debate.artifacts import ToolAnswer
from jury_debate.assignment import Assignment, DebateSigns
from jury_debate.conversation import Conversation, Reply
from jury_debate.prompts_registry import PROMPTS_VERSION
from jury_debate.state import DebateState, SeatEvaluation
from jury_debate.step_outcome import Outcome
from jury_events.case import Case
from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateOpened, EndReason
from jury_events.evaluation import Evaluation
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.judgment import ConsensusCheck, Judgment
from jury_events.outcome import FailureReason
from jury_events.panel import DiscussionRules, Marking, Panel
from jury_events.parts import PartMaker, PartRef, PartRegistry
from jury_events.rubric import Rubric
from jury_events.verdict import Verdict
from jury_events.verdict_scale import VerdictScale

SECRET_BYTES = 32
"""The length of a debate's random secret."""


class RecountResult(NamedTuple):
    """The checks and the judgment over fixed evaluations.

    `rounds` counts the completed rounds; `end_reason` is None where the rules would go on and no further round is
    given. `settled`: no answer of a seat that was not asked could change what is decided.
    """

    rounds: int
    checks: tuple[ConsensusCheck, ...]
    end_reason: EndReason | None
    judgment: Judgment
    settled: bool = True


class Rules(Protocol):
    """One rules version."""

    def open_debate(
        self,
        case: Case,
        panel: Panel,
        *,
        debate_id: str,
        run_id: str | None,
        secret: bytes,
        parts: PartMaker,
        role_prompts: Mapping[str, str] | None = None,
        judge_prompt: str | None = None,
        submission_id: str | None = None,
        prompts_version: int = PROMPTS_VERSION,
        operator_policy: str | None = None,
    ) -> DebateOpened:
        """The opening event.

        Args:
            run_id: the run it belongs to, if any.
            secret: `SECRET_BYTES` random bytes.
            role_prompts: custom prompts by juror id, in place of those of the roles.
            judge_prompt: the final judge's custom prompt.
            submission_id: the caller's name for the debate in live events.
            operator_policy: the text that the operator gave for the whole run; where it is the policy of a question,
                it is shown once, before the case.

        Raises:
            UnknownPrompts: there is no such version of the prompts.
        """

    def evolve(self, state: DebateState, event: DebateEvent) -> DebateState:
        """The state after `event`; a debate starts with `DebateState()`.

        Raises:
            IllegalEvent: the event breaks a law; `state` is unchanged.
        """

    def decide(
        self, state: DebateState, outcomes: Mapping[str, Outcome], signs: DebateSigns, parts: PartMaker
    ) -> DebateEvent | None:
        """The event that must be appended next; None while an outcome is awaited, and after the end.

        Args:
            outcomes: of steps that were asked, by step id.
            parts: makes the references of the event's texts.
        """

    def pending_steps(self, state: DebateState, outcomes: Mapping[str, Outcome]) -> tuple[Step, ...]:
        """The steps that can be asked now and have no outcome yet."""

    def signs_of(self, secret: bytes, marking: Marking, jurors: tuple[str, ...]) -> DebateSigns:
        """The marker and the ballots of a debate with this random secret, for the seats in their order."""

    def assign(self, state: DebateState, step: Step, signs: DebateSigns) -> Assignment:
        """How to ask a pending step, with the ballot and the marker that its seat is shown."""

    def conversation(self, assignment: Assignment, parts: PartRegistry) -> Conversation:
        """The calls of an assigned step, from the first one.

        `parts` has the texts of the assignment, and makes the references of new ones.
        """

    def reply_from_record(self, exchange: ExchangeRecorded, text: Callable[[PartRef], bytes]) -> Reply:
        """The reply that an exchange records; what `text` raises for a missing part is passed on."""

    def recount(
        self,
        opened: DebateOpened,
        rounds: Sequence[Sequence[SeatEvaluation]],
        *,
        judge: Evaluation | None = None,
        judge_failure: FailureReason | None = None,
        not_asked: Sequence[str] = (),
    ) -> RecountResult:
        """Count phase 1 and as many of the given rounds as the panel needs, and judge.

        Args:
            opened: its panel and its scenarios count, nothing else.
            rounds: the evaluations made in phase 1, then those of each round, in speaker order; a seat without one
                there abstained. All are of seats of the panel.
            judge: the final judge's evaluation, used where the panel has a final judge.
            judge_failure: why there is none.
            not_asked: seats that were not asked; they count as seats that abstained.
        """

    def asked_first(self, panel: Panel) -> int:
        """How many seats are asked whatever they answer; all, unless the panel asks none that could change nothing."""

    def answer_schema(
        self,
        rubric: Rubric,
        *,
        evidence: bool = False,
        scale: VerdictScale | None = None,
        findings: bool = False,
    ) -> dict[str, Any]:
        """The JSON schema of an answer, for providers with structured output; the parser is stricter still.

        Args:
            evidence: whether quotations are asked for.
            scale: of the panel; None: the three verdicts.
            findings: what a part of the record shows is asked for, not an evaluation.
        """

    def answer_tool(
        self,
        assignment: Assignment,
        name: str,
        arguments: str,
        *,
        index: int,
        case: Case | None,
        text: Callable[[PartRef], bytes],
    ) -> ToolAnswer:
        """The result of a juror's tool call: records or opinions, marked as data, or what is wrong with the call.

        Args:
            name: as the model wrote it.
            arguments: as the model wrote them.
            index: of the call in its turn, from 0.
            case: has the records; None where the turn offered no tools.
        """

    def check_consensus(
        self, positions: Sequence[Verdict], seats: int, rules: DiscussionRules, *, round_number: int
    ) -> ConsensusCheck:
        """Check the positions taken in phase 1 (`round_number` 0) or in a round.

        Args:
            positions: of the seats that answered; a seat that abstained has none but counts in `seats`.
            rules: `threshold` and `unanimity_ends` decide whether consensus is reached.
            round_number: 0 is reached by the threshold only, a round also by unanimity.
        """
