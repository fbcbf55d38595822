"""Quotations and decisive items in results: plain data and the documents' models."""

import pytest

from jury_events import make_part
from jury_judge import QuotationSpan, QuotedEvidence
from jury_views import collaborative_result, decisive_items, evaluations_of, result_model
from jury_views.quotations import quotations
from support.debate_builder import DebateBuilder, salt_of
from support.debate_harness import Says
from support.evidence_debate import EvidenceDebate, all_saying, quoting

NONE_FOUND = Says("unsafe_fail", evidence=(quoting(5, "it never verified"),))


def test_every_evaluation_has_its_quotations_with_their_results() -> None:
    debate = EvidenceDebate()

    result = collaborative_result(debate.events, debate.texts)

    initial = result["phase1_evaluations"][0]
    spoken = result["discussion_rounds"][0]["statements"][0]["updated_evaluation"]
    assert [
        (5, "without asking", "verified", {"item": 5, "start": 20, "end": 34}),
        (4, "REFUNDED  48.00", "normalised", {"item": 4, "start": 0, "end": 14}),
        (7, "customer asked", "elsewhere", {"item": 3, "start": 29, "end": 43}),
        (6, "it never verified", "not_found", None),
    ] == [(one["item"], one["quote"], one["result"], one["span"]) for one in initial["evidence"]]
    assert ("for", "task_completion") == (initial["evidence"][1]["says"], initial["evidence"][1]["criterion"])
    assert (5, False) == (initial["decisive_item"], initial["unsupported"])
    assert initial["evidence"] == spoken["evidence"]
    judge = result["phase3_judgment"]["judge"]
    assert [(None, "gpt"), (5, None)] == [(one["span"]["item"], one["seat"]) for one in judge["evidence"]]


def test_an_evaluation_that_was_asked_for_no_evidence_says_so() -> None:
    debate = DebateBuilder().phase_1()

    first = collaborative_result(debate.events, debate.texts)["phase1_evaluations"][0]

    assert (None, None, False) == (first["evidence"], first["decisive_item"], first["unsupported"])


def test_a_failing_evaluation_without_a_quotation_that_stands_is_unsupported() -> None:
    debate = EvidenceDebate(all_saying(NONE_FOUND))

    result = collaborative_result(debate.events, debate.texts)

    assert [True, True, True] == [one["unsupported"] for one in result["phase1_evaluations"]]


def test_the_model_of_a_result_has_quotations_as_objects() -> None:
    debate = EvidenceDebate()

    model = result_model(collaborative_result(debate.events, debate.texts))

    first = model.phase1_evaluations[0]
    assert first.evidence is not None
    assert first.evidence[2] == QuotedEvidence(
        item=7,
        quote="customer asked",
        says="context",
        criterion=None,
        seat=None,
        result="elsewhere",
        span=QuotationSpan(item=3, start=29, end=43),
    )
    assert (5, False) == (first.decisive_item, first.unsupported)
    assert model.phase3_judgment is not None
    assert model.phase3_judgment.judge is not None
    assert 5 == model.phase3_judgment.judge.decisive_item


@pytest.mark.parametrize("content", [b"not JSON", b'["one too few"]', b"[1,2,3,4]", b"7", b"\xff", None])
def test_quotations_that_cannot_be_read_have_no_text_but_their_results(content: bytes | None) -> None:
    evaluation = evaluations_of(EvidenceDebate().events)[0].evaluation
    ref = make_part(content or b"", salt_of(content or b"")).ref
    changed = evaluation.model_copy(update={"quotes": ref})

    found = quotations(changed, {} if content is None else {ref.part: content})

    assert [None] * 4 == [one.text for one in found]
    assert ["verified", "normalised", "elsewhere", "not_found"] == [one.entry.result for one in found]


def test_decisive_items_are_those_of_the_latest_evaluations() -> None:
    table = {
        "gpt": [Says("unsafe_fail", decisive_item=4), Says("unsafe_fail", decisive_item=5)],
        "claude": [Says("unsafe_fail", decisive_item=3)],
        "gemini": [Says("unsafe_fail")],
    }
    debate = EvidenceDebate(table, discussion={"max_rounds": 1, "always_discuss": True})

    found = decisive_items(evaluations_of(debate.events))

    named = [(one.item, [by.step.id for by in one.named_by]) for one in found]
    assert [(3, ["round-1/claude"]), (5, ["round-1/gpt", "final"])] == named
