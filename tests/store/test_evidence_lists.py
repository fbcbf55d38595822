"""Debates found by what they quote and by the item that their seats call decisive, in the lists of every store."""

from collections.abc import Callable
from typing import Any

import pytest

from jury_events import EvidenceFacts, SeatEvidence, Step, parse_conditions
from jury_store import DebateFilter, EventStore
from support.debate_harness import SEATS, Answer, DebateHarness, a_case, a_panel
from support.evidence_lists import CHOSEN, SAID, a_debate, store_quoting_debates
from support.quoting_debates import ABSENT, CLAUDE, EXACT, GEMINI, GPT, quoting
from support.stored_debates import store_debate

pytestmark = pytest.mark.full_for("postgresql")


def test_debates_are_selected_by_conditions_on_their_evidence(store: EventStore) -> None:
    store_quoting_debates(store)
    for advance in (lambda: None, lambda: store.project(limit=9), store.project, store.rebuild):
        advance()
        for texts, expected in CHOSEN:
            where = parse_conditions(texts, recorded=True)
            newest_first = [row.debate_id for row in store.list_debates(DebateFilter(where=where))]
            as_opened = [row.debate_id for row in store.debates(where=where)]

            assert expected == set(as_opened), texts
            assert as_opened == newest_first[::-1]
            assert len(expected) == store.totals(DebateFilter(where=where)).debates


def test_a_listed_debate_has_the_facts_of_its_evidence(store: EventStore) -> None:
    store_quoting_debates(store)
    for advance in (lambda: None, store.project):
        advance()
        split, unasked = store.debate("split"), store.debate("unasked")

        assert split is not None
        assert unasked is not None
        seats = (SeatEvidence(GPT, 1, False), SeatEvidence(CLAUDE, 2, False), SeatEvidence(GEMINI, 1, False))
        assert EvidenceFacts(verified=2, normalised=1, not_found=1, seats=seats) == split.evidence
        assert (None, None) == (unasked.evidence, unasked.evidence_values)


def test_seats_count_by_their_latest_evaluations_and_quotations_by_all(store: EventStore) -> None:
    def says(step: Step, _call: Any) -> Answer:
        return quoting(ABSENT, item=SEATS.index(step.juror_id or "") % 2 + 1) if not step.round else quoting(EXACT)

    discussion = {"threshold": 2.0, "max_rounds": 1, "always_discuss": True}
    panel = a_panel(*SEATS, discussion=discussion, final={"method": "majority_vote"})
    debate = DebateHarness(panel, says, case=a_case()).run()
    store_debate(store, debate, "d")
    where = parse_conditions(
        ["evidence=not_found", "evidence=verified", "decisive=agree", "unsupported=no"], recorded=True
    )

    (found,) = store.debates(where=where)

    assert found.evidence is not None
    assert (3, 3) == (found.evidence.not_found, found.evidence.verified)


def test_a_final_judge_quotes_and_is_no_seat(store: EventStore) -> None:
    def says(step: Step, _call: Any) -> Answer:
        return quoting(ABSENT, item=2) if step.juror_id is None else quoting(EXACT)

    final = {"method": "final_judge", "judge": {"model": "simulated/judge"}}
    panel = a_panel(*SEATS, preset="independent", final=final)
    debate = DebateHarness(panel, says, case=a_case()).run()
    store_debate(store, debate, "d")

    row = store.debate("d")

    assert row is not None
    assert row.evidence is not None
    assert (3, 1, "agree", 0) == (
        row.evidence.verified,
        row.evidence.not_found,
        row.evidence.decisive,
        row.evidence.unsupported,
    )


def test_a_column_that_holds_no_facts_is_damage_and_values_that_do_not_follow_are_found(
    url: str, sql: Callable[[str, str], None], open_writer: Callable[[str], EventStore]
) -> None:
    store = open_writer(url)
    store_debate(store, a_debate(*SAID["split"]), "split")
    store.project()
    whole = store.debate("split")
    assert not store.list_faults([store.history("split")])
    sql(url, "UPDATE debates SET evidence_values = 1")

    (fault,) = store.list_faults([store.history("split")])

    assert "evidence_values 1" in str(fault)
    for text in ("[1]", "{", "[1,0,0,0,[[1,2,3]]]", '[1,0,0,"x",[]]', "[1,0,0,0,[],0]"):
        sql(url, f"UPDATE debates SET evidence = '{text}'")

        assert [whole] == store.debates() == [store.debate("split")], "made again from its events"
