"""Gates between runs as pytest's tests; registered by `jury_judge.pytest_plugin`."""

from pathlib import Path
from typing import Any

import pytest

from jury_events.errors import JuryError, Worded
from jury_judge.extras import check_statistics
from jury_judge.settings.gate import GateSettings
from jury_views.gate_view import GateInWords


class Gates:
    """Adds a test for each `--jury-gate` to those that were collected.

    Raises:
        pytest.UsageError: the packages of statistics are missing, or the margin is none.
    """

    def __init__(self, config: pytest.Config) -> None:
        try:
            check_statistics("--jury-gate")
        except JuryError as error:
            raise pytest.UsageError(f"--jury-gate: {error}") from error
        try:
            self._asked = [_asked(config, base, candidate) for base, candidate in config.getoption("--jury-gate")]
        except Worded as error:
            raise pytest.UsageError(error.worded(_option)) from error

    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """One test a gate, after the others."""
        items += [GateItem.of(session, asked) for asked in self._asked]


class GateNotPassed(Exception):
    """The gate fails, or is inconclusive."""

    def __init__(self, found: GateInWords) -> None:
        super().__init__(found.title)
        self.found = found


class GateItem(pytest.Item):
    """Compares two runs; fails if the candidate is worse, or if that is not decided."""

    asked: GateSettings

    @classmethod
    def of(cls, session: pytest.Session, asked: GateSettings) -> "GateItem":
        """The test of these sides."""
        made: GateItem = cls.from_parent(session, name=f"gate {' → '.join(asked.sources)}")
        made.asked = asked
        return made

    def runtest(self) -> None:
        """Read both sides and decide."""
        from jury_judge.statistics.vote_reports import gate_report  # noqa: PLC0415  (numpy: of an extra)

        said: list[str] = []
        found = gate_report(self.asked, said.append)
        self.add_report_section("call", "jury gate", "\n".join(found.lines))  # a test that passes has no other text
        self.user_properties += [("note", note) for note in (*said, *found.notes)]
        if found.outcome != "pass":
            raise GateNotPassed(found)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The figures of the gate: a traceback would not show them."""
        if isinstance(excinfo.value, GateNotPassed):
            found = excinfo.value.found
            undecided = found.decision == "inconclusive"
            remedy = ["if that may pass: the same command with --jury-gate-inconclusive pass"] if undecided else []
            return "\n".join([*found.lines, *remedy])
        return str(excinfo.value) if isinstance(excinfo.value, JuryError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The name in reports."""
        return self.path, 0, self.name


def _asked(config: pytest.Config, base: str, candidate: str) -> GateSettings:
    option = config.getoption
    return GateSettings.of(
        sources=(base, candidate),
        labels=tuple(str(_resolved(config, one)) for one in option("--jury-gate-labels")),
        store_url=option("--jury-gate-store"),
        metric=option("--jury-gate-metric"),
        margin=option("--jury-gate-margin"),
        worse=option("--jury-gate-worse"),
        inconclusive=option("--jury-gate-inconclusive"),
        count=option("--jury-gate-count"),
        include_simulated=option("--jury-gate-include-simulated"),
    )


def _option(field: str) -> str:
    return "--jury-gate-" + field.replace("_", "-")


def _resolved(config: pytest.Config, name: str) -> Path:
    """Relative to the working directory, else to the configuration."""
    here = Path(name).resolve()
    return here if here.exists() else (config.rootpath / name).resolve()
