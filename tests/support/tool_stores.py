"""What a tool's jury recorded, and a tool that is killed in the middle and called again."""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import psutil

from support.gated_models import PANEL, GatedModels
from support.tool_environment import Ended, ToolEnvironment
from support.waiting import eventually


def verdicts(folder: Path, store: str = "jury.db") -> dict[str, str]:
    """The verdict of each debate, by the case's id without its digest."""
    with closing(sqlite3.connect(folder / store)) as database:
        found = database.execute("SELECT case_id, final_verdict FROM debates").fetchall()
    return {case.rpartition(".")[0]: verdict for case, verdict in found}


def debates(folder: Path, store: str = "jury.db") -> int:
    """How many debates there are, finished or not."""
    return _count(folder / store, "SELECT count(*) FROM debates")


def calls(folder: Path, store: str = "jury.db") -> int:
    """How many calls of models are recorded."""
    return _count(folder / store, "SELECT count(*) FROM events WHERE type = 'exchange_recorded'")


def _count(store: Path, query: str) -> int:
    if not store.exists():
        return 0
    try:
        with closing(sqlite3.connect(store)) as database:
            (found,) = database.execute(query).fetchone()
    except sqlite3.OperationalError:  # it is being created
        return 0
    return int(found)


def killed_and_called_again(
    tool: ToolEnvironment,
    models: GatedModels,
    answered: int,
    *command: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    code: int | None = 0,
) -> Ended:
    """Kill a command and all its processes once so many calls are recorded and others wait; then call it again.

    What was recorded before is not asked again. The panel is `panel.yaml` of the folder.
    """
    (cwd / "panel.yaml").write_text(PANEL)
    variables = {**models.variables, **(env or {})}
    running = tool.start(*command, cwd=cwd, env=variables)
    eventually(lambda: running.poll() is not None or (calls(cwd) >= answered and models.held))
    assert running.poll() is None, "the command ended before it was killed"
    tree = [*running.children(recursive=True), running]
    for process in tree:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(tree, timeout=60)
    held = set(models.held)
    models.open()

    ended = tool.call(*command, cwd=cwd, env=variables, code=code)

    again = {digest for digest, times in Counter(models.asked).items() if times > 1}
    assert again <= held
    assert calls(cwd) == len(models.asked), ended
    return ended
