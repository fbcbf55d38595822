"""Version 1 as an implementation of `jury_debate.rules.Rules`."""

from jury_debate.rules_v1.answer_parser import answer_schema
from jury_debate.rules_v1.consensus import check_consensus
from jury_debate.rules_v1.conversation import StepConversation
from jury_debate.rules_v1.decider import decide, pending_steps
from jury_debate.rules_v1.opening import open_debate
from jury_debate.rules_v1.recorded_reply import reply_from_record
from jury_debate.rules_v1.recounting import recount
from jury_debate.rules_v1.state_machine import evolve
from jury_debate.rules_v1.steps import asked_first, assign
from jury_debate.rules_v1.tool_calls import answer_tool


class RulesV1:
    """The functions of this package, as one object."""

    open_debate = staticmethod(open_debate)
    evolve = staticmethod(evolve)
    decide = staticmethod(decide)
    pending_steps = staticmethod(pending_steps)
    assign = staticmethod(assign)
    conversation = staticmethod(StepConversation)
    reply_from_record = staticmethod(reply_from_record)
    recount = staticmethod(recount)
    asked_first = staticmethod(asked_first)
    answer_schema = staticmethod(answer_schema)
    answer_tool = staticmethod(answer_tool)
    check_consensus = staticmethod(check_consensus)
