"""The rules versions. A debate is held, resumed and replayed under the version that its opening event names."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jury_debate.artifact_tools import ToolAnswer
from jury_debate.assignment import Assignment
from jury_debate.errors import UnknownRules
from jury_debate.rules_v1 import (
    answers,
    assignment,
    conversation,
    decision,
    machine,
    opening,
    recall,
    recount,
    tool_answer,
)
from jury_debate.rules_v1.conversation import Conversation, Reply
from jury_debate.rules_v1.recount import Recount
from jury_debate.state import UNOPENED, DebateState
from jury_debate.step_outcome import Outcome
from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateOpened
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import Step
from jury_events.parts import PartMaker, PartRef


class Rules(NamedTuple):
    """One frozen version: how a debate opens, folds, goes on, asks, reads answers, answers tools and recounts."""

    open_debate: Callable[..., DebateOpened]
    evolve: Callable[[DebateState, DebateEvent], DebateState]
    following: Callable[[DebateState, Mapping[str, Outcome], bytes, PartMaker], DebateEvent | None]
    pending_steps: Callable[[DebateState, Mapping[str, Outcome]], tuple[Step, ...]]
    assign: Callable[[DebateState, Step, bytes], Assignment]
    converse: Callable[[Assignment, PartMaker], Conversation]
    recall: Callable[[ExchangeRecorded, Callable[[PartRef], bytes]], Reply]
    recount: Callable[..., Recount]
    answer_schema: Callable[..., dict[str, Any]]
    answer_tool: Callable[..., ToolAnswer]
    unopened: DebateState = UNOPENED


RULES: Mapping[int, Rules] = {
    1: Rules(
        open_debate=opening.open_debate,
        evolve=machine.evolve,
        following=decision.following,
        pending_steps=decision.pending_steps,
        assign=assignment.assign,
        converse=conversation.Conversation,
        recall=recall.recall,
        recount=recount.recount,
        answer_schema=answers.answer_schema,
        answer_tool=tool_answer.answer_tool,
    )
}
LATEST = RULES[max(RULES)]


def rules_of(version: int) -> Rules:
    """The rules of a version.

    Raises:
        UnknownRules: a newer Jury Judge wrote the log.
    """
    found = RULES.get(version)
    if found is None:
        raise UnknownRules(f"rules version {version} is not known here (known: {max(RULES)}); upgrade jury-judge")
    return found
