"""How a run in batches ends: each reason for which a part of it is left is said, and none takes longer than seconds."""

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jury_actors import batches_of
from jury_judge import (
    BatchPlan,
    Jury,
    Observation,
    RunOutcome,
    RunPlan,
    RunSettings,
    RunUnfinished,
    judge_run,
)
from jury_providers import BatchLine, ItemEnd
from jury_store import open_registry, open_store
from support.batch_double import BatchAccountDouble
from support.nights import rows
from support.tiers import others_full

PANEL = """seats:
- {juror_id: a, model: openai/gpt-6-sol}
- {juror_id: b, model: anthropic/claude-haiku-5-5}
discussion: {max_rounds: 1, end_early: off}
final: {method: majority_vote}
"""


class Budgeted:
    """One run over six cases, whose debates take four calls each, two in each of two waves."""

    def __init__(self, folder: Path, account: BatchAccountDouble) -> None:
        self.folder = folder
        self.account = account
        self.cases, self.panel = folder / "cases.jsonl", folder / "panel.yaml"
        self.cases.write_text("".join(json.dumps(row) + "\n" for row in rows(6)))
        self.panel.write_text(PANEL)

    async def session(self, stopping: asyncio.Event | None = None, **asked: Any) -> RunOutcome:
        asked = {"batch": True, "run_id": "r", "panel_name": str(self.panel)} | asked
        settings = RunSettings.of(store_url=f"sqlite:///{self.folder / 'jury.db'}", **asked)
        planned = RunPlan(settings.files([str(self.cases)]), settings, environ={})
        return await judge_run(planned, lambda _line: None, stopping=stopping, say=lambda _line: None)


@pytest.fixture
def budgeted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Budgeted:
    account = BatchAccountDouble()
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-test-acme-0123456789.1")

    async def at_once(_seconds: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(
        "jury_judge.runs.batch_plan.batch_plan",
        lambda settings, _loaded: BatchPlan(account.providers, once=settings.once, sleep=at_once),
    )
    return Budgeted(tmp_path, account)


@pytest.mark.parametrize(("calls", "judged"), others_full((4, 1), (12, 3), (15, 3)))
async def test_a_budget_that_leaves_debates_out_of_waves_is_said(budgeted: Budgeted, calls: int, judged: int) -> None:
    outcome = await budgeted.session(max_calls=calls)
    after = await budgeted.session(max_calls=24)

    left = 6 - judged
    assert (judged, False, False) == (outcome.lines, outcome.whole, outcome.interrupted)
    assert f"the budget of {calls} calls covers no further debate: {left} debates left" in str(outcome.short)
    assert (6, True, None) == (after.lines, after.whole, after.short)
    assert {1} == set(budgeted.account.asked.values())


async def test_what_a_wave_did_not_take_of_a_budget_is_there_for_the_next_debates(budgeted: Budgeted) -> None:
    """Each debate could take four calls and takes two, as both seats agree."""
    budgeted.panel.write_text(PANEL.replace("end_early: off", "threshold: 0.1"))
    outcome = await budgeted.session(max_calls=12)

    assert (6, True) == (outcome.lines, outcome.whole)
    assert 12 == sum(budgeted.account.asked.values())


async def test_one_pass_begins_those_of_the_listed_debates_that_the_budget_covers(budgeted: Budgeted) -> None:
    budgeted.account.ends = lambda _batch_id: False
    outcome = await budgeted.session(once=True, max_calls=12)

    assert "6 calls of run r wait in 2 batches" == outcome.waiting


async def test_passes_end_the_debates_that_their_budget_covers(budgeted: Budgeted) -> None:
    """All of it is spent when the last answers are recorded: what follows from them needs no call."""
    passes = [await budgeted.session(once=True, max_calls=12) for _ in range(4)]
    higher = [await budgeted.session(once=True, max_calls=24) for _ in range(4)]

    assert [0, 0, 3, 0] == [one.now for one in passes]
    assert "3 debates left, about 12 more calls" in str(passes[-1].short)
    assert (6, True, None) == (higher[-1].lines, higher[-1].whole, higher[-1].short)
    assert {1} == set(budgeted.account.asked.values())


async def test_one_pass_ends_with_what_waits_and_is_no_interruption(budgeted: Budgeted) -> None:
    budgeted.account.ends = lambda _batch_id: False
    outcome = await budgeted.session(asyncio.Event(), once=True)

    assert ("12 calls of run r wait in 2 batches", False, False) == (
        outcome.waiting,
        outcome.whole,
        outcome.interrupted,
    )


async def test_a_used_up_budget_is_no_interruption_by_a_person(budgeted: Budgeted) -> None:
    live = await budgeted.session(asyncio.Event(), batch=False, panel_name="independent", max_calls=4)

    assert (True, False) == (live.short is not None, live.interrupted)


async def test_a_cancelled_run_in_python_raises_for_the_cases_that_were_not_begun(tmp_path: Path) -> None:
    url, results, heard = f"sqlite:///{tmp_path / 'jury.db'}", [], asyncio.Event()

    def say(line: str) -> None:
        if "is cancelled by" in line:
            heard.set()

    async with Jury("independent", store=url, observation=Observation(say=say)) as jury:
        judging = jury.evaluate_many(rows(1000), run_id="r", concurrency=1)

        async def judged() -> None:
            async for one in judging:
                results.append(one)
                await heard.wait()

        results.append(await anext(judging))
        with (
            open_registry(url).asking_to_cancel("r", "the operator"),
            pytest.raises(RunUnfinished, match=r"run r was cancelled by the operator; \d+ debates of it were not"),
        ):
            await judged()

    assert len(results) < 1000


BOUND = 0.4
"""US dollars: enough for one of two waves, each of whose calls may cost much and costs nothing."""


async def test_what_the_answers_of_a_wave_left_of_a_bound_is_there_for_the_next_wave(budgeted: Budgeted) -> None:
    outcome = await budgeted.session(max_cost=BOUND)
    with closing(open_store(f"sqlite:///{budgeted.folder / 'jury.db'}", write=False)) as store:
        most = [one.prepared.most or 0.0 for one in batches_of(store, "r")]

    assert BOUND < sum(most)
    assert (6, True, None) == (outcome.lines, outcome.whole, outcome.short)


async def test_nothing_is_sent_that_a_bound_does_not_cover(budgeted: Budgeted) -> None:
    outcome = await budgeted.session(max_cost=BOUND / 8)

    assert (0, False) == (outcome.lines, outcome.whole)
    assert {} == budgeted.account.batches


@pytest.mark.parametrize(("end", "covered"), [(ItemEnd.UNREADABLE, False), (ItemEnd.EXPIRED, True)])
async def test_an_answer_that_cannot_be_read_counts_with_the_most_that_it_can_cost(
    budgeted: Budgeted, end: ItemEnd, covered: bool
) -> None:
    """Its provider may have billed it; what expired was not computed."""

    def without_answers(lines: list[BatchLine]) -> list[BatchLine]:
        budgeted.account.changes = lambda others: others
        return [one._replace(end=end, response=None) for one in lines]

    budgeted.account.changes = without_answers
    outcome = await budgeted.session(max_cost=BOUND)

    assert covered == outcome.whole
    assert covered == (outcome.short is None)
