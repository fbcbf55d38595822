"""What `jury run` and `jury fork` do, in Python: planned, estimated, judged within a budget, resumed, branched."""

from pathlib import Path

import pytest

from jury_judge import (
    ForkSettings,
    PlannedRun,
    RunRefused,
    RunSettings,
    estimate_run,
    judge_run,
    prepared_fork,
)


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(f'{{"id": "c{n}", "question": "Refund {n}.", "response": "Done."}}\n' for n in range(3)))
    return str(path)


def planned(cases: str, folder: Path, **settings: object) -> PlannedRun:
    asked = RunSettings.of(
        **{"run_id": "r", "store_url": f"sqlite:///{folder / 'jury.db'}", "preset": "independent", **settings}
    )
    return PlannedRun(asked.files([cases]), asked, environ={})


async def test_a_run_is_judged_within_its_budget_and_resumed_by_the_same_call(cases: str, tmp_path: Path) -> None:
    lines: list[dict[str, object]] = []
    said: list[str] = []

    short = await judge_run(planned(cases, tmp_path, max_calls=4), lines.append, say=said.append)
    whole = await judge_run(planned(cases, tmp_path), lines.append, say=said.append)

    assert ["c0", "c0", "c1", "c2"] == [line["case_id"] for line in lines]
    assert (1, 3, 1, 2) == (short.now, whole.total, whole.before, whole.now)
    assert short.short is not None
    assert short.short.startswith("the budget of 4 calls covers no further debate: 2 debates left")
    assert (short.spent.calls, whole.spent.calls) == (3, 6)  # type: ignore[union-attr]
    assert said[0].startswith("3 debates to run: in this process")


async def test_a_run_that_began_otherwise_is_refused_before_anything_is_asked(cases: str, tmp_path: Path) -> None:
    lines: list[dict[str, object]] = []
    await judge_run(planned(cases, tmp_path), lines.append)

    with pytest.raises(RunRefused, match="run 'r' was begun with another panel"):
        await judge_run(planned(cases, tmp_path, method="median"), lines.append)

    assert 3 == len(lines)


def test_an_estimate_writes_nothing(cases: str, tmp_path: Path) -> None:
    found = estimate_run(planned(cases, tmp_path, repeat=2))

    assert (6, 18) == (found.found.debates, found.found.calls.likely)
    assert {"run_id", "calls", "cost", "recipients"} <= set(found.data())
    assert not (tmp_path / "jury.db").exists()


async def test_a_fork_is_run_and_found_again(cases: str, tmp_path: Path) -> None:
    await judge_run(planned(cases, tmp_path), lambda _line: None)
    settings = ForkSettings(store_url=f"sqlite:///{tmp_path / 'jury.db'}", method="median")

    with prepared_fork("r~c0", "1", settings, lambda _line: None, {}) as first:
        assert await first.run() is None
        result = first.result()
    with prepared_fork("r~c0", "1", settings, lambda _line: None, {}) as again:
        assert (first.fork.debate_id, True) == (again.fork.debate_id, again.fork.over)

    assert ("completed", "median") == (result["status"], result["phase3_judgment"]["method"])
