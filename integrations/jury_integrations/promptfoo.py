"""An assertion (`type: python`) and a provider for promptfoo.

A file beside `promptfooconfig.yaml` imports them: `from jury_integrations.promptfoo import call_api, get_assert`.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from jury_events.errors import JuryError
from jury_events.verdict import PASS
from jury_integrations.hosted_jury import HostedJury, hosted_jury
from jury_integrations.jury_outcome import JuryOutcome

HOST = "promptfoo"
_SETTINGS = ("panel", "store", "policy", "run")


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """What the jury says of an output, as a grading result: passed, score from 0 to 1, reason, and one result a juror.

    `config` of the assertion has `panel`, `store`, `policy` and `run`, as of `hosted_jury`; `expected` names the
    variable that says what a good answer does. A debate that could not go on, or that no juror evaluated, is an error
    of the grader.
    """
    config = context.get("config") or {}
    test, variables = context.get("test") or {}, context.get("vars") or {}
    row = {
        "id": str(test.get("description") or "test"),
        "prompt": {"raw": context.get("prompt")},
        "response": context.get("providerResponse") or {"output": output},
        "testCase": {"metadata": test.get("metadata") or {}, "description": test.get("description")},
        "vars": variables,
    }
    expected = variables.get(config.get("expected"))
    try:
        hosted = _hosted(config)
        outcome = hosted.judge(hosted.case(row, form="promptfoo", expected=_text(expected)))
    except JuryError as error:
        return _no_grade(f"the jury gave no verdict: {error}")
    return _no_grade(outcome.explanation, outcome.metadata) if outcome.score is None else _graded(outcome)


def call_api(prompt: str, options: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """The jury as a provider, whose output is `pass`, `score`, `reason` and `verdict`.

    As the grader of `llm-rubric` it judges the output by the rubric. As a tested provider it judges the case whose
    fields are the variables, or else the prompt, which is a case in JSON: so are juries compared over labelled cases.
    """
    variables = context.get("vars") or {}
    try:
        hosted = _hosted(options.get("config") or {})
        outcome = hosted.judge(hosted.case(_row(prompt, variables)))
    except JuryError as error:
        return {"error": f"the jury gave no verdict: {error}"}
    output = {"pass": outcome.passed, "score": outcome.score, "reason": outcome.explanation, "verdict": outcome.verdict}
    return {"output": output, "metadata": outcome.metadata}


def _hosted(config: Mapping[str, Any]) -> HostedJury:
    return hosted_jury(HOST, **{name: config[name] for name in _SETTINGS if config.get(name)})


def _row(prompt: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    if {"output", "rubric"} <= variables.keys():
        asked = (f"{name}: {_text(value)}" for name, value in variables.items() if name not in {"output", "rubric"})
        answer, rubric = _text(variables["output"]), _text(variables["rubric"])
        return {"id": "rubric", "question": "\n".join(asked), "response": answer, "expected_behavior": rubric}
    if {"response", "messages", "execution", "scenarios"} & variables.keys():
        return {"id": "case", **variables}
    try:
        row = json.loads(prompt)
    except ValueError:
        row = None
    return row if isinstance(row, dict) else {"id": "prompt", "question": prompt}


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _graded(outcome: JuryOutcome) -> dict[str, Any]:
    named = {"jury": outcome.score} | ({} if outcome.agreement is None else {"agreement": outcome.agreement})
    return {
        "pass": outcome.passed,
        "score": outcome.score,
        "reason": outcome.explanation,
        "named_scores": named,
        "component_results": [
            {
                "pass": vote.position == PASS,
                "score": (vote.score or 0) / 100,
                "reason": f"{vote.juror_id}: {vote.position or vote.kind}",
            }
            for vote in outcome.judgment.votes
        ],
        "metadata": outcome.metadata,
    }


def _no_grade(reason: str, metadata: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """promptfoo wants a number; it counts a result with `graderError` as an error."""
    return {"pass": False, "score": 0, "reason": reason, "metadata": {**metadata, "graderError": True}}
