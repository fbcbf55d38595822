"""Records keep the version of their prompts when they are replayed, tested under other rules, and branched."""

import pytest

from jury_debate import PROMPTS, RULES, UnknownPrompts, rules_for
from jury_events import Case, DebateOpened, debate_stream, decode
from jury_replay import (
    ForkOrigin,
    RegressionStatus,
    ReplayStatus,
    operator_policy_of,
    pen_of,
    recorded_case,
    regress_history,
    reopen,
    replay_history,
    verify,
)
from jury_store import EventStore
from support.branches import a_branch, execute_branch, stored
from support.debate_harness import a_case
from support.runtime_harness import KeptStore, Run

ROUNDS = {"always_discuss": True, "max_rounds": 2}


@pytest.fixture
def store() -> KeptStore:
    return KeptStore()


async def a_debate(store: EventStore, prompts: int) -> None:
    run = Run(store, preset="parallel-rounds", discussion=ROUNDS)
    run.prompts = prompts
    finished = await run.execute()
    assert "completed" == finished["d0"].status


def opened_of(store: EventStore, debate_id: str) -> DebateOpened:
    opened = decode(store.read_stream(debate_stream(debate_id))[0])
    assert isinstance(opened, DebateOpened)
    return opened


@pytest.mark.parametrize("prompts", [2])
async def test_a_record_replays_equal_and_passes_as_a_regression_test(store: KeptStore, prompts: int) -> None:
    await a_debate(store, prompts)
    (history,) = store.histories(["d0"])

    assert prompts == opened_of(store, "d0").prompts
    assert ReplayStatus.EQUAL is replay_history(history).status
    assert RegressionStatus.SAME is regress_history(history).status
    assert verify(store).ok


@pytest.mark.parametrize("prompts", [2])
async def test_a_branch_keeps_the_prompts_of_its_origin(store: KeptStore, prompts: int) -> None:
    await a_debate(store, prompts)
    branch = stored(store, a_branch(ForkOrigin(store.history("d0")), "round-1/sim-policy/statement", debate_id="b"))

    finished = await execute_branch(store, branch)

    assert "completed" == finished.status
    assert prompts == opened_of(store, "b").prompts
    assert ReplayStatus.EQUAL is replay_history(store.histories(["b"])[0]).status


async def test_the_operators_policy_is_shown_again_in_what_is_made_of_a_record(store: KeptStore) -> None:
    policy = "Refund within 30 days.\n"
    run = Run(
        store, case=lambda case_id: with_policy(a_case(case_id), policy), preset="parallel-rounds", discussion=ROUNDS
    )
    run.prompts, run.operator_policy = 2, policy
    await run.execute()
    history = store.history("d0")
    branch = stored(store, a_branch(ForkOrigin(history), "round-1/sim-policy/statement", debate_id="b"))
    await execute_branch(store, branch)

    assert "policy" in {piece.name for piece in opened_of(store, "d0").pieces}
    assert "policy" in {piece.name for piece in opened_of(store, "b").pieces}
    assert ReplayStatus.EQUAL is replay_history(store.histories(["d0"])[0]).status
    assert RegressionStatus.SAME is regress_history(store.histories(["d0"])[0]).status


@pytest.mark.parametrize(
    ("operator", "own"), [("A\nB", "B"), ("P\n", "P"), ("P", "P\n"), ("P  \n\n", "P"), ("\n\nP", "P")]
)
async def test_policies_that_end_alike_are_told_apart(store: KeptStore, operator: str, own: str) -> None:
    first, second = a_case("d", scenarios=2).scenarios
    scenarios = tuple(
        one.changed(question=one.question.changed(policy=policy)) for one, policy in ((first, own), (second, operator))
    )
    run = Run(store, case=lambda case_id: a_case(case_id).changed(scenarios=scenarios), preset="independent")
    run.prompts, run.operator_policy = 2, operator
    await run.execute()
    history = store.history("d0")
    case = recorded_case(history.opened, lambda ref: history.texts[ref.part])

    assert operator == operator_policy_of(history.opened, case, lambda ref: history.texts[ref.part])
    assert RegressionStatus.SAME is regress_history(store.histories(["d0"])[0]).status


OWN, OWN_JUDGE = "Ask who is harmed. {Braces} and $signs stay.", "Weigh them."


@pytest.mark.parametrize("prompts", [2])
async def test_own_prompts_are_kept_in_what_is_made_of_a_record(store: KeptStore, prompts: int) -> None:
    seats = [{"model": "simulated/juror", "juror_id": name} for name in ("a", "b")]
    judge = {"model": "simulated/judge", "prompt": OWN_JUDGE}
    run = Run(
        store,
        seats=[{**seats[0], "prompt": OWN}, seats[1]],
        preset="parallel-rounds",
        discussion=ROUNDS,
        final={"method": "final_judge", "judge": judge},
    )
    run.prompts = prompts
    await run.execute()
    origin = ForkOrigin(store.history("d0"))
    await execute_branch(store, stored(store, a_branch(origin, "round-1/b/statement", debate_id="b")))

    for debate_id in ("d0", "b"):
        (history,) = store.histories([debate_id])
        pen = pen_of(history)
        own = {piece.name: pen.content(piece.text.part).decode() for piece in history.opened.pieces}
        assert prompts == history.opened.prompts
        assert (OWN, OWN_JUDGE) == (own["role_prompt/a"], own["role_prompt/final"])
        assert ReplayStatus.EQUAL is replay_history(history).status
    assert RegressionStatus.SAME is regress_history(store.histories(["d0"])[0]).status
    assert ({"a": OWN}, OWN_JUDGE, prompts) == origin.panel()[1:]


def with_policy(case: Case, policy: str) -> Case:
    (one,) = case.scenarios
    return case.changed(scenarios=(one.changed(question=one.question.changed(policy=policy)),))


async def test_rules_that_came_before_the_prompts_of_a_record_say_so(store: KeptStore) -> None:
    await a_debate(store, 2)
    history = store.history("d0")

    for version in (1, 2):
        with pytest.raises(UnknownPrompts, match="rules version 3"):
            reopen(history, RULES[version], pen_of(history))


def test_each_version_of_prompts_has_its_rules() -> None:
    assert [RULES[2], RULES[3]] == [rules_for(prompts) for prompts in sorted(PROMPTS)]
