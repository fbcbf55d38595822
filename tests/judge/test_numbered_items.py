"""The numbered items of a recorded debate are those that the prompts show: the same numbers and the same characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_debate import line_sign
from jury_debate.rules_1.evidence import shown_items
from jury_events import (
    ArtifactRecord,
    Case,
    EvidenceSpan,
    ExecutionResult,
    Message,
    NotShown,
    QuestionSpec,
    Scenario,
    Transcript,
)
from jury_views import numbered_items
from jury_views.numbered_items import NumberedItems
from support.debate_builder import DebateBuilder
from support.debate_harness import SECRET, Says
from support.evidence_debate import ITEMS, POLICY, EvidenceDebate, a_cited_case, all_saying
from support.pictures import a_case_with_pictures

TEXTS = st.text(st.sampled_from("ab \t\r\n\u200b\u202e\u0645é🙂[3]#⟨⟩:"), min_size=3, max_size=30)
PASSES = all_saying(Says("safe_pass", 90.0))


def items_of(debate: EvidenceDebate) -> NumberedItems:
    found = numbered_items(debate.opened, debate.texts)
    assert found is not None
    return found


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("operator_policy", [None, POLICY])
def test_items_are_numbered_as_in_the_prompts(language: str, operator_policy: str | None) -> None:
    items = items_of(EvidenceDebate(language=language, operator_policy=operator_policy))

    found = [items.item(number) for number in range(1, 10)]
    assert [*ITEMS.items(), None] == [one and (one.number, one.text) for one in found]
    assert "policy" == (found[0] and found[0].kind)
    assert items.at(1, "transcript", 2) == found[3]
    assert items.at(None, "summary") == found[7]
    assert items.at(1, "question") is None


@given(TEXTS, TEXTS)
def test_a_span_of_what_a_seat_was_shown_is_the_same_characters_here(text: str, named: str) -> None:
    case = a_cited_case(Message(kind="speaker", origin="unknown", name="Ag\ten", text=f"{text}{named}"))
    debate = EvidenceDebate(PASSES, Says("safe_pass", 90.0), case=case)
    piece = next(one.text for one in debate.opened.pieces if one.name == "case")
    searched = shown_items(debate.texts[piece.part], None, line_sign(SECRET)).item(7)
    item = items_of(debate).item(7)
    assert searched is not None
    assert item is not None

    found = searched.exact(item.text)

    assert (0, len(item.text)) == found


def test_a_span_over_several_texts_of_an_item_is_placed_in_each() -> None:
    items = items_of(EvidenceDebate())

    placed = items.placed(EvidenceSpan(item=3, start=2, end=10))

    assert [(0, 2, 6), (1, 0, 3)] == [tuple(one) for one in placed]
    assert () == items.placed(EvidenceSpan(item=None, start=0, end=3))
    assert () == items.placed(EvidenceSpan(item=99, start=0, end=3))
    assert () == items.placed(EvidenceSpan(item=4, start=900, end=903))


def test_a_generated_summary_of_records_is_an_item() -> None:
    records = (ArtifactRecord.from_json({"verdict": "fail", "probe": "p"}),)
    case = a_cited_case().model_copy(update={"artifact_summary": None, "security_gate_records": records})
    debate = EvidenceDebate(all_saying(Says("safe_pass")), case=case)

    summary = items_of(debate).at(None, "summary")

    assert summary is not None
    assert 8 == summary.number
    piece = next(one.text for one in debate.opened.pieces if one.name == "case")
    searched = shown_items(debate.texts[piece.part], None, line_sign(SECRET)).item(8)
    assert searched is not None
    assert (0, len(summary.text)) == searched.exact(summary.text)


def test_scenarios_are_numbered_through_and_items_without_a_text_have_none() -> None:
    def scenario(name: str) -> Scenario:
        items = (NotShown(origin="user", what="audio", size=3), Message(kind="assistant", origin="model", text="Done."))
        return Scenario(
            scenario_id=name,
            question=QuestionSpec(prompt="Listen."),
            execution=ExecutionResult(transcript=Transcript(items=items), response="Done."),
        )

    case = Case(case_id="c1", scenarios=(scenario("a"), scenario("b")))
    items = items_of(EvidenceDebate(PASSES, Says("safe_pass", 90.0), case=case))

    found = [items.item(number) for number in range(1, 8)]
    assert [
        (1, "question"), (1, "transcript"), (1, "transcript"), (2, "question"), (2, "transcript"), (2, "transcript"),
    ] == [(one.scenario, one.kind) for one in found if one]  # fmt: skip
    assert items.at(2, "response") is None


def test_debates_under_prompts_1_and_erased_cases_have_no_numbered_items() -> None:
    builder = DebateBuilder()
    debate = EvidenceDebate()
    del debate.texts[debate.opened.case.part]

    assert numbered_items(builder.opened, builder.texts) is None
    assert numbered_items(debate.opened, debate.texts) is None


def test_a_seat_that_was_sent_the_pictures_was_shown_other_texts_of_them() -> None:
    case = a_case_with_pictures()
    panel = {"seats": [{"model": "openai/gpt-6-sol", "juror_id": "gpt"}]}
    debate = EvidenceDebate(PASSES, Says("safe_pass", 90.0), case=case, **panel)
    assert debate.opened.panel.seats[0].images

    items = items_of(debate)

    piece = next(one.text for one in debate.opened.pieces if one.name == "case/images")
    searched = shown_items(debate.texts[piece.part], None, line_sign(SECRET))
    for number in (2, 3):
        plain, pictured, found = items.item(number), items.item(number, images=True), searched.item(number)
        assert plain is not None
        assert pictured is not None
        assert found is not None
        assert plain.text != pictured.text
        assert (0, len(pictured.text)) == found.exact(pictured.text)
