"""Runs tasks of Inspect with scripted answers: `react()`, a handoff, turns, scores, epochs, a limit, an error."""

import base64
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.agent import AgentPrompt, handoff, react
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ChatMessageUser,
    ContentImage,
    ContentReasoning,
    ContentText,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolCall, ToolError, tool

from story import (
    ANSWERS,
    LOOK_UP,
    REFUND,
    SHIP,
    STORY,
    SYSTEM,
    Answer,
    Produced,
    ToolFailed,
    ToolUse,
    run_tool,
    target_folder,
)


def count_words_as_tokens() -> None:
    """Inspect counts tokens with tables that tiktoken downloads."""
    encoding = SimpleNamespace(encode=lambda text, **_: text.split())
    module = ModuleType("tiktoken")
    module.get_encoding = lambda _name: encoding  # type: ignore[attr-defined]
    sys.modules["tiktoken"] = module


def story_tool(use: ToolUse) -> Tool:
    @tool(name=use.name)
    def made() -> Tool:
        async def execute(order: str) -> str:
            """A tool of the shop.

            Args:
                order: the order
            """
            try:
                return run_tool(use.name)
            except ToolFailed as error:
                raise ToolError(str(error)) from error

        return execute

    return made()


def output(answer: Answer) -> ModelOutput:
    content: list[Any] = []
    if answer.reasoning:
        content.append(ContentReasoning(reasoning=answer.reasoning))
    if answer.text:
        content.append(ContentText(text=answer.text))
    if answer.refusal:
        content.append(ContentText(text=answer.refusal, refusal=True))
    calls = [ToolCall(id=one.call_id, function=one.name, arguments=dict(one.arguments)) for one in answer.calls]
    message = ChatMessageAssistant(content=content or "", tool_calls=calls or None, model="mock", source="generate")
    end = {"length": "max_tokens", "stop": "tool_calls" if calls else "stop", "filter": "content_filter"}[answer.end]
    return ModelOutput(model="mock", choices=[ChatCompletionChoice(message=message, stop_reason=end)])


PROMPT = AgentPrompt(instructions=SYSTEM, handoff_prompt=None, assistant_prompt=None, submit_prompt=None)


def react_task() -> tuple[Task, list[Answer]]:
    """Parallel calls of which one fails; the answer by `submit`; two epochs."""
    last = ToolUse(name="submit", call_id="call_M17id", call="", arguments={"answer": "so it is"}, result="", output="")
    answers = [ANSWERS[0], Answer(text="M09answer The refund failed.", calls=(last,))]
    agent = react(prompt=PROMPT, tools=[story_tool(LOOK_UP), story_tool(REFUND)])
    return Task(
        name="react",
        dataset=[Sample(id="one", input=STORY[0].user, target="so it is")],
        solver=agent,
        scorer=includes(),
        epochs=2,
    ), answers * 2


def handoff_task() -> tuple[Task, list[Answer]]:
    """An agent hands the conversation over to another, which uses a tool."""
    transfer = ToolUse(name="transfer_to_helper", call_id="call_M21id", call="", arguments={}, result="", output="")
    done = ToolUse(name="submit", call_id="call_M27id", call="", arguments={"answer": "so it is"}, result="", output="")
    answers = [
        Answer(text="M20text I hand over.", calls=(transfer,)),
        Answer(text="M22text I look.", calls=(LOOK_UP,)),
        Answer(text="M23answer Found."),
        Answer(text="M24answer It is there.", calls=(done,)),
    ]
    helper = react(name="helper", description="Helps.", prompt=None, tools=[story_tool(LOOK_UP)], submit=False)
    agent = react(prompt=PROMPT, tools=[handoff(helper)])
    return Task(name="handoff", dataset=[Sample(id="one", input=STORY[0].user)], solver=agent), answers


@solver
def all_turns() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.tools = [story_tool(one) for one in (LOOK_UP, REFUND, SHIP)]
        for turn in STORY[1:]:
            state = await generate(state)
            content: list[Any] = [ContentText(text=turn.user)]
            if turn.picture is not None:
                content.append(ContentImage(image=f"data:image/png;base64,{base64.b64encode(turn.picture).decode()}"))
            state.messages.append(ChatMessageUser(content=content))
        return await generate(state)

    return solve


@solver
def failing() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        raise RuntimeError("M41error The shop is closed.")

    return solve


def turns_task() -> tuple[Task, list[Answer]]:
    """The whole story; the picture is an attachment of the log."""
    return Task(name="turns", dataset=[Sample(id="one", input=STORY[0].user)], solver=all_turns()), list(ANSWERS)


def failing_task() -> tuple[Task, list[Answer]]:
    """A sample that an error ended."""
    answers = [Answer(text="M40text I begin.")]
    return Task(name="failing", dataset=[Sample(id="one", input=STORY[0].user)], solver=failing()), answers


def limited_task() -> tuple[Task, list[Answer]]:
    """A sample that a limit ended."""
    answers = [Answer(text="M42text I look.", calls=(LOOK_UP,))] * 3
    agent = react(prompt=PROMPT, tools=[story_tool(LOOK_UP)])
    return Task(name="limited", dataset=[Sample(id="one", input=STORY[0].user)], solver=agent, message_limit=4), answers


def run(made: tuple[Task, list[Answer]], folder: Path, file: str) -> None:
    """Run a task in a folder of its own and keep its log."""
    one, answers = made
    model = get_model("mockllm/model", custom_outputs=[output(answer) for answer in answers])
    with tempfile.TemporaryDirectory() as work:
        evaluate(one, model=model, log_dir=work, display="none", max_samples=1)
        (log,) = Path(work).glob("*.eval")
        shutil.copy(log, folder / file)


TASKS: dict[str, Callable[[], tuple[Task, list[Answer]]]] = {
    "react.eval": react_task,
    "handoff.eval": handoff_task,
    "turns.eval": turns_task,
    "failing.eval": failing_task,
    "limited.eval": limited_task,
}


def main() -> None:
    count_words_as_tokens()
    folder = target_folder(__file__)
    produced = Produced(folder=folder, tool="Inspect", packages=("inspect-ai",))
    for file, make in TASKS.items():
        run(make(), folder, file)
        produced.add(file, f"a log: {make.__doc__}")
    produced.write()


if __name__ == "__main__":
    main()
