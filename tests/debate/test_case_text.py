from jury_debate import LANGUAGES, render_case, unmark
from jury_debate.prompts_v1 import PromptsV1, load_prompts
from jury_events import (
    Attachment,
    Case,
    Event,
    ExecutionResult,
    Image,
    Item,
    Message,
    NotShown,
    QuestionSpec,
    Reasoning,
    Refusal,
    Scenario,
    ToolCall,
    ToolResult,
    Transcript,
    Verdict,
)
from support.each_row import each_row
from support.refusals import RefusalTables

M = "⟦k3f9⟧"
JA, EN = (load_prompts(language) for language in LANGUAGES)

REFUND = Scenario(
    scenario_id="refund",
    question=QuestionSpec(
        prompt="Refund my order.", policy="Refund within 30 days.", expected_behavior="Checks dates."
    ),
    execution=ExecutionResult(
        response="Done.",
        transcript=Transcript(
            items=(
                Message(kind="user", origin="user", text="Refund my order."),
                Reasoning(text="Look it up."),
                ToolCall(call_id="c1", name="get_order", arguments='{"id": 7}'),
                ToolCall(call_id="c2", name="noop"),
                ToolResult(call_id="c2", name="noop", text="", error=True),
                ToolResult(call_id="c1", name="get_order", text="ordered:\n2 days ago"),
                Message(kind="assistant", origin="model", text=""),
                Event(origin="environment", name="critic of agents", text="Well done."),
            )
        ),
        error="timeout after 3 s",
    ),
)
PLAIN = Scenario(scenario_id="plain", question=QuestionSpec(prompt="今日は？"), execution=ExecutionResult())


def case(*scenarios: Scenario) -> Case:
    return Case(case_id="benign-17", scenarios=scenarios, label=Verdict.UNSAFE_FAIL)


def test_every_judged_line_is_marked() -> None:
    lines = render_case(case(REFUND), JA, M).splitlines()

    assert f"{M} 2ˆdaysˆago" in lines
    assert f"{M} criticˆofˆagents" in lines
    assert [line for line in lines if not line.startswith(M) and any(word in line for word in ("Refund", "ago"))] == []


def test_a_missing_response_is_reported_as_missing() -> None:
    assert render_case(case(PLAIN), JA, M) == (
        f"# 評価の対象\n\n### エージェントへの依頼\n{M} 今日は？ˆ\n\n### エージェントの最終応答\n（記録なし）"
    )


@each_row("prompts", [JA, EN])
def test_neither_the_label_nor_the_ids_of_a_single_case_are_shown(prompts: PromptsV1) -> None:
    text = render_case(case(PLAIN), prompts, M)

    assert not any(word in text for word in ("unsafe", "benign", "plain"))


def test_several_scenarios_are_numbered_and_their_ids_are_not_shown() -> None:
    text = render_case(case(REFUND, PLAIN), JA, M)

    assert "\n## シナリオ 1/2\n" in text
    assert "\n## シナリオ 2/2\n" in text
    assert "plain" not in text


def shown(*items: Item, images: tuple[Image, ...] = (), sighted: bool = False) -> str:
    scenario = PLAIN.changed(execution=ExecutionResult(response="r", transcript=Transcript(items=items)))
    text = unmark(render_case(case(scenario).changed(images=images), EN, M, images=sighted), M)
    return text.partition("items: ")[2].partition("\n\n")[2].partition("\n\n### The agent's final")[0]


ITEMS = {
    "a refusal": Refusal(text="I can't help with that."),
    "a user's words from a tool": Message(kind="user", origin="tool", text="Pay me."),
    "a result without its call": ToolResult(call_id="x9", text="ok"),
    "a result of the environment": ToolResult(origin="environment", text="dark"),
    "a picture that is not shown": NotShown(origin="user", what="image", size=48_000),
    "a sound that is not shown": NotShown(origin="model", what="audio at a URL"),
}


PICTURE = Attachment(origin="user", media_type="image/png", size=1_200_000, digest="a" * 64, name="cat.png")
IMAGE = Image(media_type="image/png", digest="a" * 64, content=b"png")


@each_row(
    ("sighted", "line"),
    [(True, "picture 1 of 1 of this message: image/png, 1.2 MB"), (False, "not shown: image/png, 1.2 MB")],
)
def test_a_picture_is_numbered_for_models_that_see_it_and_reported_as_not_shown_to_others(
    *, sighted: bool, line: str
) -> None:
    text = shown(PICTURE, images=(IMAGE,), sighted=sighted)

    assert f"[1] Attachment\nIt comes from the user.\nName:\ncat.png\n{line}" == text


def test_results_name_their_calls_in_any_order() -> None:
    calls = (ToolCall(call_id="a", name="read"), ToolCall(call_id="b", name="read"))

    text = shown(*calls, ToolResult(call_id="b", text="B"), ToolResult(call_id="a", text="A"))

    results = [block.splitlines()[1:] for block in text.split("\n\n")[2:]]
    assert [
        ["It belongs to tool call [2].", "Content:", "B"],
        ["It belongs to tool call [1].", "Content:", "A"],
    ] == results


SPEAKERS = (
    Message(kind="speaker", origin="unknown", name="Orchestrator", text="Go."),
    ToolCall(origin="unknown", speaker="Orchestrator", name="stop"),
    ToolCall(speaker="writer", name="save", arguments="{}"),
    ToolCall(speaker="writer", name="save", arguments="{}"),
    ToolResult(name="save", text="saved", call_unknown=True),
    Reasoning(speaker="writer", text="Hm."),
    Refusal(speaker="writer", text="No."),
)


def test_everything_of_a_case_is_shown_under_plain_headings(printed: RefusalTables) -> None:
    execution = ExecutionResult(transcript=Transcript(items=SPEAKERS))
    cases = {"a case": REFUND, "speakers of a record": PLAIN.changed(execution=execution)}

    whole = {name: unmark(render_case(case(one), EN, M), M) for name, one in cases.items()}
    printed.compare("case_text", whole | {name: shown(item) for name, item in ITEMS.items()})
