"""The cassettes of a corpus, and gates between runs, as pytest's tests; registered by `jury_judge.pytest_plugin`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jury_debate.errors import UnknownRules
from jury_debate.rules_registry import rules_of
from jury_events.errors import JuryError, Worded
from jury_judge.extras import check_statistics
from jury_judge.settings.gate import GateSettings
from jury_replay.cassettes.lines import SUFFIX
from jury_replay.cassettes.writing import cassettes_in
from jury_replay.errors import CassetteError
from jury_replay.regression import Regressed, RegressionStatus, accept, regress
from jury_views.gate_view import GateInWords


class CorpusCollector:
    """Collects the folders of `--jury-corpus` besides the other tests."""

    def __init__(self, config: pytest.Config) -> None:
        folders = [_resolved(config, one) for one in config.getoption("--jury-corpus")]
        try:
            self._cassettes = frozenset(cassettes_in(folders))
            rules_of(_rules(config))
        except (CassetteError, UnknownRules) as error:
            raise pytest.UsageError(f"--jury-corpus: {error}") from error
        collected = {(config.invocation_params.dir / one.partition("::")[0]).resolve() for one in config.args}
        config.args += [str(folder) for folder in folders if not any(folder.is_relative_to(one) for one in collected)]

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """A cassette of a corpus is a file of one test."""
        return CassetteFile.from_parent(parent, path=file_path) if file_path in self._cassettes else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Refuse a corpus of which a cassette is not collected: it must not pass for an unchanged one."""
        missed = self._cassettes - {item.path for item in items}
        if missed:
            raise pytest.UsageError(
                f"--jury-corpus: pytest does not look for {min(missed)} (norecursedirs, or --ignore); move the corpus, "
                "or change that setting"
            )


def _resolved(config: pytest.Config, name: str) -> Path:
    """Relative to the working directory, else to the configuration: pytest may be called in a subfolder."""
    here = Path(name).resolve()
    return here if here.exists() else (config.rootpath / name).resolve()


def _rules(config: pytest.Config) -> int | None:
    chosen: int | None = config.getoption("--jury-rules")
    return chosen


class CassetteFile(pytest.File):
    """A cassette."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test, named after the debate."""
        yield CassetteItem.from_parent(self, name=self.path.name.removesuffix(SUFFIX))


class Changed(Exception):
    """The replay differs from the record."""

    def __init__(self, found: Regressed) -> None:
        super().__init__(found.name)
        self.found = found


class CassetteItem(pytest.Item):
    """Replays the debate; fails if the verdict, the score, an event or a prompt differs."""

    def runtest(self) -> None:
        """Pass, accept or fail."""
        found = regress(self.path, _rules(self.config))
        if found.status is RegressionStatus.CHANGED and self.config.getoption("--jury-accept"):
            accept(found)
        elif found.status is not RegressionStatus.SAME:
            raise Changed(found)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The differences: a traceback would not show them."""
        if not isinstance(excinfo.value, Changed):
            return super().repr_failure(excinfo, style)
        lines = [*excinfo.value.found.shown_lines()]
        if excinfo.value.found.status is RegressionStatus.CHANGED:
            lines.append("if this is wanted: the same command with --jury-accept")
        return "\n".join(lines)

    def reportinfo(self) -> tuple[Path, int, str]:
        """The name in reports."""
        return self.path, 0, f"recorded debate {self.name}"


class Gates:
    """Adds a test for each `--jury-gate` to those that were collected."""

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
        from jury_judge.reports.vote_reports import gate_report  # noqa: PLC0415  (numpy: of an extra)

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
