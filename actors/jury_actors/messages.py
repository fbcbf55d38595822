"""What travels between driver, coordinator and jurors. Plain tuples: a batch of them pickles cheaply."""

from typing import Generic, NamedTuple, TypeVar

from jury_debate.assignment import Assignment
from jury_debate.panel_spec import ResolvedPanel
from jury_debate.step_outcome import Outcome
from jury_events.envelope import StoredEvent
from jury_events.parts import PartRef

T = TypeVar("T")


class Ask(NamedTuple):
    """A step for a juror to do.

    Args:
        assignment: what is asked; its texts are references.
        texts: contents by reference, of those that this juror was not sent before.
        case: refers to the case, where tools may be called.
        prior: exchanges of this step that are recorded already, in order.
        watched: somebody watches the answer being written.
        again: it was asked before, maybe of a juror that still lives where nobody hears it: the log is looked at once
            more before each call.
    """

    assignment: Assignment
    texts: dict[str, bytes]
    case: PartRef | None
    prior: tuple[StoredEvent, ...]
    watched: bool = False
    again: bool = False

    @property
    def size(self) -> int:
        """Bytes of text that it carries."""
        return sum(map(len, self.texts.values())) + sum(len(event.body) for event in self.prior)


class Told(NamedTuple):
    """What a step came to. `problem` says that the juror itself failed, and the step has no outcome."""

    debate_id: str
    step_id: str
    outcome: Outcome | None
    problem: BaseException | None = None


class Chunk(NamedTuple):
    """A piece of an answer while it is being written: for display only, what is recorded is the whole.

    `exchange` is the id of the attempt; a new one begins from the start.
    """

    debate_id: str
    step_id: str
    exchange: str
    text: str


class Docket(NamedTuple):
    """What the debates of a run have in common. `watched`: the final judge is watched while it writes.

    `run_id` is None for debates that belong to no run.
    """

    run_id: str | None
    resolved: ResolvedPanel
    watched: bool = False


class Job(NamedTuple):
    """One debate to hold: `case` is the case with its label, as JSON.

    `submission_id` is the caller's name for it in live events. `adopted`: where it was imported, that was looked into,
    and it goes on as if it had been held here.
    """

    debate_id: str
    case: bytes
    docket: Docket
    submission_id: str | None = None
    adopted: bool = False


class Finished(NamedTuple):
    """A debate that ended (`status`: completed, failed or cancelled), or could not go on (`problem`)."""

    debate_id: str
    status: str
    problem: BaseException | None = None


class Delivery(NamedTuple, Generic[T]):
    """Items of an outbox up to number `upto` of its `life`."""

    life: str
    upto: int
    items: list[T]
