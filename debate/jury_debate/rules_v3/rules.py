"""Version 3 as an implementation of `jury_debate.rules.Rules`: version 2, and what prompts 2 ask for."""

from typing import Any

from jury_debate.rules_v1 import answer_parser as before
from jury_debate.rules_v1.consensus import check_consensus
from jury_debate.rules_v1.recorded_reply import reply_from_record
from jury_debate.rules_v3 import answer_parser
from jury_debate.rules_v3.conversations import conversation
from jury_debate.rules_v3.decider import decide, pending_steps
from jury_debate.rules_v3.early_stop import asked_first
from jury_debate.rules_v3.findings_parser import findings_schema
from jury_debate.rules_v3.opening import open_debate
from jury_debate.rules_v3.record_reading import answer_tool
from jury_debate.rules_v3.recounting import recount
from jury_debate.rules_v3.state_machine import evolve
from jury_debate.rules_v3.steps import assign
from jury_events.rubric import Rubric
from jury_events.verdict_scale import VerdictScale


def answer_schema(
    rubric: Rubric,
    *,
    statement: bool,
    scenarios: tuple[str, ...],
    one_form: bool = False,
    evidence: bool = False,
    scale: VerdictScale | None = None,
    findings: bool = False,
) -> dict[str, Any]:
    """See `Rules.answer_schema`."""
    if findings:
        return findings_schema(rubric, evidence=evidence)
    if one_form:
        return answer_parser.answer_schema(rubric, evidence=evidence, scale=scale)
    return before.answer_schema(rubric, statement=statement, scenarios=scenarios)


class RulesV3:
    """The functions of this package and of the versions before, as one object."""

    open_debate = staticmethod(open_debate)
    evolve = staticmethod(evolve)
    decide = staticmethod(decide)
    pending_steps = staticmethod(pending_steps)
    assign = staticmethod(assign)
    conversation = staticmethod(conversation)
    reply_from_record = staticmethod(reply_from_record)
    recount = staticmethod(recount)
    asked_first = staticmethod(asked_first)
    answer_schema = staticmethod(answer_schema)
    answer_tool = staticmethod(answer_tool)
    check_consensus = staticmethod(check_consensus)
