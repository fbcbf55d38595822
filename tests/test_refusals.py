"""A table of messages fails with a diff that a person reads, and is written where the command line says so."""

from pathlib import Path

import pytest

from support.each_row import each_row
from support.refusals import written

pytest_plugins = ["pytester"]

TESTS = Path(__file__).parent
TABLE = """\
a word
    'a' is no number;

    write digits

nothing
    '' is no number
"""
WITHOUT = [f"-pno:{plugin}" for plugin in ("asyncio", "hypothesispytest", "schemathesis", "xdist", "jury")]
PLANTED = """
ROWS = {"a word": "a", "nothing": ""}

def number(text):
    if not text.isdecimal():
        raise ValueError(f"{text!r} is no number" + (";\\n\\nwrite digits" if text else ""))

def test_numbers(refusals, tmp_path):
    refusals.check("numbers", ROWS, number, ValueError)

def test_files(refusals, tmp_path):
    refusals.compare("files", {"a file": f"there is no {tmp_path}/a"})
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs the planted tests, and returns what is printed; the variables of CI are not set."""
    for name in ("CI", "JURY_CI", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    pytester.makepyfile(test_planted=PLANTED)

    def run(*arguments):
        return pytester.runpytest_inprocess("-p", "support.refusals", *WITHOUT, *arguments)

    return run


def test_what_is_written_is_read_by_a_person_and_compared_from_then_on(pytester, run):
    run().assert_outcomes(failed=2)
    written = run("--update")
    written.assert_outcomes(passed=2)
    written.stdout.fnmatch_lines(["written: */refusals/numbers.txt", "written: */refusals/files.txt"])

    assert TABLE == (pytester.path / "refusals" / "numbers.txt").read_text()
    assert "a file\n    there is no {folder}/a\n" == (pytester.path / "refusals" / "files.txt").read_text()
    run().assert_outcomes(passed=2)
    assert "written:" not in run("--update").stdout.str()


@pytest.mark.parametrize(
    ("was", "becomes", "difference"),
    [
        ("write digits", "digits", ["-    write digits", "+    digits"]),
        ('"nothing": ""', "", ["-nothing", "-    '' is no number"]),
        ('"nothing": ""', '"nothing": "", "one": "1"', ["not refused: one"]),
    ],
    ids=["other words", "a row less", "a row that is accepted"],
)
def test_a_difference_is_shown_by_lines(pytester, run, was, becomes, difference):
    run("--update")
    pytester.makepyfile(test_planted=PLANTED.replace(was, becomes))

    found = run()

    found.assert_outcomes(passed=1, failed=1)
    assert [line for line in difference if line not in found.outlines] == []


@each_row("message", ["", "a\x1b[31m", "a\rb"])
def test_a_message_must_be_text(message):
    with pytest.raises(AssertionError, match="a row: "):
        written({"a row": message})


@pytest.mark.parametrize("name", ["CI", "JURY_CI"])
def test_ci_compares_and_never_writes(pytester, run, monkeypatch, name):
    monkeypatch.setenv(name, "1")

    found = run("--update")

    assert pytest.ExitCode.USAGE_ERROR == found.ret
    assert f"not where {name} is set" in found.stderr.str()
    assert not (pytester.path / "refusals").exists()


def test_every_table_is_compared_by_a_test_beside_it():
    folders = [TESTS, *(place for depth in ("*/", "*/*/") for place in TESTS.glob(depth))]
    for folder in (place / name for place in folders for name in ("refusals", "printed")):
        tests = "".join(path.read_text(encoding="utf-8") for path in folder.parent.glob("test_*.py"))

        of_rows = {path.stem for path in (folder.parent / "formats").glob("*.json")}
        tables = {table.stem for table in folder.glob("*.txt")} - of_rows
        assert [] == [table for table in sorted(tables) if f'"{table}"' not in tests]
