"""Debates under scales of a panel's own, recorded by the runtime: replayed, checked, sent on, branched and read."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from jury_debate import PanelSpec, resolve, spec_of
from jury_events import JudgmentRendered, scale_digest
from jury_judge import Service
from jury_replay import (
    ForkOrigin,
    RegressionStatus,
    ReplayStatus,
    auditor,
    read_cassette,
    regress_history,
    replay_history,
    verify,
    write_cassette,
)
from jury_web import AccessPolicy, create_app
from support.branches import a_branch, execute_branch, stored
from support.debate_harness import a_case
from support.pages import Site
from support.runtime_harness import KeptStore, Run
from support.scales import ANSWERS, LEVELS

ROUNDS: dict[str, Any] = {"discussion": {"always_discuss": True, "max_rounds": 1}}
SCALES = {"criteria": ANSWERS, "levels": LEVELS, "three verdicts": {"criteria": ANSWERS["criteria"]}}


async def recorded(**spec: Any) -> KeptStore:
    store = KeptStore()
    run = Run(store, case=lambda case_id: a_case(case_id, scenarios=2))
    run.resolved = resolve(PanelSpec.model_validate({**ROUNDS, **spec}))
    finished = await run.execute()
    assert "completed" == finished["d0"].status
    return store


@pytest.fixture(params=SCALES)
async def store(request: pytest.FixtureRequest) -> KeptStore:
    return await recorded(**SCALES[request.param])


def test_a_record_replays_equal_and_passes_as_a_regression_test(store: KeptStore) -> None:
    (history,) = store.histories(["d0"])

    assert ReplayStatus.EQUAL is replay_history(history).status
    assert RegressionStatus.SAME is regress_history(history).status
    assert verify(store).ok


def test_the_second_verifier_knows_every_field(store: KeptStore, tmp_path: Path, capsys: Any) -> None:
    (history,) = store.histories(["d0"])
    (tmp_path / "d.jsonl").write_bytes(write_cassette(history))

    auditor.audit(tmp_path / "d.jsonl", [], None)

    assert "WRONG" not in capsys.readouterr().out
    assert history.opened.panel == read_cassette(tmp_path / "d.jsonl").history.opened.panel


async def test_a_branch_keeps_the_scale_or_takes_another(store: KeptStore) -> None:
    origin = ForkOrigin(store.history("d0"))
    spec = spec_of(origin.panel())
    other = resolve(spec.model_copy(update={"scale": None, "rubric": "standard", "criteria": None}))
    branches = [
        stored(store, a_branch(origin, "round-1/sim-policy/statement", debate_id="same")),
        stored(store, a_branch(origin, "opened", other, debate_id="other")),
    ]

    for branch in branches:
        assert "completed" == (await execute_branch(store, branch)).status

    same, changed = (store.history(name).opened.panel for name in ("same", "other"))
    assert scale_digest(origin.panel().panel) == scale_digest(same)
    assert changed.scale is None
    assert [ReplayStatus.EQUAL] * 2 == [replay_history(one).status for one in store.histories(["same", "other"])]


def test_pages_and_http_show_it_without_an_error(store: KeptStore) -> None:
    (judged,) = (event for event in store.history("d0").events if isinstance(event, JudgmentRendered))
    with TestClient(
        create_app(Service(store), AccessPolicy(frozenset({"jury.test"}))), base_url="http://jury.test"
    ) as client:
        result = client.get("/api/debates/d0").json()
    site = Site(store)

    assert 200 == site.get("/debates/d0", accept_language="ja").status
    assert 200 == site.get("/debates/d0", accept_language="en").status
    assert 200 == site.get("/").status
    assert judged.judgment.label == result["finalLabel"] == result["phase3Judgment"]["label"]
