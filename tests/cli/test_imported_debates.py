"""An imported debate did not run here: no run counts it, and every list marks it."""

import shutil
from pathlib import Path

import pytest

from jury_store import Sealer, SealKey, open_store
from support.command_line import CommandLine

KEY = SealKey("example.com/jury", bytes(32))
SUFFIX = ".cassette.jsonl"


@pytest.fixture(scope="module")
def origin(judged: CommandLine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cassettes of run r1, under a seal by `KEY`, and without one in the folder `bare`."""
    folder = tmp_path_factory.mktemp("origin")
    shutil.copytree(judged.folder, folder, dirs_exist_ok=True)
    there = CommandLine(folder)
    assert there("export", "--run", "r1", "-o", "bare").code == 0
    store = open_store(f"sqlite:///{folder / 'jury.db'}", write=True)
    seal = Sealer(store, KEY, lambda: 1).next()
    assert seal is not None
    store.store_seal(seal)
    store.close()
    assert there("export", "--run", "r1", "-o", "sealed").code == 0
    return folder


@pytest.fixture
def jury(origin: Path, tmp_path: Path) -> CommandLine:
    """An empty folder with the same cases, and the key."""
    shutil.copy(origin / "cases.jsonl", tmp_path)
    (tmp_path / "key.pub").write_text(KEY.public.line + "\n")
    (tmp_path / "stranger.pub").write_text(SealKey("example.com/jury", bytes(31) + b"\1").public.line + "\n")
    return CommandLine(tmp_path)


def run(jury: CommandLine, *more: str):
    return jury.run(
        "cases.jsonl", "--run", "r1", "--jsonl", "--fail-on", "needs_review", "--fail-on", "unsafe_fail", *more
    )


def test_a_run_does_not_take_imported_debates_for_judged(jury, origin):
    assert jury("import", str(origin / "bare" / f"r1~leak{SUFFIX}")).code == 0

    refused = run(jury)
    elsewhere = jury.run("cases.jsonl", "--run", "r2", "--jsonl")

    assert (refused.code, refused.out) == (2, "")
    assert "run 'r1': r1~leak came in a cassette, so it does not count" in refused.err
    assert "--adopt KEY.pub" in refused.err
    assert (elsewhere.code, len(elsewhere.lines)) == (0, 3)


def test_what_a_trusted_key_sealed_is_adopted(jury, origin):
    assert jury("import", str(origin / "sealed")).code == 0

    refused, stranger = run(jury), run(jury, "--adopt", "stranger.pub")
    taken = jury.run("cases.jsonl", "--run", "r1", "--jsonl", "--adopt", "key.pub")

    assert (refused.code, stranger.code) == (2, 2)
    assert "is not adopted: the note of its seal: it is signed by" in stranger.err
    assert (taken.code, [line["case_id"] for line in taken.lines]) == (0, ["polite", "leak", "返金"])


def test_lists_and_show_say_imported_and_how_far_its_origin_is_shown(jury, origin):
    assert jury("import", str(origin / "bare" / f"r1~leak{SUFFIX}")).code == 0
    assert jury("import", str(origin / "sealed" / f"r1~polite{SUFFIX}")).code == 0
    rest = [
        str(path) for path in (origin / "sealed").iterdir() if "leak" not in path.name and "polite" not in path.name
    ]
    assert jury("import", *rest, "--key", "key.pub").code == 0

    listed = jury("list").out.splitlines()
    rows = {row["debate_id"]: (row["imported"], row["imported_from"]) for row in jury("list", "--json").json}

    assert [line[line.index("  [") :] for line in listed] == [
        "  [imported, sealed by example.com/jury]",
        "  [imported, sealed by example.com/jury, not checked]",
        "  [imported, unsealed]",
    ]
    assert rows["r1~leak"] == ("unsealed", None)
    assert rows["r1~polite"] == ("sealed", "example.com/jury")
    assert "Imported from another store; no seal shows its origin." in jury("show", "r1~leak").out
    assert "its seal names the log example.com/jury" in jury("show", "r1~polite").out


def test_a_debate_is_set_aside_and_taken_back(jury, origin):
    assert jury("import", str(origin / "bare")).code == 0

    aside = jury("db", "quarantine", "r1~leak", "--by", "ops", "--reason", "forged")
    listed = jury("list", "--json")
    names = [row["debate_id"] for row in listed.json]
    only = jury("list", "--quarantined").out
    refused = jury.run("cases.jsonl", "--run", "r1")
    shown = jury("show", "r1~leak")
    back = jury("db", "release", "r1~leak", "--by", "ops")

    assert (aside.code, aside.err) == (0, "r1~leak: set aside\n")
    assert "r1~leak" not in names
    assert listed.err == "debates in quarantine are left out: jury list --quarantined shows them\n"
    assert "[in quarantine: forged]" in only
    assert "r1~leak" in only
    assert refused.code == 2
    assert (shown.code, "In quarantine: forged" in shown.out) == (0, True)
    assert (back.code, len(jury("list", "--json").json)) == (0, 3)
    assert jury("verify", "--all").code == 0
