"""Items as shown, and the messages of the source, find each other."""

from jury_debate import ItemMessages, SourceMessage
from jury_events import Case, ExecutionResult, Item, ItemSource, Message, QuestionSpec, Scenario, ToolCall, Transcript

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


def test_a_message_is_all_its_items() -> None:
    found = ItemMessages(a_case(a_scenario("a", 1, 2, 2)))

    assert (SourceMessage(1, 1), SourceMessage(1, 2), SourceMessage(1, 2)) == tuple(map(found.message, (1, 2, 3)))
    assert ((1,), (2, 3)) == (found.numbers(SourceMessage(1, 1)), found.numbers(SourceMessage(1, 2)))


def test_what_is_of_no_message() -> None:
    found = ItemMessages(a_case(a_scenario("a", 0, 1, 1, policy=POLICY)))

    assert [None, SourceMessage(1, 0), None, None] == [found.message(number) for number in (1, 2, 5, 99)]
    assert () == found.numbers(SourceMessage(1, 7))


def test_messages_are_of_their_scenario() -> None:
    found = ItemMessages(a_case(a_scenario("a", 0, 1, 1), a_scenario("b", 0, 1, 2)))

    assert ((1,), (5,), (7,)) == (
        found.numbers(SourceMessage(1, 0)),
        found.numbers(SourceMessage(2, 0)),
        found.numbers(SourceMessage(2, 2)),
    )


def test_the_operators_policy_is_the_first_item() -> None:
    case = a_case(a_scenario("a", 0, 1, 1, policy=POLICY))

    assert (2,) == ItemMessages(case, POLICY).numbers(SourceMessage(1, 0))
    assert (2,) == ItemMessages(case, "Another policy.").numbers(SourceMessage(1, 0))


def test_two_scenarios_with_the_operators_policy() -> None:
    case = a_case(a_scenario("a", 0, 1, 1, policy=POLICY), a_scenario("b", 0, 1, 1, policy=POLICY))

    assert (6,) == ItemMessages(case, POLICY).numbers(SourceMessage(2, 0))
    assert (7,) == ItemMessages(case).numbers(SourceMessage(2, 0))


def test_a_case_without_provenance() -> None:
    found = ItemMessages(a_case(a_scenario("a")))

    assert (None, ()) == (found.message(1), found.numbers(SourceMessage(1, 0)))
