"""Runs by Python: listed, watched, cancelled; settings of servers in the words of Python."""

from pathlib import Path

import pytest

from jury_events import DebateNotFound
from jury_judge import Jury, Records, SettingsRefused

ROWS = [{"id": name, "question": f"{name}?", "response": "Yes."} for name in ("one", "two")]


@pytest.fixture
async def judged(tmp_path: Path) -> str:
    """A store with the run r1, which is over."""
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    async with Jury("independent", store=url) as jury:
        async for _ in jury.evaluate_many(ROWS, run_id="r1"):
            pass
    return url


async def test_runs_are_listed_with_their_state(judged: str) -> None:
    async with Records(judged) as records:
        (run,) = await records.runs()

    assert ("r1", 2, "complete", None) == (run.row.run_id, run.row.completed, run.state, run.holder)


async def test_a_run_that_is_over_is_watched_in_one_look(judged: str) -> None:
    async with Records(judged) as records:
        looks = [live async for live in records.watch_run("r1")]

    assert [("complete", 2)] == [(live.state, live.row.ended) for live in looks]


async def test_names_of_runs_and_debates_are_told_apart(judged: str) -> None:
    async with Records(judged) as records:
        assert [True, False, False] == [await records.is_run(name) for name in ("r1", "r2", "r1~one")]
        assert ["r1"] == await records.missing_debates(["r1~one", "r1"])
        assert (await records.run_counts("r2")) is None


async def test_cancelling_a_run_that_is_over_changes_nothing(judged: str) -> None:
    async with Records(judged) as records:
        done = await records.cancel("r1", by="ann")

    assert (0, 0) == done


@pytest.mark.parametrize(
    ("run_id", "by", "problem", "said"),
    [
        ("r1", "x" * 31, SettingsRefused, "by: at most 30 bytes, not 31"),
        ("r1", "a\nb", SettingsRefused, "by: a name in one line"),
        ("none", "ann", DebateNotFound, "there is no run 'none' in this store"),
    ],
)
async def test_what_cannot_be_cancelled_is_named(
    judged: str, run_id: str, by: str, problem: type[Exception], said: str
) -> None:
    async with Records(judged) as records:
        with pytest.raises(problem, match=said):
            await records.cancel(run_id, by=by)
