"""`benchmarks/results.py`: the page of results on recorded judges, from files that are known by their digests."""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.reference_data import FOLDER, needs_reference_data

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "results.md"

Command = Callable[..., int]

DEFINITION = {
    "name": "Made up",
    "file": "made.jsonl",
    "about": "Rows of a test.",
    "votes": {"judges": "judges.*", "annotators": "human.*", "cluster": "item_id", "order": ["good", "bad"]},
    "cluster_pattern": r"(\d+)__.*",
    "clusters": "questions",
    "panels": [["worse", "worst", "best"]],
    "ladders": [[["worse", "worst"], ["best"]]],
}


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import results

    yield results.main
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCHMARKS)):
            del sys.modules[name]


def rows() -> list[dict[str, Any]]:
    """Twenty questions with two good answers each: `best` is always right, the other judges in the first half."""
    said = {True: "good", False: "bad"}
    return [
        {
            "item_id": f"{number}__{answer}",
            "judges": {"best": "good", "worse": said[number < 10], "worst": said[number < 10]},
            "human": {"one": "good", "two": "good"},
        }
        for number in range(20)
        for answer in "ab"
    ]


def made(tmp_path: Path, lines: list[str] | None = None, **fields: Any) -> list[str]:
    """The arguments of the command, for a file of these lines and a definition with other fields."""
    written = lines if lines is not None else [json.dumps(row) for row in rows()]
    content = "".join(f"{line}\n" for line in written).encode()
    (tmp_path / "made.jsonl").write_bytes(content)
    sets = tmp_path / "sets"
    sets.mkdir()
    definition = {**DEFINITION, "sha256": hashlib.sha256(content).hexdigest(), **fields}
    (sets / "made.yaml").write_text(yaml.safe_dump(definition), encoding="utf-8")
    return [str(tmp_path), "--sets", str(sets)]


def test_the_page_says_where_a_jury_loses_to_its_best_member(
    results: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = results(made(tmp_path))
    page = capsys.readouterr().out

    assert 0 == code
    assert "Rows of a test. 40 cases, 40 of them with a label, in 20 questions." in page
    assert "| Made up | 3 are worth 1.0 | 1 | 0 | 1 | 0 | −50.0 to −50.0 |" in page
    assert "| best | 100.0% [83.9%, 100.0%] | 100.0% |" in page
    assert "| best single judge, chosen apart (best 10×) | 1 | – | – | 100.0% [83.9%, 100.0%] | – |" in page
    assert "| worse + worst, third if needed: best | 2.00 | 100.0% | 50.0% [26.0%, 74.0%] |" in page
    assert "**Where the jury loses:** 1 of 1 juries (every three judges, and all 3) are worse" in page
    assert "All 3 judges vote alike in 20 of 40 labelled cases, and are right in 20 of these (100.0%)." in page
    assert (
        f"| Made up | `made.jsonl` | `{hashlib.sha256((tmp_path / 'made.jsonl').read_bytes()).hexdigest()}` |" in page
    )


def test_of_a_set_with_rounds_the_page_says_what_they_change(
    results: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes = [
        {
            "case_id": f"c{n}",
            "seat": seat,
            "round": round_,
            "verdict": "good" if round_ or n % 2 else "bad",
            "label": "good",
        }
        for n in range(20)
        for seat in "ab"
        for round_ in (0, 1)
    ]
    fields = {"votes": {"cluster": "case_id", "order": ["good", "bad"]}, "cluster_pattern": None, "rounds": True}
    code = results(made(tmp_path, [json.dumps(row) for row in votes], **fields))
    page = capsys.readouterr().out

    assert 0 == code
    assert "Rows of a test. 20 debates over 20 questions." in page
    assert "| 0 | 20 | 50.0% [" in page
    assert "| 1 | 20 | 100.0% [" in page
    assert "| 0 to 1 | 50.0% [26.0%, 74.0%] | 20 | 0 | +50.0 [" in page


def test_the_same_files_print_the_same_page(
    results: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = made(tmp_path)
    results(arguments)
    page = tmp_path / "page.md"
    page.write_text(capsys.readouterr().out, encoding="utf-8")
    alike = results([*arguments, "--check", str(page)])
    page.write_text(page.read_text(encoding="utf-8").replace("40 cases", "41 cases"), encoding="utf-8")
    other = results([*arguments, "--check", str(page)])
    shown = capsys.readouterr()

    assert (0, 1) == (alike, other)
    assert "" == shown.out
    assert "there:   Rows of a test. 41 cases" in shown.err
    assert "printed: Rows of a test. 40 cases" in shown.err


@pytest.mark.parametrize(
    ("lines", "fields", "refusal"),
    [
        (None, {"sha256": "0" * 64}, f"but the set Made up is of the file {'0' * 64}"),
        (None, {"file": "other.jsonl"}, "other.jsonl: No such file or directory; the set Made up needs this file"),
        ([json.dumps(rows()[0]), '{"item_id": "1__a", '], {}, "made.jsonl"),
        ([json.dumps(rows()[0]), "\x00"], {}, "made.jsonl"),
        (None, {"cluster_pattern": "q(.*)"}, "made.jsonl: '0__a' does not match the cluster_pattern q(.*)"),
        (None, {"colour": "red"}, "colour: Extra inputs are not permitted"),
        (None, {"votes": {"judge": "judges.*"}}, "judge"),
        ([json.dumps(row) for row in rows()[:4]], {}, "too few clusters with a label"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_line(
    results: Command,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    lines: list[str] | None,
    fields: dict[str, Any],
    refusal: str,
) -> None:
    code = results(made(tmp_path, lines, **fields))
    shown = capsys.readouterr()

    assert (2, "", 1) == (code, shown.out, shown.err.count("\n"))
    assert refusal in shown.err


def test_another_file_is_refused_with_both_digests(
    results: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = made(tmp_path)
    named = hashlib.sha256((tmp_path / "made.jsonl").read_bytes()).hexdigest()
    (tmp_path / "made.jsonl").write_text("{}\n", encoding="utf-8")
    code = results(arguments)

    assert 2 == code
    found = capsys.readouterr().err
    assert named in found
    assert hashlib.sha256(b"{}\n").hexdigest() in found


def test_the_published_page_is_of_the_files_that_the_definitions_name() -> None:
    page = PAGE.read_text(encoding="utf-8")
    named = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in (BENCHMARKS / "results").glob("*.yaml")]

    assert all(f"| {one['name']} | `{one['file']}` | `{one['sha256']}` |" in page for one in named)
    assert 6 == len(named)


def test_what_a_jury_is_worth_has_figures_of_the_results_alone() -> None:
    worth = (ROOT / "docs" / "worth.md").read_text(encoding="utf-8")
    published = PAGE.read_text(encoding="utf-8")
    figures = re.findall(r"(?<![\w.])[+−]?\d+(?:,\d{3})*(?:\.\d+)?%?(?![\w-])", worth)

    assert len(figures) > 25
    assert [] == [one for one in figures if not re.search(rf"(?<![\d.]){re.escape(one)}(?![\d.]*\d)", published)]


@pytest.mark.full
@needs_reference_data
def test_the_published_page_is_what_the_command_prints(results: Command) -> None:
    assert 0 == results([str(FOLDER), "--check", str(PAGE)])
