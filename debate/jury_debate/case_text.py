"""What all jurors are shown of a case: plain headings, and under them the judged texts, every line of them marked.

Neither the human label nor any id is shown: ids of datasets often tell the label. Nothing is cut.
"""

from jury_debate.prompt_texts import CaseTexts, fill
from jury_debate.prompts import Prompts
from jury_debate.rules_v1.datamark import mark
from jury_events.case import Case, Message, Scenario


def render_case(case: Case, prompts: Prompts, marker: str) -> str:
    """The case as text, ending without a line break; scenarios are numbered where there are several.

    Raises:
        ValueError: `marker` is not one that `mark` takes.
    """
    texts = prompts.texts.case
    blocks = [texts.heading]
    for number, scenario in enumerate(case.scenarios, start=1):
        if len(case.scenarios) > 1:
            blocks.append(
                fill(
                    texts.scenario_heading,
                    number=number,
                    total=len(case.scenarios),
                )
            )
        blocks += _scenario(scenario, texts, marker)
    return "\n\n".join(blocks)


def _scenario(scenario: Scenario, texts: CaseTexts, marker: str) -> list[str]:
    question, execution = scenario.question, scenario.execution
    blocks = []
    if question.policy is not None:
        blocks.append(_passage(texts.policy, question.policy, marker))
    blocks.append(_passage(texts.question, question.prompt, marker))
    if question.expected_behavior is not None:
        blocks.append(_passage(texts.expected_behavior, question.expected_behavior, marker))
    if execution.messages:
        blocks.append(fill(texts.transcript, total=len(execution.messages)))
        blocks += [_message(number, message, texts, marker) for number, message in enumerate(execution.messages, 1)]
    if execution.response or not execution.messages:
        blocks.append(_passage(texts.response, execution.response or None, marker, nothing=texts.nothing))
    if execution.error is not None:
        blocks.append(_passage(texts.error, execution.error, marker))
    return blocks


def _passage(heading: str, text: str | None, marker: str, *, nothing: str = "") -> str:
    return f"{heading}\n{nothing if text is None else mark(text, marker)}"


def _message(number: int, message: Message, texts: CaseTexts, marker: str) -> str:
    """One turn. A role that is none of the four usual ones is itself judged text."""
    roles = {
        "user": texts.role_user,
        "assistant": texts.role_assistant,
        "system": texts.role_system,
        "tool": texts.role_tool,
    }
    role = roles.get(message.role)
    passages = [fill(texts.message, number=number, role=role or texts.role_other)]
    if role is None:
        passages.append(_passage(texts.role_label, message.role, marker))
    if message.tool is not None:
        passages.append(_passage(texts.tool_label, message.tool, marker))
    if message.thought is not None:
        passages.append(_passage(texts.thought_label, message.thought, marker))
    if message.content:
        passages.append(_passage(texts.content_label, message.content, marker))
    for index, use in enumerate(message.tool_calls, start=1):
        passages.append(_passage(fill(texts.tool_call_label, number=index), use.name, marker))
        if use.arguments:
            passages.append(_passage(fill(texts.tool_arguments_label, number=index), use.arguments, marker))
    if len(passages) == 1:
        passages.append(texts.nothing)
    return "\n".join(passages)
