"""ShareGPT: turns of `from` and `value`; a call and its result have no ids."""

import json
from typing import Any

from producers.renderers.conversation import Conversation, Shape


def _row(conversation: Conversation) -> dict[str, Any]:
    turns: list[dict[str, str]] = []
    for exchange in conversation.exchanges:
        turns.append({"from": "human", "value": exchange.user})
        for step in exchange.steps:
            if step.text is not None:
                turns.append({"from": "gpt", "value": step.text})
            for one in step.calls:
                value = json.dumps({"name": one.name, "arguments": one.arguments})
                turns.append({"from": "function_call", "value": value})
            turns += [{"from": "observation", "value": one.text} for one in step.results]
    system = {} if conversation.system is None else {"system": conversation.system}
    return {**system, "conversations": turns}


SHAPES = (
    Shape("sharegpt row", _row, reasoning=False, pictures=False, parallel=False, unanswered=False, refusals=None),
)
