"""`jury replay` and `jury regress`: output, exit codes, and that no model is called."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jury_events import Verdict
from jury_replay import SUFFIX
from support.command_line import CommandLine, environment
from support.corpus import CORPUS
from support.runtime_harness import Run
from support.stores import filled

# What a connection would need is refused, and the imported modules are printed at the end.
_WATCHED = """
import atexit, sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo") or (event == "socket.__new__" and arguments[1] != 1):
        raise SystemExit(f"the network was touched: {event} {arguments}")
sys.addaudithook(refuse)
atexit.register(lambda: print(sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr))
from jury_cli.main import main
main()
"""


@pytest.fixture(scope="module", params=[10, pytest.param(1000, marks=pytest.mark.long)])
def debates(request: pytest.FixtureRequest) -> int:
    """How many debates are recorded."""
    number: int = request.param
    return number


@pytest.fixture(scope="module")
def many(debates: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose store has that many recorded debates."""
    folder = tmp_path_factory.mktemp("many")
    filled(folder / "jury.db", Run, debates=debates, preset="independent")
    return folder


def test_many_debates_replay_equal_without_a_network_a_cluster_or_an_sdk(many: Path, debates: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, "replay", "--all", "--processes", "1"],
        cwd=many,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, f"{debates} debates: {debates:,} equal\n") == (done.returncode, done.stdout), done.stderr
    imported = set(json.loads(done.stderr.splitlines()[-1].replace("'", '"')))
    assert "jury_replay" in imported
    assert not imported & {"ray", "openai", "anthropic", "google", "httpx", "httpx2", "starlette", "uvicorn"}


def test_debates_are_chosen_by_name_or_run(many: Path, debates: int) -> None:
    jury = CommandLine(many)

    assert "2 debates: 2 equal\n" == jury("replay", "d1", "d2", "d1").out
    assert debates == jury("replay", "--run", "run", "--json").json["equal"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with three recorded debates."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in ("tie-of-two", "half-points-rounded-up", "median-on-the-edge"):
        shutil.copy(CORPUS / f"{name}{SUFFIX}", folder)
    return folder


@pytest.fixture
def ties_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another rule: half of the votes fail."""
    from jury_debate.rules_1 import votes

    counted = votes.count

    def count(method, cast, bands):  # type: ignore[no-untyped-def]
        verdict, score = counted(method, cast, bands)
        return (Verdict.UNSAFE_FAIL, score) if method == "majority_vote" and len(cast) == 2 else (verdict, score)

    monkeypatch.setattr(votes, "count", count)


def test_what_did_not_change_passes(corpus: Path) -> None:
    ended = CommandLine(corpus)("regress", ".")

    assert (0, "3 cassettes: 3 same\n", "") == (ended.code, ended.out, ended.err)


def test_a_changed_verdict_fails_until_it_is_accepted(corpus: Path, ties_fail: None) -> None:
    jury = CommandLine(corpus)

    failed, accepted, passed = jury("regress", "."), jury("regress", ".", "--accept"), jury("regress", ".")

    assert 1 == failed.code
    assert "tie-of-two: was needs_review 55, is unsafe_fail 55" in failed.out
    assert failed.out.endswith("3 cassettes: 2 same, 1 changed\n")
    assert (0, "3 cassettes: 2 same, 1 accepted\n") == (accepted.code, accepted.out.splitlines(keepends=True)[-1])
    assert (0, "3 cassettes: 3 same\n") == (passed.code, passed.out)


def test_an_accepted_change_that_is_taken_back_fails_until_that_is_accepted(
    corpus: Path, ties_fail: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    jury = CommandLine(corpus)
    jury("regress", ".", "--accept")
    monkeypatch.undo()

    failed, accepted = jury("regress", "."), jury("regress", ".", "--accept")

    assert 1 == failed.code
    assert "the accepted change does not occur any more" in failed.out
    assert 0 == accepted.code
    assert [] == list(corpus.glob("*.accepted.json"))


@pytest.mark.parametrize("content", [b'{"differences": 1}', b"\xff\xfe", b"[" * 99_999])
def test_an_accepted_file_that_does_not_read_is_named_and_can_be_accepted_anew(corpus: Path, content: bytes) -> None:
    jury = CommandLine(corpus)
    (corpus / "tie-of-two.accepted.json").write_bytes(content)

    failed, accepted, passed = jury("regress", "."), jury("regress", ".", "--accept"), jury("regress", ".")

    assert (1, 0, 0) == (failed.code, accepted.code, passed.code)
    assert "tie-of-two.accepted.json" in failed.out
    assert "accept them again, or delete it" in failed.out


def test_a_cassette_whose_texts_were_erased_differs_from_a_broken_one(corpus: Path) -> None:
    jury = CommandLine(corpus)
    jury("import", f"tie-of-two{SUFFIX}")
    jury("erase", "corpus~tie-of-two", "--by", "ops", "--reason", "asked", "--yes")
    (corpus / f"tie-of-two{SUFFIX}").unlink()
    jury("export", "corpus~tie-of-two", "-o", f"tie-of-two{SUFFIX}")

    failed = jury("regress", ".")

    assert 5 == failed.code
    assert "texts of it were erased, on record, and it cannot be replayed; remove it from the corpus" in failed.out


def test_every_difference_can_be_had_as_data(corpus: Path, ties_fail: None) -> None:
    lines = {Path(line["cassette"]).name: line for line in CommandLine(corpus)("regress", ".", "--jsonl").lines}

    changed = lines[f"tie-of-two{SUFFIX}"]
    assert ("changed", {"verdict": "unsafe_fail", "score": 55}) == (changed["status"], changed["now"])
    assert {"path": "final_verdict", "recorded": "needs_review", "now": "unsafe_fail"} in [
        change for one in changed["differences"] for change in one["changes"]
    ]


def test_a_damaged_cassette_is_named_and_the_others_are_replayed(corpus: Path) -> None:
    path = corpus / f"tie-of-two{SUFFIX}"
    path.write_bytes(path.read_bytes().replace(b"safe_pass", b"sure_pass", 1))

    ended = CommandLine(corpus)("regress", ".")

    assert 5 == ended.code
    assert "tie-of-two" in ended.out.splitlines()[0]
    assert "3 cassettes: 2 same, 1 unreadable" == ended.out.splitlines()[-1]


def _pytest(folder: Path, *arguments: str, rules: str = "") -> "subprocess.CompletedProcess[str]":
    """pytest as a project that depends on Jury Judge calls it; `rules` is run before."""
    (folder / "conftest.py").write_text(rules)
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env={**os.environ}, capture_output=True, text=True, check=False)


_ALL_FAIL = """
from jury_debate.rules_1 import votes
from jury_events.verdict import Verdict
counted = votes.count
votes.count = lambda method, cast, bands: (Verdict.UNSAFE_FAIL, counted(method, cast, bands)[1])
"""


@pytest.mark.full
def test_pytest_fails_readably_until_a_change_is_accepted(corpus: Path) -> None:
    failed = _pytest(corpus.parent, "--jury-corpus", "corpus", rules=_ALL_FAIL)
    accepted = _pytest(corpus.parent, "--jury-corpus", "corpus", "--jury-accept", rules=_ALL_FAIL)
    passed = _pytest(corpus.parent, "--jury-corpus", "corpus", rules=_ALL_FAIL)

    assert 1 == failed.returncode
    assert "tie-of-two: was needs_review 55, is unsafe_fail 55" in failed.stdout
    assert "if this is wanted: the same command with --jury-accept" in failed.stdout
    assert "Traceback" not in failed.stdout
    assert (0, 0) == (accepted.returncode, passed.returncode)


@pytest.mark.full
def test_pytest_names_a_cassette_that_it_does_not_look_for(corpus: Path) -> None:
    (corpus.parent / "build").mkdir()
    corpus.rename(corpus.parent / "build" / "corpus")

    done = _pytest(corpus.parent, "--jury-corpus", "build/corpus")

    assert 4 == done.returncode
    assert "--jury-corpus: pytest does not look for " in done.stderr + done.stdout
