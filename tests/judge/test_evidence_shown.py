"""Quotations and decisive items in results: plain data, the documents' models, and the lines of a run."""

import pytest

from jury_judge import QuotationSpan, QuotedEvidence
from jury_store import MemoryEventStore
from jury_views import collaborative_result, decisive_items, evaluations_of, line_of, result_model
from support.debate_builder import DebateBuilder
from support.debate_harness import Says
from support.evidence_debate import EvidenceDebate, all_saying, quoting
from support.evidence_lists import store_quoting_debates


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
    debate = EvidenceDebate(all_saying(Says("unsafe_fail", evidence=(quoting(5, "it never verified"),))))

    result = collaborative_result(debate.events, debate.texts)

    assert [True, True, True] == [one["unsupported"] for one in result["phase1_evaluations"]]


def test_the_model_of_a_result_has_quotations_as_objects() -> None:
    debate = EvidenceDebate()

    model = result_model(collaborative_result(debate.events, debate.texts))

    first = model.phase1_evaluations[0]
    span = QuotationSpan(item=3, start=29, end=43)
    assert first.evidence is not None
    assert first.evidence[2] == QuotedEvidence(
        item=7, quote="customer asked", says="context", criterion=None, seat=None, result="elsewhere", span=span
    )
    assert (5, False) == (first.decisive_item, first.unsupported)
    assert model.phase3_judgment is not None
    assert model.phase3_judgment.judge is not None
    assert 5 == model.phase3_judgment.judge.decisive_item


@pytest.mark.parametrize("content", [b"not JSON", b'["one too few"]', b"[1,2,3,4]", b"7", b"\xff", None])
def test_quotations_that_cannot_be_read_have_no_text_but_their_results(content: bytes | None) -> None:
    debate = EvidenceDebate()
    quotes = evaluations_of(debate.events)[0].evaluation.quotes
    assert quotes is not None
    texts = {ref: text for ref, text in debate.texts.items() if ref != quotes.part}

    result = collaborative_result(debate.events, texts if content is None else {**texts, quotes.part: content})

    evidence = result["phase1_evaluations"][0]["evidence"]
    assert [None] * 4 == [one["quote"] for one in evidence]
    assert ["verified", "normalised", "elsewhere", "not_found"] == [one["result"] for one in evidence]


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


NAMES = ("verified", "normalised", "elsewhere", "not_found", "unsupported", "decisive")
COUNTS = {
    "agreeing": (2, 0, 0, 0, 0, "agree"),
    "split": (2, 1, 0, 1, 0, "disagree"),
    "alone": (2, 0, 1, 0, 1, "none"),
    "bare": (0, 0, 0, 0, 3, "none"),
    "early": None,
}


def test_a_line_of_a_run_counts_them_as_the_list_of_debates_does() -> None:
    store = MemoryEventStore()
    store_quoting_debates(store)

    lines = {history.debate_id: line_of(history)["evidence"] for history in store.histories(list(COUNTS))}
    listed = {row.debate_id: row.evidence for row in store.debates(limit=len(COUNTS))}

    assert COUNTS == {debate: line and tuple(line[name] for name in NAMES) for debate, line in lines.items()}
    assert COUNTS == {
        debate: facts and tuple(getattr(facts, name) for name in NAMES) for debate, facts in listed.items()
    }
