"""A plugin of pytest: tables of messages, in files that a person reads.

A test says what each row is, and `refusals/<table>.txt` beside it what the message must be: the name of a row at the
start of a line, and below it the message, indented. The whole table is compared at once, rows that no test has too.

    def test_bad_files_are_refused(refusals):
        refusals.check("files", {"empty": b"", "a list": b"[]"}, read, FileError)

What the rows are may stand in `refusals/<table>.yaml` beside it: `refusals.rows("files")`.

What is printed, as a page of the terminal, is compared in the same way with `printed/<table>.txt`: `printed.compare`.
Lines that stand in a file of the program, and follow from something else in it: `refusals.compare_block`.

`pytest --update` writes the files of the tests that run; what it wrote is read as a diff before it is committed.
"""

import difflib
import os
import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

_WROTE = "wrote a table"
_FOLDER = "{folder}"
"""In place of the temporary folder of a test."""

T = TypeVar("T")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="Write the tables of messages of the tests that run.")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("update") and (names := [name for name in ("CI", "JURY_CI") if os.environ.get(name)]):
        raise pytest.UsageError(f"--update writes what tests compare with: not where {names[0]} is set")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports("passed"):
        for name, path in report.user_properties:
            if name == _WROTE:
                terminalreporter.write_line(f"written: {path}")


class RefusalTables:
    """The tables beside a test, and whether they are compared or written."""

    def __init__(self, request: pytest.FixtureRequest, folder: str) -> None:
        self._node = request.node
        self._place = request.path.parent / folder
        self._update: bool = request.config.getoption("update")
        self._folder = str(request.getfixturevalue("tmp_path")) if "tmp_path" in request.fixturenames else None

    def rows(self, table: str) -> Any:
        """What is tried, as `<table>.yaml` beside the messages has it."""
        return yaml.safe_load((self._place / f"{table}.yaml").read_text(encoding="utf-8"))

    def check(
        self, table: str, rows: Mapping[str, T], call: Callable[[T], object], *errors: type[BaseException]
    ) -> None:
        """Each row must make the call raise one of the errors; their texts are compared with the table."""
        messages, accepted = {}, []
        for name, row in rows.items():
            try:
                call(row)
            except errors as error:
                messages[name] = str(error)
            else:
                accepted.append(name)
        if accepted:
            pytest.fail(f"not refused: {', '.join(accepted)}", pytrace=False)
        self.compare(table, messages)

    def compare(self, table: str, messages: Mapping[str, str]) -> None:
        """Compare the messages by names of rows with the table, or write it."""
        path = self._place / f"{table}.txt"
        found = written({name: self._without_folder(message) for name, message in messages.items()})
        self._compare(path, path.read_text("utf-8") if path.exists() else "", found)

    def compare_block(self, path: Path, begin: str, end: str, lines: Iterable[str]) -> None:
        """Compare the lines between the line `begin` and the next line `end` of a file, or write them."""
        text = path.read_text("utf-8")
        before, first, rest = text.partition(f"\n{begin}\n")
        _, last, after = rest.partition(f"\n{end}\n")
        assert first, f"{path.name} has no line {begin}"
        assert last, f"{path.name} has no line {end} after {begin}"
        self._compare(path, text, "".join([before, first, "\n".join(lines), last, after]))

    def compare_file(self, path: Path, found: str) -> None:
        """Compare a whole file that is made of something else, or write it."""
        self._compare(path, path.read_text("utf-8") if path.exists() else "", found)

    def _compare(self, path: Path, expected: str, found: str) -> None:
        if found == expected:
            return
        if self._update:
            path.parent.mkdir(exist_ok=True)
            path.write_text(found, "utf-8", newline="\n")
            self._node.user_properties.append((_WROTE, str(path)))
            return
        difference = difflib.unified_diff(expected.split("\n"), found.split("\n"), path.name, "found", lineterm="")
        pytest.fail("\n".join([*difference, "if this is right, write it with `pytest --update`"]), pytrace=False)

    def _without_folder(self, message: str) -> str:
        return message if self._folder is None else message.replace(self._folder, _FOLDER)


def written(messages: Mapping[str, str]) -> str:
    """A table as its file has it."""
    for name, message in messages.items():
        assert name.isprintable(), f"{name!r} is no line"
        assert name == name.strip() != "", f"{name!r} does not begin and end with a word"
        assert message, f"{name}: nothing is said"
        assert all(map(str.isprintable, message.split("\n"))), f"{name}: {message!r} has control characters"
    return "\n".join(f"{name}\n{textwrap.indent(message, '    ')}\n" for name, message in messages.items())


@pytest.fixture
def refusals(request: pytest.FixtureRequest) -> RefusalTables:
    """Compares messages with the tables in `refusals` beside the test."""
    return RefusalTables(request, "refusals")


@pytest.fixture
def printed(request: pytest.FixtureRequest) -> RefusalTables:
    """Compares what is printed with the tables in `printed` beside the test."""
    return RefusalTables(request, "printed")
