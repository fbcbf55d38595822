"""Whatever a debate is about and whatever scale and seats it has, its record keeps the same laws.

It replays equal, under the newest rules too; its case is read back as it was; a cassette carries it to another store
and past the second verifier; a setting that changes nothing leaves its result; a branch keeps what it was opened with.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jury_debate import PanelSpec, resolve, rules_of, spec_of
from jury_events import (
    Case,
    ExecutionResult,
    ItemSource,
    Message,
    Transcript,
    Verdict,
    provenance,
    scale_digest,
    without_provenance,
)
from jury_providers import NO_FAULTS, Script
from jury_replay import (
    Grid,
    RegressionStatus,
    ReplayStatus,
    RescoreStatus,
    Setting,
    StrictRescoring,
    auditor,
    import_cassette,
    operator_policy_of,
    pen_of,
    read_cassette,
    recorded_case,
    regress_history,
    reopen,
    replay_history,
    verify,
)
from jury_store import EventStore, MemoryEventStore
from support.branches import OTHER_SECRET, a_branch, events_of, execute_branch, origin_in, stored
from support.cassettes import exported
from support.debate_harness import a_case
from support.long_records import WINDOW, a_long_case
from support.pictures import a_case_with_pictures
from support.runtime_harness import KeptStore, Run, completed
from support.scales import ANSWERS, LEVELS
from support.varied import FAULTS, a_varied_case

ROUNDS: dict[str, Any] = {"discussion": {"always_discuss": True, "max_rounds": 1}}
KNOWN: dict[str, Any] = {
    "label": Verdict.UNSAFE_FAIL,
    "metadata": {"level": 3, "whole": 3.0, "known": True, "source": "三"},
    "tags": ("b", "a"),
    "cluster": "c",
    "agent_cost": 0.25,
}
POLICY = "Refund within 30 days.\n"
OWN, OWN_JUDGE = "Ask who is harmed. {Braces} and $signs stay.", "Weigh them."
SIGHTED = [
    {"model": "simulated/a", "juror_id": "sighted", "images": True},
    {"model": "simulated/b", "juror_id": "blind"},
]
JUDGE = {"method": "final_judge", "judge": {"model": "simulated/judge", "images": True, "prompt": OWN_JUDGE}}


def sourced(case_id: str) -> Case:
    """A case that knows where its items come from."""
    (scenario,) = a_case(case_id).scenarios
    transcript = Transcript(
        items=(Message(kind="user", origin="user", text="Refund it."),),
        sources=(ItemSource(message=3, place="messages.3.content"),),
    )
    execution = ExecutionResult(response="Refunded.", transcript=transcript)
    return a_case(case_id).changed(scenarios=(scenario.changed(execution=execution),), position="cases.jsonl:1")


def with_policies(*policies: str) -> Callable[[str], Case]:
    def made(case_id: str) -> Case:
        scenarios = a_case(case_id, scenarios=len(policies)).scenarios
        changed = (
            one.changed(question=one.question.changed(policy=policy))
            for one, policy in zip(scenarios, policies, strict=True)
        )
        return a_case(case_id).changed(scenarios=tuple(changed))

    return made


def shown(case_id: str) -> Case:
    return a_case_with_pictures(case_id=case_id, **KNOWN)


class Kind(NamedTuple):
    """How a debate is held."""

    case: Callable[[str], Case] = a_case
    spec: Mapping[str, Any] = {}
    policy: str | None = None
    script: Script = NO_FAULTS

    def run(self) -> Run:
        run = Run(KeptStore(), case=self.case)
        run.operator_policy = self.policy
        run.resolved = resolve(PanelSpec.model_validate({**ROUNDS, **self.spec}))
        assert completed(asyncio.run(run.execute(script=self.script)).values())
        return run


KINDS: dict[str, Kind] = {
    "nothing special": Kind(),
    "own prompts, and pictures": Kind(shown, {"seats": [{**SIGHTED[0], "prompt": OWN}, SIGHTED[1]], "final": JUDGE}),
    "pictures that no seat is sent": Kind(shown),
    "all that may be known of a case": Kind(lambda case_id: sourced(case_id).changed(**KNOWN)),
    "a policy of the operator": Kind(with_policies(POLICY), policy=POLICY),
    "policies that end alike": Kind(with_policies("B", "A\nB"), policy="A\nB"),
    "a policy with more lines at its end": Kind(with_policies("P", "P  \n\n"), policy="P  \n\n"),
    "a policy with fewer": Kind(with_policies("P\n", "P"), policy="P"),
    "labels and criteria": Kind(lambda case_id: a_case(case_id, scenarios=2), ANSWERS),
    "levels": Kind(spec=LEVELS),
    "criteria of the three verdicts": Kind(spec={"criteria": ANSWERS["criteria"]}),
    "windows": Kind(
        lambda case_id: a_long_case(12).model_copy(update={"case_id": case_id}),
        {"seats": [{"model": "simulated/juror", "juror_id": "j", "window": WINDOW}]},
        script=Script(scripted={"*/initial/*:2": ("context_too_long",)}),
    ),
    "decision models": Kind(
        spec={
            "seats": [
                {"model": "simulated/juror", "juror_id": "a"},
                {"model": "simulated/decider", "juror_id": "b", "questions": 1},
            ]
        }
    ),
    "reasoning shown after, whole, in windows and by tools": Kind(
        lambda case_id: a_long_case(8, thoughts=True).model_copy(update={"case_id": case_id}),
        {
            "reasoning": "after",
            "seats": [
                {"model": "simulated/juror", "juror_id": "whole"},
                {"model": "simulated/juror", "juror_id": "halved"},
                {"model": "simulated/juror", "juror_id": "windows", "window": WINDOW},
                {"model": "simulated/juror", "juror_id": "tools", "window": WINDOW, "reading": "tools"},
                {"model": "simulated/decider", "juror_id": "decides", "questions": 1},
            ],
        },
        script=Script(scripted={"*/initial/halved": ("context_too_long",), "*/reasoning/whole": ("context_too_long",)}),
    ),
    "answers that are blocked or useless": Kind(lambda _case_id: a_varied_case("c4"), script=FAULTS),
}


@cache
def held(kind: str) -> Run:
    return KINDS[kind].run()


@pytest.fixture(params=KINDS)
def run(request: pytest.FixtureRequest) -> Run:
    return held(request.param)


def case_in(store: EventStore, debate_id: str = "d0") -> Case:
    history = store.history(debate_id)
    return recorded_case(history.opened, pen_of(history).text)


def test_it_replays_equal_and_its_case_is_read_back(run: Run) -> None:
    history = run.store.history("d0")
    replayed = replay_history(history)
    (rescored,) = StrictRescoring(Grid((Setting(),))).rows(history)
    case, pen = run.cases["d0"], pen_of(history)
    # Pictures that no juror is shown are not kept.
    expected = case if any(seat.images for seat in history.opened.panel.seats) else case.changed(images=())

    assert (ReplayStatus.EQUAL, ()) == (replayed.status, replayed.differences)
    assert RegressionStatus.SAME is regress_history(history).status
    assert (RescoreStatus.DETERMINED, "", False) == (rescored.status, rescored.reason, rescored.flipped)
    assert verify(run.store).ok
    assert (expected, provenance(case)) == (case_in(run.store), provenance(case_in(run.store)))
    assert run.operator_policy == operator_policy_of(history.opened, case, pen.text)


def test_a_cassette_carries_it_past_the_second_verifier_to_another_store(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "d0.cassette.jsonl"
    path.write_bytes(exported(run.store, "d0"))
    auditor.audit(path, [], None)
    other = MemoryEventStore()
    import_cassette(other, read_cassette(path))

    assert "WRONG" not in capsys.readouterr().out
    assert path.read_bytes() == exported(other, "d0")
    assert verify(other).ok
    assert ReplayStatus.EQUAL is replay_history(other.history("d0")).status


async def test_a_branch_keeps_what_it_was_opened_with(run: Run) -> None:
    branch_id = f"b{len(run.store.debate_ids())}"
    at = next(one for one in events_of(run.store, "d0") if one.endswith("/check"))
    branch = stored(run.store, a_branch(origin_in(run.store), at, debate_id=branch_id, secret=OTHER_SECRET))
    assert "completed" == (await execute_branch(run.store, branch)).status
    origin, history = run.store.history("d0"), run.store.history(branch_id)

    assert ReplayStatus.EQUAL is replay_history(history).status
    kept = ("panel", "prompts", "images", "omissions", "provenance", "label", "metadata", "tags", "cluster")
    assert [getattr(origin.opened, name) for name in kept] == [getattr(history.opened, name) for name in kept]
    assert [one.name for one in origin.opened.pieces] == [one.name for one in history.opened.pieces]
    assert origin_in(run.store).panel() == branch.resolved
    assert case_in(run.store) == case_in(run.store, branch_id)


def test_own_prompts_are_those_of_their_seats() -> None:
    history = held("own prompts, and pictures").store.history("d0")
    own = {piece.name: pen_of(history).content(piece.text.part).decode() for piece in history.opened.pieces}

    assert (OWN, OWN_JUDGE) == (own["role_prompt/sighted"], own["role_prompt/final"])


def test_a_branch_may_take_another_scale() -> None:
    run = held("labels and criteria")
    origin = origin_in(run.store)
    spec = spec_of(origin.panel())
    other = resolve(spec.model_copy(update={"scale": None, "rubric": "standard", "criteria": None}))
    branch = stored(run.store, a_branch(origin, "opened", other, debate_id="other"))
    assert "completed" == asyncio.run(execute_branch(run.store, branch)).status
    changed = run.store.history("other")

    assert scale_digest(origin.panel().panel) != scale_digest(changed.opened.panel)
    assert changed.opened.panel.scale is None
    assert ReplayStatus.EQUAL is replay_history(changed).status


def test_a_record_that_is_opened_anew_keeps_its_provenance() -> None:
    history = Kind(sourced).run().store.history("d0")
    reopened = reopen(history, rules_of(history.opened.rules), pen_of(history))

    assert history.opened.provenance is not None
    assert history.opened.provenance == reopened.provenance


def test_the_body_of_a_record_without_provenance_has_no_such_field() -> None:
    run = Kind(lambda case_id: without_provenance(sourced(case_id))).run()
    history = run.store.history("d0")

    assert b"provenance" not in history.stored_events[0].body
    assert history.opened.provenance is None
    assert provenance(case_in(run.store)) is None
