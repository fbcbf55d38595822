"""What is read of a case, as lines that a person compares: the request, the policy, the end, and every item."""

import json

from jury_events import Case, Item


def printed_case(case: Case) -> str:
    """The fields of its scenario that have a text, then its items by their kinds."""
    (scenario,) = case.scenarios
    asked = {"policy": scenario.question.policy, "request": scenario.question.prompt}
    ended = {"response": scenario.execution.response, "error": scenario.execution.error}
    fields = [f"{name} = {json.dumps(value)}" for name, value in {**asked, **ended}.items() if value]
    return "\n".join([*fields, *(f"{kind}: {text}" for kind, text in items_of(case))])


def items_of(case: Case) -> list[tuple[str, str]]:
    """Every item by its kind and what it says."""
    return [(item.kind, _said(item)) for item in case.scenarios[0].execution.transcript.items]


def _said(item: Item) -> str:
    match item.kind:
        case "tool_call":
            return f"{item.name} {item.arguments}"
        case "event":
            return f"{item.name}: {item.text}" if item.text else item.name
        case "not_shown":
            return item.what
        case "attachment":
            return item.media_type
        case _:
            return item.text
