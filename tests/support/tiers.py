"""Which tests run: those of the default tier, or more where the command line says so.

A test marked `full` runs where `-m` selects it, or where its file or itself is named on the command line; one marked
`long` only where `-m` names `long`.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from jury_events import pluralize

FULL, LONG = "full", "long"
_LEFT_OUT = "left out"
_COMMANDS = {FULL: 'pytest -m full; all: -m "full or not full"', LONG: "pytest -m long"}


def others_full(*values: Any) -> list[Any]:
    """Values of a parameter: the first stands for all of them in the default tier."""
    first, *others = values
    return [
        first,
        *(pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=pytest.mark.full) for one in others),
    ]


def mark_of_case(item: pytest.Item) -> None:
    """A test of a module with the mark `full_for(value)` is `full` where it has this value as a parameter."""
    values = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    if any(one in values for mark in item.iter_markers("full_for") for one in mark.args):
        item.add_marker(FULL)


def with_long(config: pytest.Config) -> bool:
    """Whether `-m` names the longer forms."""
    return LONG in config.option.markexpr


def upper_folders_first(config: pytest.Config) -> None:
    """Collect what is named of upper folders before what is below them.

    pytest collects a folder anew for each file of it that is named, with all folders below; the fixtures of their
    conftest files are bound to what it collected first, and are lost to the files that come later.
    """
    config.args.sort(key=lambda one: _depth(config, one))


def _depth(config: pytest.Config, argument: str) -> tuple[int, bool]:
    path = (config.invocation_params.dir / argument.partition("::")[0]).resolve()
    return len(path.parts), path.is_dir()


class Tiers:
    """Leaves tests out, and says at the end how many and how they are run: pytest-xdist does not count them."""

    def __init__(self, config: pytest.Config) -> None:
        self._marks = [
            mark for mark, absent in ((LONG, not with_long(config)), (FULL, not config.option.markexpr)) if absent
        ]
        self._named = tuple(_named(config))
        self.left_out: Counter[str] = Counter()

    def choose(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Take from the list what does not run."""
        marks = {item: self._leaves_out(item) for item in items}
        config.hook.pytest_deselected(items=[item for item in items if marks[item]])
        self.left_out = Counter(mark for mark in marks.values() if mark)
        items[:] = [item for item in items if not marks[item]]

    def _leaves_out(self, item: pytest.Item) -> str:
        named = self._named and item.nodeid.startswith(self._named)
        return next(
            (mark for mark in self._marks if item.get_closest_marker(mark) and not (named and mark == FULL)), ""
        )

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output[_LEFT_OUT] = dict(self.left_out)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        # Each worker collects all tests.
        self.left_out = Counter(getattr(node, "workeroutput", {}).get(_LEFT_OUT, self.left_out))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for mark, count in self.left_out.items():
            terminalreporter.write_line(f"left out: {pluralize(count, 'test')} marked {mark} ({_COMMANDS[mark]})")


def _named(config: pytest.Config) -> Iterable[str]:
    """The starts of the ids of tests that are named by file or id."""
    for argument in config.args:
        place, separator, rest = argument.partition("::")
        path = (config.invocation_params.dir / place).resolve()
        if path.is_file() and path.is_relative_to(config.rootpath):
            yield f"{Path(path).relative_to(config.rootpath).as_posix()}{separator}{rest}"
