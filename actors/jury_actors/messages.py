"""Messages between driver, coordinator and jurors. Plain tuples: a batch of them pickles cheaply."""

from typing import NamedTuple, Protocol

from jury_debate.assignment import Assignment
from jury_debate.resolved_panel import ResolvedPanel
from jury_debate.step_outcome import Outcome
from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.ladder import StagePlace
from jury_events.parts import PartRef
from jury_providers.provider import Caching


class StepRequest(NamedTuple):
    """A step for a juror to execute.

    Args:
        texts: contents by reference, except those sent to this juror before.
        case: reference of the case, where tools may be called.
        prior: exchanges of this step that are recorded already, in order.
        watched: the answer is displayed while it is written.
        again: it was requested before, perhaps of a juror that still runs behind a network partition: the log is read
            again before each call.
        run_id: of the debate's run, for what is logged; None for a debate of no run.
        reply_to: the outbox for the result, as the coordinator that asks is named.
        caching: what each of the assignment's models is asked to keep of the prompt; () says nothing.
        awaited: other steps wait until this one begins to be answered, which is said by `AnswerBegan`.
    """

    assignment: Assignment
    texts: dict[str, bytes]
    case: PartRef | None
    prior: tuple[StoredEvent, ...]
    watched: bool = False
    again: bool = False
    run_id: str | None = None
    reply_to: str = ""
    caching: tuple[Caching, ...] = ()
    awaited: bool = False

    @property
    def size(self) -> int:
        """Bytes of its texts."""
        size = sum(map(len, self.texts.values()))
        for event in self.prior:
            size += len(event.body)
        return size

    def caching_of(self, model: str) -> Caching:
        """What one of the assignment's models is asked to keep."""
        return dict(zip(self.assignment.models, self.caching, strict=False)).get(model)


class ForgetDebate(NamedTuple):
    """A debate is over: the juror may forget its texts and results.

    `stop`: steps of it that are not being answered by a model now end at once, without a call.
    """

    debate_id: str
    stop: bool = False

    @property
    def size(self) -> int:
        """Bytes of its texts."""
        return 0


class StepResult(NamedTuple):
    """The outcome of a step, or the `problem` with which the juror itself failed."""

    debate_id: str
    step_id: str
    outcome: Outcome | None
    problem: BaseException | None = None


class AnswerBegan(NamedTuple):
    """A model began to answer a step that other steps wait for."""

    debate_id: str
    step_id: str


class Chunk(NamedTuple):
    """A piece of an answer while it is being written: for display only, the whole answer is recorded.

    `exchange` is the id of the attempt; another attempt starts the answer again.
    """

    debate_id: str
    step_id: str
    exchange: str
    text: str


class StepSpool(Protocol):
    """Takes the calls of steps for a batch, so that no juror makes them now.

    `interrupted`: an earlier process may have asked jurors for steps of these debates and ended before they answered.
    """

    interrupted: bool

    async def take(self, request: StepRequest) -> bool:
        """Whether the due calls of the step are in a batch from now on; its texts have all that it refers to."""
        ...


class RunContext(NamedTuple):
    """Shared by the debates of a run. `watched`: the final judge's answer is displayed while it is written.

    `pictures`: those of a case are recorded though no seat of this panel is sent them, as a later stage is.
    `run_id` is None for debates without a run. `operator_policy`: of the whole run, see `Rules.open_debate`. `spool`:
    calls go into batches where it takes them, and a debate ends as `waiting` once nothing else of it is due; in this
    process only.
    """

    run_id: str | None
    resolved: ResolvedPanel
    watched: bool = False
    operator_policy: str | None = None
    spool: StepSpool | None = None
    pictures: bool = False


class Job(NamedTuple):
    """One debate to run: `case` is the case with its label, as JSON; empty: the log has it.

    `submission_id` is the caller's name for it in live events. `adopted`: an imported debate that was checked, and is
    resumed like one of this store. `stage`: its place in a ladder. `known`: what is recorded of it, from the process
    that listed it just now; None: it is read from the store.
    """

    debate_id: str
    case: bytes
    context: RunContext
    submission_id: str | None = None
    adopted: bool = False
    stage: StagePlace | None = None
    known: DebateHistory | None = None


class Finished(NamedTuple):
    """A debate that ended (`status`: completed, failed or cancelled), waits for a batch (`waiting`), or stopped with a
    `problem`.
    """

    debate_id: str
    status: str
    problem: BaseException | None = None
