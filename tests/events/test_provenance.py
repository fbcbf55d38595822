"""Where the items of a case come from is stored beside the case."""

import pytest
from pydantic import ValidationError

from jury_events import (
    Case,
    EventError,
    ExecutionResult,
    ItemSource,
    Message,
    QuestionSpec,
    Scenario,
    Transcript,
    item_messages,
    provenance,
    with_provenance,
    without_provenance,
)
from support.each_row import each_row

ITEM = Message(kind="user", origin="user", text="Hi.")
SOURCES = (ItemSource(message=3, place="messages.3.content"), ItemSource(message=4))


def a_case(sources: tuple[ItemSource, ...] = (), position: str | None = None) -> Case:
    execution = ExecutionResult(transcript=Transcript(items=(ITEM, ITEM), sources=sources))
    scenarios = [
        Scenario(scenario_id="a", question=QuestionSpec(prompt="q"), execution=execution),
        Scenario(scenario_id="b", question=QuestionSpec(prompt="q"), execution=ExecutionResult(response="a")),
    ]
    return Case(case_id="c", scenarios=tuple(scenarios), position=position)


@each_row("case", [a_case(SOURCES), a_case(SOURCES, "c.jsonl:1"), a_case((), "c.jsonl:1")])
def test_the_messages_alone_are_those_of_the_case(case: Case) -> None:
    content = provenance(case) or b""
    whole = with_provenance(without_provenance(case), content)

    assert [[one.message for one in scenario.execution.transcript.sources] for scenario in whole.scenarios] == [
        list(numbers) for numbers in item_messages(without_provenance(case), content)
    ]


def test_its_bytes() -> None:
    assert b'{"items":[[[3,"messages.3.content"],[4,""]],[]],"position":"c.jsonl:1"}' == provenance(
        a_case(SOURCES, "c.jsonl:1")
    )


def test_the_bytes_of_the_case_are_without_it() -> None:
    assert a_case().to_part() == a_case(SOURCES, "c.jsonl:1").to_part()


@each_row(
    "content",
    [
        b"",
        b"[]",
        b'{"items":[]}',
        b'{"items":[[[0,"x"]],[]]}',
        b'{"items":[[[-1,"x"],[0,"x"]],[]]}',
        b'{"items":[[],[],[]]}',
    ],
)
def test_that_of_another_case_is_refused(content: bytes) -> None:
    with pytest.raises(EventError, match="does not say where the items of the case come from"):
        with_provenance(a_case(), content)
    with pytest.raises(EventError, match="does not say where the items of the case come from"):
        item_messages(a_case(), content)


def test_sources_are_one_for_each_item() -> None:
    with pytest.raises(ValidationError, match="must be one for each of 1 items, got 2"):
        Transcript(items=(ITEM,), sources=SOURCES)


def test_a_transcript_without_its_first_items_keeps_the_sources_of_the_others() -> None:
    transcript = Transcript(items=(ITEM, ITEM), sources=SOURCES)

    assert Transcript(items=(ITEM,), sources=SOURCES[1:]) == transcript.since(1)
