"""The interface of a step's conversation: calls, the replies to them, and the outcome at the end."""

from typing import NamedTuple, Protocol

from jury_debate.assignment import CallMessage
from jury_debate.step_outcome import Outcome
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_events.parts import PartRef


class Call(NamedTuple):
    """The next call to make: `turn` and `attempt` count from 1; `tools` says whether tools are offered.

    `settings` are those of the step, or those of an attempt at the standard tier after the provider shed the call.
    """

    model: str
    turn: int
    attempt: int
    messages: tuple[CallMessage, ...]
    tools: bool
    settings: CallSettings


class ToolTurn(NamedTuple):
    """One answered tool call: the provider's id for it and the result that the model is shown."""

    call_id: str
    result: PartRef


class Reply(NamedTuple):
    """How a call ended.

    `appended` is the model's turn, verbatim, for the next request (the provider's response, else the answer); `answer`
    the bytes to parse; None where there is none. `seconds` is the duration of the attempt and the wait before it.
    """

    outcome: CallOutcome
    model_version: str | None = None
    answer: bytes | None = None
    appended: PartRef | None = None
    tools: tuple[ToolTurn, ...] = ()
    simulated: bool = False
    seconds: float = 0.0


class Conversation(Protocol):
    """The calls of one step, in order. It has either a next `call` or an `outcome`.

    `halted` is set while the last reply means that a person has to act first: a refused key, a used-up quota. The step
    is unfinished then, and `call` is for later.
    """

    call: Call | None
    outcome: Outcome | None
    halted: CallOutcome | None

    def apply_reply(self, reply: Reply) -> None:
        """Take the reply to `call`; afterwards there is a next call or an outcome."""
