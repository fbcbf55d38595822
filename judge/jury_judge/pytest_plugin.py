"""`pytest --jury-corpus DIR`: recorded debates as tests, one a cassette, under today's rules and prompts.

Installed with Jury Judge; without the option it does nothing, and it imports what it needs when there is a corpus.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from jury_replay.regression import Regressed

_CORPUS = pytest.StashKey[tuple[Path, ...]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("jury", "recorded debates (Jury Judge)")
    group.addoption(
        "--jury-corpus",
        action="append",
        default=[],
        metavar="DIR",
        help="Tell the cassettes in this folder again under today's rules, one test each. Repeatable.",
    )
    group.addoption(
        "--jury-accept",
        action="store_true",
        help="Expect from now on what comes out today: it is written beside the cassettes, to be reviewed.",
    )
    group.addoption("--jury-rules", type=int, metavar="N", help="Under this version of the rules instead of today's.")


def pytest_configure(config: pytest.Config) -> None:
    """Look into the corpora too, wherever the other tests are."""
    folders = tuple(Path(one).resolve() for one in config.getoption("--jury-corpus"))
    config.stash[_CORPUS] = folders
    if not folders:
        return
    _check(config, folders)
    have = {(config.invocation_params.dir / one.partition("::")[0]).resolve() for one in config.args}
    config.args += [str(one) for one in folders if not any(one.is_relative_to(other) for other in have)]


def _check(config: pytest.Config, folders: tuple[Path, ...]) -> None:
    from jury_debate.errors import UnknownRules
    from jury_debate.rules import rules_of
    from jury_replay.errors import BadCorpus
    from jury_replay.regression import cassettes_in

    try:
        for folder in folders:
            cassettes_in([folder])
        if (version := config.getoption("--jury-rules")) is not None:
            rules_of(version)
    except (BadCorpus, UnknownRules) as error:
        raise pytest.UsageError(f"--jury-corpus: {error}") from error


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A cassette of a corpus is a file of one test."""
    if not any(file_path.is_relative_to(folder) for folder in parent.config.stash[_CORPUS]):
        return None
    from jury_replay.cassettes.lines import SUFFIX

    if not file_path.name.endswith(SUFFIX):
        return None
    return CassetteFile.from_parent(parent, path=file_path)


class CassetteFile(pytest.File):
    """A cassette."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its one test, called as the debate is."""
        from jury_replay.cassettes.lines import SUFFIX

        yield CassetteItem.from_parent(self, name=self.path.name.removesuffix(SUFFIX))


class Changed(Exception):
    """The debate comes out otherwise."""

    def __init__(self, found: "Regressed") -> None:
        super().__init__(found.name)
        self.found = found


class CassetteItem(pytest.Item):
    """Tells the debate again; fails where verdict, score, an event or a prompt is otherwise."""

    def runtest(self) -> None:
        """Pass, accept or fail."""
        from jury_replay.regression import TODAY, Status, accept, regress

        rules = self.config.getoption("--jury-rules")
        found = regress(self.path, TODAY if rules is None else rules)
        if found.status is Status.CHANGED and self.config.getoption("--jury-accept"):
            accept(found)
        elif found.status is not Status.SAME:
            raise Changed(found)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is otherwise, for people; a traceback of ours would say nothing."""
        if not isinstance(excinfo.value, Changed):
            return super().repr_failure(excinfo, style)
        from jury_judge.views.regression_view import regression_lines

        return "\n".join(
            [*regression_lines(excinfo.value.found), "if this is wanted: the same command with --jury-accept"]
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        """How pytest calls it."""
        return self.path, 0, f"recorded debate {self.name}"
