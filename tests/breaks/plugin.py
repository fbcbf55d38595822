"""The plugin of the pytest that runs for a break, or records which tests execute which lines.

JURY_BREAK names copies of patched rooms, as PYTHONPATH does: they must be the ones that are imported. JURY_BREAK_KILLS
names a file for the tests that fail, a line each. JURY_BREAK_RECORD names a folder for what is recorded.
"""

import importlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

_ROOMS, _KILLS, _RECORD = (os.environ.get(f"JURY_BREAK{name}") for name in ("", "_KILLS", "_RECORD"))


def tier_of(item: pytest.Item) -> str:
    """The tier in which a test runs: `default`, `full` or `long`."""
    return next((name for name in ("long", "full") if item.get_closest_marker(name)), "default")


class Patched:
    """Tests of the default tier come first; those that fail are written down."""

    def __init__(self, rooms: list[Path], kills: Path) -> None:
        self._kills = kills
        for package in (next(room.glob("jury_*")) for room in rooms):
            loaded = importlib.import_module(package.name)
            if Path(str(loaded.__file__)).parent != package:
                raise pytest.UsageError(f"{loaded.__file__} was imported in place of the patched {package}")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: ("default", "full", "long").index(tier_of(item)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> "Iterator[None]":
        report = yield
        if report.failed:  # type: ignore[attr-defined]
            with self._kills.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps([item.nodeid.partition('@')[0], tier_of(item)])}\n")
        return report


class Recording:
    """The lines of the product that each test function executes, and its CPU time."""

    def __init__(self, folder: Path) -> None:
        self._coverage = coverage.Coverage(
            data_file=folder / "lines", data_suffix=True, config_file=False, include=["*/jury_*/*"]
        )
        self._times = (folder / f"{os.getpid()}.times").open("w", encoding="utf-8")
        self._coverage.start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[object]:
        function = item.nodeid.partition("[")[0]
        before = sum(os.times()[:4])
        self._coverage.switch_context(function)
        try:
            return (yield)
        finally:
            self._coverage.switch_context("")
            self._times.write(f"{json.dumps([function, sum(os.times()[:4]) - before])}\n")

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        self._times.close()


def pytest_configure(config: pytest.Config) -> None:
    if _ROOMS and _KILLS:
        config.pluginmanager.register(Patched([Path(room) for room in _ROOMS.split(os.pathsep)], Path(_KILLS)))
    elif _RECORD:
        config.pluginmanager.register(Recording(Path(_RECORD)))
