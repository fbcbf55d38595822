"""A run by a ladder in batches: each stage goes in waves of its own, and ends as it does live."""

import json
from pathlib import Path
from typing import Any

import pytest

from jury_judge import BatchPlan, RunOutcome, RunRefused, judge_run
from support.batch_double import BatchAccountDouble
from support.ladders import a_ladder, staged


class _Died(Exception):
    """Ends a process in the middle of a wave."""


async def test_a_staged_run_in_batches_is_killed_between_its_stages_and_ends_as_a_live_one(
    cases: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = BatchAccountDouble()
    ladder = a_ladder(tmp_path, {"pass": 1.0}, audit=1.0)
    monkeypatch.setattr(
        "jury_judge.runs.batch_plan.batch_plan",
        lambda settings, _loaded: BatchPlan(account.providers, once=settings.once),
    )

    async def judged(store: str = url, **settings: object) -> tuple[RunOutcome, list[dict[str, Any]]]:
        lines: list[dict[str, Any]] = []
        outcome = await judge_run(staged(cases, store, ladder, **settings), lines.append, say=lambda _line: None)
        return outcome, lines

    account.ends = lambda _batch_id: False
    first, _ = await judged(batch=True, once=True)
    still, none = await judged(batch=True, once=True)
    with pytest.raises(RunRefused, match="12 calls of run 'r' may be answered still in 1 batch"):
        await judged()
    account.ends = lambda _batch_id: True
    account.fails["submit"] = _Died()  # type: ignore[assignment]  # of the second stage: it has arrived all the same
    with pytest.raises(_Died):
        await judged(batch=True, once=True)
    account.ends = lambda batch_id: batch_id == "sent-1"
    found, early = await judged(batch=True, once=True)
    account.ends = lambda _batch_id: True
    whole, lines = await judged(batch=True)
    live, live_lines = await judged(f"sqlite:///{tmp_path / 'live.db'}")

    waits = ["12 calls of run r wait in 1 batch", "24 calls of run r wait in 1 batch"]
    assert [waits[0], waits[0], waits[1], None] == [one.waiting for one in (first, still, found, whole)]
    assert ([], 3) == (none, len(early))
    sent = [[json.loads(line)["trace"] for line in one.lines] for one in account.batches.values()]
    assert [(12, 0), (24, 24)] == [(len(one), sum("~s2/" in trace for trace in one)) for one in sent]
    assert {1} == set(account.asked.values())
    assert [_verdict(line) for line in live_lines] == [_verdict(line) for line in lines]
    assert whole.run_spent is not None
    assert live.run_spent is not None
    assert 36 == whole.run_spent.calls == live.run_spent.calls


def _verdict(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line[name] for name in ("debate_id", "case_id", "final_verdict", "final_score", "total_rounds"))
