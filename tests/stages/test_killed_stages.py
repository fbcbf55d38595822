"""A staged run that is killed: the same command goes on from the log, and comes to the same end."""

import sys
from pathlib import Path

import pytest

import support.staged_process
from jury_replay import DebateSelection, replay
from jury_store import ALL_STAGES
from support.command import Command, Started

pytestmark = pytest.mark.kill


class _Staged(Command):
    """The run of a ladder over the cases, two debates at once."""

    def __init__(self, folder: Path, cases: Path, url: str) -> None:
        super().__init__(folder, cases, url)
        self._script = [sys.executable, str(support.staged_process.__file__), str(cases), url, str(folder)]

    def start(self, *options: str) -> Started:
        self._arguments = self._script
        return super().start(*options)


@pytest.mark.parametrize(
    "reached",
    [
        pytest.param((60,), marks=pytest.mark.full, id="between its stages"),
        pytest.param((20, 46, 60, 100), marks=pytest.mark.long, id="in every stage"),
    ],
)
def test_a_staged_run_that_is_killed_comes_to_the_same_end(
    cases: Path, url: str, tmp_path: Path, reached: tuple[int, ...]
) -> None:
    command = _Staged(tmp_path, cases, url)
    for events in reached:
        running = command.start("0.05")
        running.comes_to(events, command)
        running.kill_everything()

    last = command.call("0")

    assert last.process.returncode == 0, last.stderr
    assert ["c0", "c1", "c2", "c3", "c4", "c5"] == [line["case_id"] for line in last.lines]
    store = command.reader()
    rows = store.list_debates(ALL_STAGES)
    replayed = {one.status for one in replay(store, DebateSelection(run_id="r"))}
    store.close()
    assert {"equal"} == replayed
    assert 12 == len(rows) == sum(row.has_ended for row in rows)
    assert 6 == sum(row.aside is None for row in rows)
    assert command.verified() == 0
    assert last.lines == command.call("0").lines
