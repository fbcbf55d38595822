"""`jury run --detach --ray-address`: the run goes on in a process of the cluster, and the command ends."""

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from jury_cli.detach import DETACH, begun_already, ways
from jury_cli.exits import Exit
from jury_cli.handed_run import HandedRun, case_chunks, handed_options
from jury_cli.ray_thread import ray_started
from jury_cli.terminal import note
from jury_events.case import Case
from jury_judge.panels.files import LoadedPanel
from jury_judge.running.status_file import status_place
from jury_judge.runs.preflight import preflighted
from jury_judge.runs.run import Run
from jury_judge.runs.run_index import RunIndex
from jury_store.opening import database_path, parse_store_url
from jury_store.seals.keys import PublicKey

if TYPE_CHECKING:
    from jury_actors.ray_detached import DetachedRun

_LOOK_EVERY = 0.2


def detach_on_cluster(run: Run, loaded: LoadedPanel, asked: Any, url: str, adopt: tuple[PublicKey, ...]) -> int:
    """Have the cluster execute the run; returns once it does, or has ended.

    A SQLite store is a file of this machine: then the process is on this node.

    Args:
        run: the input; its cases are sent to the cluster.
        loaded: its panel.
        asked: the `RunOptions` of the command.
        url: of the store.
        adopt: as of the command.
    """
    assert asked.ray_address is not None
    if begun_already(url, run.run_id):
        return Exit.DONE
    local = url.startswith("sqlite")
    if local:
        url = f"sqlite:///{database_path(parse_store_url(url))}"
    with (
        preflighted(run, url, loaded.endpoints, None) as (store, checked),
        ray_started(asked.ray_address, open_cluster=asked.ray_open_cluster),
    ):
        from jury_actors.ray_detached import DetachedRun

        index = RunIndex(run, None if checked.recorded is None else store, brief=True)
        there = DetachedRun(run.run_id, here=local)
        for chunk in case_chunks(run.cases(partial(_is_left, index))):
            there.put(chunk)
        options = handed_options(asked, run_id=run.run_id, store_url=url, ray_address=there.address)
        arguments = ("--handed", "--run", run.run_id)
        status = str(status_place(url, run.run_id))
        there.start(arguments, HandedRun(options, loaded, adopt).pack(), status)
        code = _until_running(there)
    if code is None:
        note(f"run {run.run_id} goes on in a process of the cluster, without this terminal")
        note(ways(run.run_id))
    if code in {None, Exit.DONE}:
        print(run.run_id)
    return Exit.DONE if code is None else code


def _is_left(index: RunIndex, case: Case) -> bool:
    """Whether a debate of the case is left to run: its records are needed there."""
    index.load([case.case_id])
    return not index.is_judged(case.case_id)


def check_for_cluster(asked: Any) -> None:
    """Refuse what only this machine has, among the `RunOptions`."""
    given = {"--seal-key": asked.seal_key, "--prices": asked.prices}
    for name, value in given.items():
        if value is not None:
            raise click.UsageError(f"{name} names a file of this machine: leave it out with {DETACH} and --ray-address")


def _until_running(there: "DetachedRun") -> int | None:
    """Wait until the process executes the run; its exit code, with its last lines on stderr, if it ended before."""
    while not (state := there.state()).running:
        if state.code is not None:
            for line in state.output.splitlines():
                note(line)
            return state.code
        time.sleep(_LOOK_EVERY)
    return None
