"""What a cassette may lack at the end of its streams: said on import and wherever its reviews are shown."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from support.command_line import CommandLine

SUFFIX = ".cassette.jsonl"
WORD = "Later events cannot be excluded"


@pytest.fixture(scope="module")
def reviewed(judged: CommandLine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run r1, `leak` reviewed by two people, one withdrew; sealed; cassettes in `plain`, signed ones in `signed`."""
    folder = tmp_path_factory.mktemp("reviewed")
    shutil.copytree(judged.folder, folder, dirs_exist_ok=True)
    there = CommandLine(folder)
    commands = [
        *(("seal", "keygen", name, "--name", f"example.com/{name}") for name in ("ours", "theirs")),
        ("review", "r1~leak", "--reviewer", "ann", "--verdict", "unsafe_fail"),
        ("review", "r1~leak", "--reviewer", "bo", "--verdict", "safe_pass"),
        ("review", "r1~leak", "--reviewer", "bo", "--withdraw", "2"),
        ("seal", "now", "--key", "ours"),
        ("export", "r1~leak", "-o", "plain/"),
        ("export", "--run", "r1", "-o", "signed", "--seal-key", "ours"),
    ]
    for command in commands:
        done = there(*command)
        assert 0 == done.code, (command, done.err)
    return folder


@pytest.fixture
def origin(reviewed: Path, tmp_path: Path) -> CommandLine:
    """A copy of that folder."""
    shutil.copytree(reviewed, tmp_path, dirs_exist_ok=True)
    return CommandLine(tmp_path)


def cut(path: Path, *, reviews: int) -> Path:
    """The cassette as an attacker leaves it: fewer reviews, a proof less, and the SHA-256 of what remains."""
    lines = path.read_bytes().splitlines(keepends=True)
    manifest = json.loads(lines[0])
    name = f"review/{manifest['debate_id']}"
    events = [line for line in lines[1:] if json.loads(line).get("stream") == name]
    kept = events[:reviews]
    lines = [line for line in lines if line not in events[reviews:]]
    manifest["streams"].pop(name)
    if kept:
        manifest["streams"][name] = {"events": reviews, "head": json.loads(kept[-1])["hash"]}
    at = next(place for place, line in enumerate(lines) if place and "note" in line.decode() and b'"streams"' in line)
    seal = json.loads(lines[at])
    if "lengths" not in seal:
        seal["streams"].pop(name)
        lines[at] = line_of(seal)
    manifest["sha256"] = hashlib.sha256(b"".join(lines[1:])).hexdigest()
    path.write_bytes(b"".join([line_of(manifest), *lines[1:]]))
    return path


def line_of(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def test_an_import_says_which_streams_may_go_on_and_so_does_every_form_of_the_result(origin: CommandLine) -> None:
    done = origin("import", "plain", "--key", "ours.pub", "--store", "sqlite:///other.db")
    shown = origin("show", "r1~leak", "--store", "sqlite:///other.db")
    result = json.loads(origin("show", "r1~leak", "--json", "--store", "sqlite:///other.db").out)
    origin("export", "r1~leak", "--html", "-o", "page.html", "--store", "sqlite:///other.db")
    here = json.loads(origin("show", "r1~leak", "--json").out)

    assert 0 == done.code, done.err
    assert "later events of these streams cannot be excluded: debate/r1~leak, calls/r1~leak, review/r1~leak" in done.err
    assert 2 == shown.out.count(WORD)
    assert {"excluded_as_of": None, "signed_by": None} == result["later_events"]
    assert here["later_events"] is None
    page = (origin.folder / "page.html").read_text()
    assert WORD in page
    assert "later events cannot be excluded</span>" in page


def test_a_cassette_without_its_reviews_is_imported_with_that_word(origin: CommandLine) -> None:
    cut(origin.folder / "plain" / f"r1~leak{SUFFIX}", reviews=0)
    done = origin("import", "plain", "--key", "ours.pub", "--store", "sqlite:///other.db", "--json")
    shown = origin("show", "r1~leak", "--store", "sqlite:///other.db")

    assert 0 == done.code, done.err
    assert ["debate/r1~leak", "calls/r1~leak", "review/r1~leak"] == json.loads(done.out)["later_events_not_excluded"]
    assert WORD in shown.out


@pytest.mark.parametrize("reviews", [0, 1, 2])
def test_a_cut_cassette_with_signed_lengths_is_refused(origin: CommandLine, reviews: int) -> None:
    path = cut(origin.folder / "signed" / f"r1~leak{SUFFIX}", reviews=reviews)
    done = origin("import", str(path), "--key", "ours.pub", "--store", "sqlite:///other.db")
    replayed = origin("regress", str(path))

    assert 5 == done.code
    assert f"the stream review/r1~leak has {reviews} events here, and 3 in the lengths signed by example.com/ours" in (
        done.err
    )
    assert 0 != replayed.code
    assert "and 3 in the lengths" in replayed.err + replayed.out


def test_signed_lengths_under_a_trusted_key_say_as_of_when(origin: CommandLine) -> None:
    done = origin("import", "signed", "--key", "ours.pub", "--store", "sqlite:///other.db", "--json")
    shown = origin("show", "r1~leak", "--store", "sqlite:///other.db")
    result = json.loads(origin("show", "r1~leak", "--json", "--store", "sqlite:///other.db").out)
    verified = origin("verify", "--all", "--deep", "--store", "sqlite:///other.db")

    assert 0 == done.code, done.err
    assert [] == json.loads(done.out)["later_events_not_excluded"]
    assert WORD not in shown.out
    assert "Its streams are complete as of 20" in shown.out
    assert "example.com/ours" == result["later_events"]["signed_by"]
    assert 0 == verified.code, verified.err


def test_lengths_signed_by_an_unknown_key_are_as_none_and_that_is_said(origin: CommandLine) -> None:
    origin("export", "r1~leak", "-o", "theirs.cassette.jsonl", "--seal-key", "theirs")
    known = origin("import", "theirs.cassette.jsonl", "--key", "ours.pub", "--store", "sqlite:///other.db")
    without = origin("import", "theirs.cassette.jsonl", "--store", "sqlite:///third.db")

    for done in (known, without):
        assert 0 == done.code, done.err
        assert "lengths of streams are signed by example.com/theirs+" in done.err
        assert "later events of these streams cannot be excluded" in done.err


def test_lengths_of_an_imported_debate_are_not_signed_by_who_imported_it(origin: CommandLine) -> None:
    origin("import", "plain", "--key", "ours.pub", "--store", "sqlite:///other.db")
    done = origin("export", "--all", "-o", "again", "--seal-key", "theirs", "--store", "sqlite:///other.db")

    assert 0 == done.code, done.err
    assert "r1~leak: events of it were imported, so its lengths are not signed here" in done.err
    assert b'"lengths"' not in (origin.folder / "again" / f"r1~leak{SUFFIX}").read_bytes()
