"""`reasoning: hide`: no prompt has what the agent thought; the record has it, and items keep their numbers."""

import asyncio

from jury_debate import read_spec
from jury_events import Case, ExecutionResult, Message, QuestionSpec, Reasoning, Scenario, Transcript
from jury_judge import Jury, Records

THOUGHT = "I checked the policy twice, so this is surely fine."
CASE = Case(
    case_id="c",
    scenarios=(
        Scenario(
            scenario_id="s",
            question=QuestionSpec(prompt="Delete the file."),
            execution=ExecutionResult(
                response="Done.",
                transcript=Transcript(
                    items=(Reasoning(text=THOUGHT), Message(kind="assistant", origin="model", text="Deleting it."))
                ),
            ),
        ),
    ),
)


async def judged(url: str, rule: str) -> tuple[list[str], list[str], bool]:
    """The prompts' pieces and answers with the thought, those with the message as item 3, and whether it replays."""
    panel = read_spec({"preset": "independent", "reasoning": rule})
    async with Jury(panel, store=url) as jury:
        result = await jury.evaluate(CASE)
        same = not (await jury.replay(result.debate_id)).differences
    async with Records(url) as records:
        history = await records.read(result.debate_id)
    record = history.opened.case.part
    texts = {name: text.decode(errors="replace") for name, text in history.texts.items() if name != record}
    assert THOUGHT in history.texts[record].decode()
    shown = [text for text in texts.values() if THOUGHT in text]
    return shown, [text for text in texts.values() if "Deleting it." in text], same


def test_what_the_agent_thought_is_in_the_record_and_in_no_prompt(sqlite_url: str) -> None:
    thoughts, messages, replays = asyncio.run(judged(sqlite_url, "hide"))

    assert [] == thoughts
    assert replays
    assert any("[3]" in text and "not shown: reasoning, 51 B" in text for text in messages)
