"""Version 2 as an implementation of `jury_debate.rules.Rules`: version 1, and acceptance."""

from jury_debate.rules_v1.answer_parser import answer_schema
from jury_debate.rules_v1.consensus import check_consensus
from jury_debate.rules_v1.conversation import StepConversation
from jury_debate.rules_v1.decider import pending_steps
from jury_debate.rules_v1.recorded_reply import reply_from_record
from jury_debate.rules_v1.steps import asked_first, assign
from jury_debate.rules_v1.tool_calls import answer_tool
from jury_debate.rules_v2.decider import decide
from jury_debate.rules_v2.opening import open_debate
from jury_debate.rules_v2.recounting import recount
from jury_debate.rules_v2.state_machine import evolve


class RulesV2:
    """The functions of this package and of version 1, as one object."""

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
