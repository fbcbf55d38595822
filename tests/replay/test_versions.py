"""Records across versions: a later program has rules 2 and prompts 2 beside those of today."""

from typing import Any

import pytest

from jury_debate import UnknownRules, rules_of
from jury_events import DebateHistory
from jury_replay import (
    SUFFIX,
    ForkOrigin,
    Grid,
    RecountRescoring,
    RegressionStatus,
    ReplayStatus,
    RescoreRow,
    StrictRescoring,
    import_cassette,
    read_cassette,
    read_positions,
    regress_history,
    replay_history,
    verify,
)
from support.branches import a_branch, execute_branch, stored
from support.corpus import CORPUS
from support.later_versions import SENTENCE, later_program
from support.runtime_harness import CutOff, KeptStore, Run

ROUNDS: dict[str, Any] = {"preset": "parallel-rounds", "discussion": {"always_discuss": True, "max_rounds": 1}}
TIE = CORPUS / "tie-of-two.cassette.jsonl"


@pytest.fixture
def store() -> KeptStore:
    return KeptStore()


def versions(store: KeptStore, debate_id: str = "d0") -> tuple[int, int]:
    opened = store.history(debate_id).opened
    return opened.rules, opened.prompts


def rescored(history: DebateHistory, grid: Grid) -> list[RescoreRow]:
    return [*StrictRescoring(grid).rows(history), *RecountRescoring(grid).rows(read_positions(history))]


def test_a_record_replays_under_the_rules_that_it_names_and_regress_asks_the_newest() -> None:
    history = read_cassette(TIE).history
    with later_program():
        replayed, as_named, changed = replay_history(history), regress_history(history, 1), regress_history(history)

    assert (1, 1, ReplayStatus.EQUAL, RegressionStatus.SAME) == (
        history.opened.rules, history.opened.prompts, replayed.status, as_named.status
    )  # fmt: skip
    assert RegressionStatus.CHANGED is changed.status
    assert changed.recorded is not None
    assert changed.now is not None
    assert ("needs_review", "safe_pass") == (changed.recorded.verdict, changed.now.verdict)


def test_every_record_of_the_corpus_replays_and_is_rescored_by_a_later_program_as_today(
    subtests: pytest.Subtests,
) -> None:
    grid = Grid.of({"method": ("majority_vote", "median")})
    for path in sorted(CORPUS.glob(f"*{SUFFIX}")):
        history = read_cassette(path).history
        with subtests.test(path=path.name), later_program():
            later = rescored(history, grid)

            assert ReplayStatus.EQUAL is replay_history(history).status
            assert RegressionStatus.SAME is regress_history(history, 1).status
        with subtests.test(path=path.name, by="today"):
            assert rescored(history, grid) == later


def test_a_cassette_is_imported_by_a_later_program_and_verifies_there(store: KeptStore) -> None:
    with later_program():
        import_cassette(store, read_cassette(TIE))

        assert verify(store).ok
        assert ReplayStatus.EQUAL is replay_history(store.history("corpus~tie-of-two")).status


async def test_an_unfinished_debate_is_judged_under_the_versions_that_it_names(store: KeptStore) -> None:
    run, whole = Run(store, **ROUNDS), Run(KeptStore(), **ROUNDS)
    await whole.execute()
    cut = CutOff(store, 6, answered=True)
    await run.execute()
    cut.mend()
    with later_program():
        finished = await run.execute()

        assert "completed" == finished["d0"].status
        assert (1, 1) == versions(store)
        assert whole.event_bodies() == run.event_bodies()


async def test_a_branch_keeps_the_versions_of_its_origin(store: KeptStore) -> None:
    await Run(store, **ROUNDS).execute()
    with later_program():
        branch = a_branch(ForkOrigin(store.history("d0")), "round-1/sim-policy/statement", debate_id="b")
        await execute_branch(store, stored(store, branch))

        assert (1, 1) == versions(store, "b")
        assert ReplayStatus.EQUAL is replay_history(store.history("b")).status


async def test_a_new_debate_opens_under_the_newest_and_an_earlier_program_refuses_it_clearly(store: KeptStore) -> None:
    run = Run(store, **ROUNDS)
    run.prompts = 2
    with later_program():
        await run.execute()
        replayed = replay_history(store.history("d0"))
        texts = store.history("d0").texts.values()

    assert ((2, 2), ReplayStatus.EQUAL) == (versions(store), replayed.status)
    assert any(SENTENCE.encode() in text for text in texts)
    assert verify(store).ok
    with pytest.raises(UnknownRules, match=r"rules version 2 is not known here .known: 1.; upgrade jury-judge"):
        rules_of(versions(store)[0])
    assert "upgrade jury-judge" in str(replay_history(store.history("d0")))
