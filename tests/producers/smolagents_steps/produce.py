"""Steps of smolagents: an agent runs the tools of the story; the model's answers are scripted."""

import json
from typing import Any

from smolagents import Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

from story import LOOK_UP, REFUND, Produced, ToolFailed, ToolUse, run_tool, target_folder

INPUTS = {"order": {"type": "string", "description": "The order."}}
FINAL = "M09answer The refund failed."


class Scripted(Model):
    """A model that gives the answers of a script."""

    def __init__(self, answers: list[ChatMessage]) -> None:
        super().__init__(model_id="scripted")
        self.answers = answers

    def generate(self, *_: Any, **__: Any) -> ChatMessage:
        return self.answers.pop(0)


def tool(use: ToolUse) -> Tool:
    class Shop(Tool):
        name = use.name
        description = "A tool of the shop."
        inputs = INPUTS
        output_type = "string"

        def forward(self, order: str) -> str:
            try:
                return run_tool(use.name)
            except ToolFailed as error:
                raise ValueError(str(error)) from error

    return Shop()


def answer(text: str, name: str, call_id: str, arguments: Any) -> ChatMessage:
    function = ChatMessageToolCallFunction(name=name, arguments=arguments)
    calls = [ChatMessageToolCall(id=call_id, type="function", function=function)]
    return ChatMessage(role=MessageRole.ASSISTANT, content=text, tool_calls=calls)


def main() -> None:
    answers = [
        answer("M04text I look it up.", LOOK_UP.name, LOOK_UP.call_id, dict(LOOK_UP.arguments)),
        answer("M10text I refund it.", REFUND.name, REFUND.call_id, dict(REFUND.arguments)),
        answer("", "final_answer", "call_M11id", {"answer": FINAL}),
    ]
    agent = ToolCallingAgent(tools=[tool(LOOK_UP), tool(REFUND)], model=Scripted(answers), verbosity_level=0)
    agent.prompt_templates["system_prompt"] = "M01system You serve the customers of a shop."
    agent.return_full_result = True
    result = agent.run("M02user Refund my order.")
    produced = Produced(folder=target_folder(__file__), tool="smolagents (steps)", packages=("smolagents",))
    for shape, value in (("result", result.dict()), ("steps", agent.memory.get_full_steps())):
        produced.write_json(f"{shape}.json", json.loads(json.dumps(value, default=str)))
        produced.add(f"{shape}.json", shape)
    produced.write()


if __name__ == "__main__":
    main()
