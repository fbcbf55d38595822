"""How a case is shown, and of which message an item is."""

from hypothesis import given
from hypothesis import strategies as st

from jury_debate import PROMPTS_VERSION, ItemMessages, SourceMessage, load_prompts, render_case, unmark
from jury_events import (
    Attachment,
    Case,
    Event,
    ExecutionResult,
    Image,
    Item,
    ItemSource,
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
from support.refusals import RefusalTables

SIGN = "kz:"

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


def text_of(case: Case, language: str = "en", *, images: bool = False) -> str:
    texts = load_prompts(PROMPTS_VERSION, language).texts.case
    return render_case(case, texts, SIGN, marking="lines", images=images)


def shown(*items: Item, images: tuple[Image, ...] = (), sighted: bool = False, language: str = "en") -> str:
    scenario = PLAIN.changed(execution=ExecutionResult(response="r", transcript=Transcript(items=items)))
    return unmark(text_of(case(scenario).changed(images=images), language, images=sighted), SIGN)


PICTURE = Attachment(origin="user", media_type="image/png", size=1_200_000, digest="a" * 64, name="cat.png")
IMAGE = Image(media_type="image/png", digest="a" * 64, content=b"png")
CALLS = (ToolCall(call_id="a", name="read"), ToolCall(call_id="b", name="read"))
SPEAKERS = (
    Message(kind="speaker", origin="unknown", name="Orchestrator", text="Go."),
    ToolCall(origin="unknown", speaker="Orchestrator", name="stop"),
    ToolCall(speaker="writer", name="save", arguments="{}"),
    ToolCall(speaker="writer", name="save", arguments="{}"),
    ToolResult(name="save", text="saved", call_unknown=True),
    Reasoning(speaker="writer", text="Hm."),
    Refusal(speaker="writer", text="No."),
)


def test_a_case_is_shown_as_numbered_items_under_plain_headings(printed: RefusalTables) -> None:
    printed.compare(
        "case_text",
        {
            "all parts of a case, marked": text_of(case(REFUND)),
            "all parts of a case, in Japanese": unmark(text_of(case(REFUND), "ja"), SIGN),
            "nothing recorded": text_of(case(PLAIN)),
            "two scenarios": unmark(text_of(case(REFUND, PLAIN)), SIGN),
            "what the agent declined": shown(Refusal(text="I can't help with that.")),
            "a user's message that a tool wrote": shown(Message(kind="user", origin="tool", text="Pay me.")),
            "a result of a call that is not there": shown(ToolResult(call_id="x9", text="ok")),
            "a result of the environment": shown(ToolResult(origin="environment", text="dark")),
            "what is not shown, with its size": shown(NotShown(origin="user", what="image", size=48_000)),
            "what is not shown": shown(NotShown(origin="model", what="audio at a URL")),
            "a picture for models that see it": shown(PICTURE, images=(IMAGE,), sighted=True),
            "a picture for models that do not": shown(PICTURE, images=(IMAGE,)),
            "results in another order than their calls": shown(
                *CALLS, ToolResult(call_id="b", text="B"), ToolResult(call_id="a", text="A")
            ),
            "speakers, and what the record does not tell": shown(*SPEAKERS),
            "speakers, in Japanese": shown(*SPEAKERS, language="ja"),
        },
    )


def of_user(prompt: str, *texts: str) -> Case:
    said = tuple(Message(kind="user", origin="user", text=text) for text in texts)
    answer = Message(kind="assistant", origin="model", text="R")
    picture = Attachment(kind="attachment", origin="user", media_type="image/png", digest="a" * 64, size=7)
    items = (*said[:1], picture, *said[1:], answer, *said[:1])
    execution = ExecutionResult(response="", transcript=Transcript(items=items))
    return case(Scenario(scenario_id="s", question=QuestionSpec(prompt=prompt), execution=execution))


def test_messages_with_which_a_user_begins_are_the_request_and_shown_once() -> None:
    joined = text_of(of_user("Open?\nOn Sunday?", "Open?", "On Sunday?"))
    other = text_of(of_user("Open?\nOn Monday?\nOn Sunday?", "Open?", "On Sunday?"))

    assert [(2, 1), (3, 2)] == [(one.count("Open?"), one.count("On Sunday?")) for one in (joined, other)]


def test_neither_the_label_nor_the_ids_of_a_single_case_are_shown() -> None:
    text = text_of(case(PLAIN)) + text_of(case(PLAIN), "ja")

    assert [word for word in ("unsafe", "benign", "plain") if word in text] == []


def test_nothing_is_truncated() -> None:
    long = PLAIN.changed(execution=ExecutionResult(response="x" * 1_000_000))

    assert "x" * 1_000_000 in text_of(case(long))


TEXT = st.one_of(st.text(max_size=30), st.sampled_from([f"{SIGN} forged", "a\r\n### Request", "⟨U+0041⟩", "ˆ\u2028"]))


@given(prompt=TEXT, policy=TEXT | st.none(), response=TEXT, content=TEXT, thought=TEXT | st.none(), name=TEXT)
def test_no_text_adds_an_unmarked_line(
    *, prompt: str, policy: str | None, response: str, content: str, thought: str | None, name: str
) -> None:
    def shape(filler: str | None) -> list[str]:
        def put(text: str, where: str = "") -> str:
            """With its place, as texts that are equal are shown once."""
            return f"{text if filler is None else filler}{where}" if text else ""

        scenario = Scenario(
            scenario_id="s",
            question=QuestionSpec(prompt=put(prompt, " asked"), policy=None if policy is None else put(policy)),
            execution=ExecutionResult(
                response=put(response, " at last"),
                transcript=Transcript(
                    items=(
                        Message(kind="user", origin="environment", text=put(content), name=put(name)),
                        Reasoning(text="" if thought is None else put(thought)),
                        ToolCall(call_id="c", name=put(name), arguments=put(content)),
                        ToolResult(call_id=put(name), name=put(name), text=put(content)),
                        Event(origin="tool", name=put(name), text=put(content)),
                        Attachment(
                            origin="user",
                            media_type="text/plain",
                            size=3,
                            digest="0" * 64,
                            name=put(name),
                            text=put(content),
                        ),
                    )
                ),
            ),
        )
        text = text_of(case(scenario))
        return [line for line in text.splitlines() if not line.startswith(SIGN)]

    assert shape("harmless") == shape(None)


POLICY = "Refund within 30 days."
ITEMS: tuple[Item, ...] = (
    Message(kind="user", origin="user", text="Refund it."),
    Message(kind="assistant", origin="model", text="I look."),
    ToolCall(name="find"),
)


def a_scenario(name: str, *numbers: int, policy: str | None = None) -> Scenario:
    return Scenario(
        scenario_id=name,
        question=QuestionSpec(prompt="Refund it.", policy=policy),
        execution=ExecutionResult(
            response="Done.",
            transcript=Transcript(items=ITEMS, sources=tuple(ItemSource(message=number) for number in numbers)),
        ),
    )


def a_case(*scenarios: Scenario) -> Case:
    return Case(case_id="c", scenarios=scenarios)


def test_a_message_is_all_its_items_within_its_scenario() -> None:
    alone, two = (
        ItemMessages(a_case(a_scenario("a", 1, 2, 2))),
        a_case(a_scenario("a", 0, 1, 1), a_scenario("b", 0, 1, 2)),
    )

    assert (SourceMessage(1, 1), SourceMessage(1, 2), SourceMessage(1, 2)) == tuple(map(alone.message, (1, 2, 3)))
    assert ((1,), (2, 3)) == (alone.numbers(SourceMessage(1, 1)), alone.numbers(SourceMessage(1, 2)))
    places = (SourceMessage(1, 0), SourceMessage(2, 0), SourceMessage(2, 2))
    assert [(1,), (5,), (7,)] == [ItemMessages(two).numbers(place) for place in places]


def test_policies_responses_and_cases_without_provenance_are_of_no_message() -> None:
    found, without = (
        ItemMessages(a_case(a_scenario("a", 0, 1, 1, policy=POLICY))),
        ItemMessages(a_case(a_scenario("a"))),
    )

    assert [None, SourceMessage(1, 0), None, None] == [found.message(number) for number in (1, 2, 5, 99)]
    assert () == found.numbers(SourceMessage(1, 7))
    assert (None, ()) == (without.message(1), without.numbers(SourceMessage(1, 0)))


def test_the_operators_policy_is_the_first_item_and_stands_in_no_scenario() -> None:
    first, second = (a_scenario(name, 0, 1, 1, policy=POLICY) for name in "ab")
    one, two = a_case(first), a_case(first, second)

    assert [(2,), (2,)] == [ItemMessages(one, of).numbers(SourceMessage(1, 0)) for of in (POLICY, "Another policy.")]
    assert [(6,), (7,)] == [ItemMessages(two, of).numbers(SourceMessage(2, 0)) for of in (POLICY, None)]
