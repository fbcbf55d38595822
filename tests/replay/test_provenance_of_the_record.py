"""A record knows where the items of its case come from, in replay, under other rules and in branches."""

import pytest

from jury_debate import RULES
from jury_events import Case, ExecutionResult, ItemSource, Message, Transcript, provenance, without_provenance
from jury_replay import (
    ForkOrigin,
    RegressionStatus,
    ReplayStatus,
    pen_of,
    recorded_case,
    regress_history,
    reopen,
    replay_history,
    verify,
)
from jury_store import EventStore
from support.branches import a_branch, stored
from support.debate_harness import a_case
from support.runtime_harness import KeptStore, Run


def sourced(case_id: str) -> Case:
    case = a_case(case_id)
    (scenario,) = case.scenarios
    transcript = Transcript(
        items=(Message(kind="user", origin="user", text="Refund it."),),
        sources=(ItemSource(message=3, place="messages.3.content"),),
    )
    execution = ExecutionResult(response="Refunded.", transcript=transcript)
    return case.changed(scenarios=(scenario.changed(execution=execution),), position="cases.jsonl:1")


@pytest.fixture
async def store() -> KeptStore:
    kept = KeptStore()
    await Run(kept, case=sourced).execute()
    return kept


def known(store: EventStore, debate_id: str) -> bytes | None:
    history = store.history(debate_id)
    return provenance(recorded_case(history.opened, lambda ref: history.texts[ref.part]))


async def test_the_case_is_read_back_with_it(store: KeptStore) -> None:
    assert provenance(sourced("c0")) == known(store, "d0")


async def test_a_record_with_it_replays_equal(store: KeptStore) -> None:
    (history,) = store.histories(["d0"])

    assert ReplayStatus.EQUAL is replay_history(history).status
    assert RegressionStatus.SAME is regress_history(history).status
    assert verify(store).ok


@pytest.mark.parametrize("version", RULES)
async def test_every_version_of_the_rules_keeps_it(version: int) -> None:
    kept = KeptStore()
    run = Run(kept, case=sourced)
    run.prompts = 1
    await run.execute()
    history = kept.history("d0")

    assert history.opened.provenance == reopen(history, RULES[version], pen_of(history)).provenance


async def test_a_branch_keeps_it(store: KeptStore) -> None:
    stored(store, a_branch(ForkOrigin(store.history("d0")), 1, debate_id="b"))

    assert provenance(sourced("c0")) == known(store, "b")


async def test_the_body_of_a_record_without_it_has_no_such_field() -> None:
    kept = KeptStore()
    await Run(kept, case=lambda case_id: without_provenance(sourced(case_id))).execute()
    history = kept.history("d0")

    assert b"provenance" not in history.stored_events[0].body
    assert "provenance" not in history.opened.model_dump()
    assert known(kept, "d0") is None
