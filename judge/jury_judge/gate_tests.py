"""Gates between runs as pytest's tests; registered by `jury_judge.pytest_plugin`."""

import os
from pathlib import Path
from typing import Any

import pytest

from jury_cases.votes.label_files import read_labels
from jury_events.errors import JuryError
from jury_judge.extras import check_statistics
from jury_judge.settings.store import load_settings
from jury_store.opening import open_store
from jury_views.gate_view import NamedGate, notes
from jury_views.reports.gate_reports import lines


class Gates:
    """Adds a test for each `--jury-gate` to those that were collected.

    Raises:
        pytest.UsageError: the packages of statistics are missing, or the margin is none.
    """

    def __init__(self, config: pytest.Config) -> None:
        margin = config.getoption("--jury-gate-margin")
        most = 100 if config.getoption("--jury-gate-metric") == "score" else 1
        if margin is not None and not 0 <= margin <= most:
            raise pytest.UsageError(f"--jury-gate-margin: must be 0 to {most}, not {margin:g}")
        try:
            check_statistics("--jury-gate")
        except JuryError as error:
            raise pytest.UsageError(f"--jury-gate: {error}") from error

    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """One test a gate, after the others."""
        for base, candidate in config.getoption("--jury-gate"):
            items.append(GateItem.of(session, base, candidate))


class GateNotPassed(Exception):
    """The gate fails, or is inconclusive."""

    def __init__(self, found: NamedGate) -> None:
        super().__init__(found.title)
        self.found = found


class GateItem(pytest.Item):
    """Compares two runs; fails if the candidate is worse, or if that is not decided."""

    base: str
    candidate: str

    @classmethod
    def of(cls, session: pytest.Session, base: str, candidate: str) -> "GateItem":
        """The test of these runs."""
        made: GateItem = cls.from_parent(session, name=f"gate {base} → {candidate}")
        made.base, made.candidate = base, candidate
        return made

    def runtest(self) -> None:
        """Read both runs and decide."""
        from jury_analysis.gate import GateOptions  # noqa: PLC0415  (numpy: of an extra)
        from jury_analysis.pairing import PairedOptions  # noqa: PLC0415  (numpy: of an extra)
        from jury_judge.statistics.gates import decide, sides_of_runs  # noqa: PLC0415  (numpy: of an extra)

        option = self.config.getoption
        files = [_resolved(self.config, one) for one in option("--jury-gate-labels")]
        labels = read_labels(files) if files else None
        store = open_store(load_settings(os.environ, store_url=option("--jury-gate-store")).store_url, write=False)
        try:
            sides = sides_of_runs(store, self.base, self.candidate)
        finally:
            store.close()
        report = decide(
            sides,
            labels,
            GateOptions(
                metric=option("--jury-gate-metric"),
                margin=option("--jury-gate-margin"),
                worse=option("--jury-gate-worse"),
                paired=PairedOptions(simulated=option("--jury-gate-include-simulated")),
            ),
        )
        inconclusive, worse = option("--jury-gate-inconclusive"), option("--jury-gate-worse")
        found = NamedGate(self.base, self.candidate, report, inconclusive, worse)
        self.add_report_section("call", "jury gate", "\n".join(lines(found)))  # a test that passes has no other text
        self.user_properties += [("note", note) for note in notes(found)]
        if found.outcome != "pass":
            raise GateNotPassed(found)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The figures of the gate: a traceback would not show them."""
        if isinstance(excinfo.value, GateNotPassed):
            found = excinfo.value.found
            undecided = found.report.gate.decision == "inconclusive"
            remedy = ["if that may pass: the same command with --jury-gate-inconclusive pass"] if undecided else []
            return "\n".join([*lines(found), *remedy])
        return str(excinfo.value) if isinstance(excinfo.value, JuryError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The name in reports."""
        return self.path, 0, self.name


def _resolved(config: pytest.Config, name: str) -> Path:
    """Relative to the working directory, else to the configuration."""
    here = Path(name).resolve()
    return here if here.exists() else (config.rootpath / name).resolve()
