"""`jury export` and `jury import`: debates leave a store as files and come into another one, whole or not at all."""

from pathlib import Path

import pytest

from jury_store import Sealer, SealKey, open_store
from support.command_line import CommandLine

SUFFIX = ".cassette.jsonl"


@pytest.fixture
def sealed(own: CommandLine) -> CommandLine:
    """The same, sealed; key.pub and note lie beside it."""
    key = SealKey("example.com/jury", bytes(32))
    store = open_store(f"sqlite:///{own.folder / 'jury.db'}", write=True)
    seal = Sealer(store, key, lambda: 1).next()
    assert seal is not None
    store.store_seal(seal)
    store.close()
    (own.folder / "key.pub").write_text(key.public.line + "\n")
    (own.folder / "note").write_bytes(seal.note)
    return own


def files(folder: Path) -> dict[str, bytes]:
    """Those of debates."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob(f"*{SUFFIX}"))}


def test_one_debate_goes_to_a_file_a_folder_or_stdout(own):
    (own.folder / "there").mkdir()

    codes = [own("export", "r1~leak", "-o", place).code for place in ("one.jsonl", "there", "new/", ".")]

    written = [own.folder / place for place in ("one.jsonl", f"there/r1~leak{SUFFIX}", f"new/r1~leak{SUFFIX}")]
    assert codes == [0, 0, 0, 0]
    assert len({path.read_bytes() for path in (*written, own.folder / f"r1~leak{SUFFIX}")}) == 1


def test_a_folder_goes_into_a_store_that_was_not_there(own):
    own("export", "--all", "-o", "corpus")

    outcome = own("import", "corpus", "--store", "sqlite:///new.db")
    again = own("import", "corpus", "--store", "sqlite:///new.db", "--json")

    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.startswith("3 debates imported (")
    assert again.json | {"events": 0} == again.json
    assert (again.json["imported"], again.json["unchanged"], again.json["refused"]) == (0, 3, [])
    assert own("verify", "--all", "--store", "sqlite:///new.db").code == 0
    shown = own("show", "r1~leak", "--store", "sqlite:///new.db").out.splitlines()
    here = own("show", "r1~leak").out.splitlines()
    said = ("Imported from another store", "Completeness is not proven")
    assert here == [line for line in shown if not line.startswith(said)]
    assert len(said) == len(shown) - len(here)
    own("export", "--all", "-o", "back", "--store", "sqlite:///new.db")
    assert files(own.folder / "back") == files(own.folder / "corpus")


def test_what_does_not_verify_is_refused_and_the_others_go_in(own):
    own("export", "--all", "-o", "corpus")
    path = own.folder / "corpus" / f"r1~leak{SUFFIX}"
    path.write_bytes(path.read_bytes().replace(b"safe_pass", b"safe_fail", 1))

    outcome = own("import", "corpus", "--store", "sqlite:///new.db", "--json")

    assert outcome.code == 5
    assert [one["file"] for one in outcome.json["refused"]] == [f"corpus/r1~leak{SUFFIX}"]
    assert outcome.json["imported"] == 2
    assert outcome.err.startswith(f"jury: corpus/r1~leak{SUFFIX}: ")


def test_nothing_sound_makes_no_store(own):
    (own.folder / "x.cassette.jsonl").write_bytes(b"\x1f\x8b\x08")

    outcome = own("import", "x.cassette.jsonl", "--store", "sqlite:///new.db")

    assert outcome.code == 2
    assert "compressed with gzip: unpack it first" in outcome.err
    assert not (own.folder / "new.db").exists()


def test_only_what_the_key_and_the_checkpoint_vouch_for_goes_in(sealed):
    sealed("export", "--all", "-o", "corpus")
    other = SealKey("example.com/jury", bytes(31) + b"\1").public.line
    (sealed.folder / "other.pub").write_text(other + "\n")

    good = sealed("import", "corpus", "--key", "key.pub", "--checkpoint", "note", "--store", "sqlite:///new.db")
    bad = sealed("import", "corpus", "--key", "other.pub", "--store", "sqlite:///newer.db")

    assert good.code == 0
    assert bad.code == 5
    assert bad.err.count("which is none of the keys given") == 3 + 1  # of the debates and of their run
    assert not (sealed.folder / "newer.db").exists()
