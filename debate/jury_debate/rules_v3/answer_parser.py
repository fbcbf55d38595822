"""The parser of answers under prompts 2: one form for all steps of a debate, null where a step does not ask.

One form means one schema, so that a provider's prompt cache, of which the schema is a part, holds from step to step.
"""

from typing import Any

from jury_debate.assignment import AnswerSpec
from jury_debate.rules_v1 import answer_parser as before
from jury_debate.rules_v1.answer_parser import (
    AnswerRefusal,
    Refused,
    answer_of,
    check_ballot_unseen,
    check_fields,
    closed,
    one_object,
    refuse,
)
from jury_debate.step_outcome import ParsedAnswer
from jury_events.outcome import RefusalReason
from jury_events.rubric import Rubric
from jury_events.strict_json import InvalidJson
from jury_events.verdict import Verdict

FIELDS = ("ballot", "verdict", "scores", "confidence", "rationale", "statement", "scenarios")


def parse_answer(raw: bytes, spec: AnswerSpec) -> ParsedAnswer | AnswerRefusal:
    """Parse `raw`, the answer as received; raises nothing, whatever the bytes."""
    try:
        return answer_of(_asked(one_object(raw), spec), spec)
    except (Refused, InvalidJson) as error:
        return AnswerRefusal(error.reason, str(error))


def _asked(members: dict[str, Any], spec: AnswerSpec) -> dict[str, Any]:
    """The members without those that this step does not ask for.

    A statement that is not asked for is passed over: schemas of providers cannot forbid it, and peers never see it.
    """
    check_fields(members, list(FIELDS), "")
    check_ballot_unseen(members, spec)
    passed_over = set()
    if not spec.statement:
        if not isinstance(members["statement"], str | None):
            refuse(RefusalReason.WRONG_TYPE, "statement: must be a string or null")
        passed_over.add("statement")
    if not spec.scenarios:
        if members["scenarios"] not in (None, []):
            refuse(RefusalReason.UNKNOWN_SCENARIO, "scenarios: this case is judged as a whole; write null")
        passed_over.add("scenarios")
    return {name: value for name, value in members.items() if name not in passed_over}


def answer_schema(rubric: Rubric) -> dict[str, Any]:
    """The JSON schema of every answer of a debate under prompts 2; the parser is stricter still."""
    schema = before.answer_schema(rubric, statement=False, scenarios=())
    scenario = closed(
        {
            "scenario_id": {"type": "string"},
            "verdict": {"type": "string", "enum": [verdict.value for verdict in Verdict]},
            "score": {"type": "number", "minimum": 0, "maximum": 100},
        }
    )
    nullable = {
        "statement": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "scenarios": {"anyOf": [{"type": "array", "items": scenario}, {"type": "null"}]},
    }
    return closed({**schema["properties"], **nullable})
