"""OpenAI's Decisions API, and servers that speak it.

Source: the types of the SDK `openai` 3.52.
"""

from typing import Any

from jury_debate.decision_seats import DecisionQuestion
from jury_providers.sdk.decisions import DecisionAdapter
from jury_providers.sdk.openai_sdk import OpenAISdk


class OpenAIDecisions(DecisionAdapter, OpenAISdk):
    """`POST decisions`."""

    api = "openai-decisions"
    path = "/decisions"
    prompt_keys = frozenset({"input"})

    def decision_body(self, model: str, record: str, questions: tuple[DecisionQuestion, ...]) -> dict[str, Any]:
        asked = [
            {
                "type": "choice",
                "name": one.name,
                "instructions": one.instructions,
                "choices": [option.model_dump() for option in one.options],
            }
            for one in questions
        ]
        return {"model": model, "input": record, "questions": asked}
