"""Several debates a case: their ids, a run that is continued with more of them, and with fewer."""

from pathlib import Path
from typing import Any

import pytest

from jury_events import MOST_REPEATS, SettingError, debate_id, repeat_id, repeat_of
from jury_judge import Jury, RunRefused
from support.command_line import CommandLine
from support.each_row import each_row

ROWS: tuple[dict[str, Any], ...] = (
    {"id": "a", "question": "Open?", "response": "At nine."},
    {"id": "b c", "question": "Open?", "response": "At ten."},
)


@each_row("case", ["a", "a.2", "a~2", "b c", "b c~2", "ab" * 100, "日本", "a-2"])
def test_the_id_of_a_repeat_says_which_it_is(case: str) -> None:
    first = debate_id("run", case)
    ids = [repeat_id(first, number) for number in (1, 2, 9, 10, MOST_REPEATS)]

    assert first == ids[0]
    assert [repeat_of(one, "run", case) for one in ids] == [1, 2, 9, 10, MOST_REPEATS]


@each_row("other", ["run~a~1", "run~a~02", "run~a~0", "run~a~100000", "run~a~x", "run~b~2", "other~a~2"])
def test_another_id_is_no_repeat(other: str) -> None:
    assert repeat_of(other, "run", "a") == 1


def test_no_case_has_the_id_of_a_repeat() -> None:
    repeats = {repeat_id(debate_id("run", case), number) for case in ("a", "b c", "b-c") for number in (2, 3, 10)}

    assert repeats.isdisjoint(debate_id("run", case) for case in ("a~2", "a~3", "a-2", "b c~2", "b-c~10", "b-c 2", "2"))


async def _judged(url: str, repeat: int, rows: tuple[dict[str, Any], ...] = ROWS) -> list[str]:
    async with Jury("independent", environ={}, store=url) as jury:
        return [one.debate_id async for one in jury.evaluate_many(rows, run_id="r", repeat=repeat)]


async def test_a_run_is_continued_with_more_repeats(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    two = await _judged(url, 2)
    async with Jury(environ={}, store=url) as jury:
        before = [row async for row in jury.debates()]

    three = await _judged(url, 3)

    async with Jury(environ={}, store=url) as jury:
        after = [row async for row in jury.debates()]
        (run,) = jury.store.runs()
    unsafe = debate_id("r", "b c")
    assert two == ["r~a", "r~a~2", unsafe, f"{unsafe}~2"]
    assert three == ["r~a", "r~a~2", "r~a~3", unsafe, f"{unsafe}~2", f"{unsafe}~3"]
    assert before == after[:4]
    assert (run.cases, run.debates, run.completed) == (6, 6, 6)
    assert await _judged(url, 1) == ["r~a", unsafe]


async def test_a_repeat_of_another_case_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jury.db'}"
    async with Jury("independent", environ={}, store=url) as jury:
        await jury.evaluate(ROWS[1], run_id="r", debate_id="r~a~2")

    with pytest.raises(RunRefused, match=r"r~a~2 .* is over another case, 'b c'"):
        await _judged(url, 2)


@each_row("repeat", [0, -1, 1.5, True, "2", MOST_REPEATS + 1])
async def test_a_number_of_repeats_that_cannot_be_is_refused(tmp_path: Path, repeat: Any) -> None:
    with pytest.raises(SettingError, match="repeat: must be a whole number"):
        await _judged(f"sqlite:///{tmp_path / 'jury.db'}", repeat)


def test_the_command_repeats_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    jury = CommandLine(tmp_path)
    file = jury.write("c.jsonl", *ROWS)

    planned = jury.run(file, "--run", "r", "--repeat", "3", "--dry-run", "--json").json
    first = jury.run(file, "--run", "r", "--repeat", "3", "--jsonl")
    fewer = jury.run(file, "--run", "r", "--jsonl")

    assert (planned["cases"], planned["repeat"], planned["debates"], planned["sample"]) == (2, 3, 6, 2)
    assert [one["case_id"] for one in first.lines] == ["a"] * 3 + ["b c"] * 3
    assert [one["debate_id"] for one in fewer.lines] == ["r~a", debate_id("r", "b c")]
    assert "4 further repeats" in fewer.err


def test_repeats_that_one_run_lacks_are_named_apart(tmp_path: Path) -> None:
    jury = CommandLine(tmp_path)
    cases = jury.write("c.jsonl", *ROWS)
    for run, repeat in (("once", "1"), ("often", "3")):
        assert jury.run(cases, "--run", run, "--repeat", repeat).code == 0

    found = jury("compare", "once", "often", "--json").json

    assert (2, ["a~2", "a~3", "b c~2", "b c~3"]) == (found["judged_by_both"], sorted(found["only_in_b"]))
