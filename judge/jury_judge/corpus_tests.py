"""The cassettes of a corpus as pytest's tests; registered by `jury_judge.pytest_plugin`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jury_debate.errors import UnknownRules
from jury_debate.rules_registry import rules_of
from jury_replay.cassettes.lines import SUFFIX
from jury_replay.cassettes.writing import cassettes_in
from jury_replay.errors import CassetteError
from jury_replay.regression import Regressed, RegressionStatus, accept, regress


class CorpusCollector:
    """Collects the folders of `--jury-corpus` besides the other tests.

    Raises:
        pytest.UsageError: a folder has no cassette, or there are no rules of that version.
    """

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
