"""`jury seal witness`, `jury seal timestamp`, and what `jury verify` makes of their answers."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from jury_store import read_checkpoint
from support.command_line import CommandLine
from support.loopback import Reply, served
from support.time_stamping import Authority
from support.unguarded import unguarded
from support.witness import Witness


@pytest.fixture(scope="module")
def sealed_once(tmp_path_factory: pytest.TempPathFactory, judged: CommandLine) -> Path:
    """A folder with one run, sealed by `k`."""
    jury = CommandLine(Path(shutil.copytree(judged.folder, tmp_path_factory.mktemp("sealed") / "folder")))
    assert jury("seal", "keygen", "k", "--name", "example.com/jury").code == 0
    jury.write("note", jury("seal", "now", "--key", "k").out)
    return jury.folder


@pytest.fixture
def sealed(sealed_once: Path, tmp_path: Path) -> CommandLine:
    """A copy of it."""
    return CommandLine(Path(shutil.copytree(sealed_once, tmp_path / "sealed")))


@pytest.fixture
def witness(sealed: CommandLine) -> Witness:
    """It knows the log; its key is in `w`."""
    found = Witness("witness.example/w1", 7, (sealed.folder / "k.pub").read_text().strip())
    sealed.write("w", found.vkey)
    return found


@pytest.fixture
def url(witness: Witness) -> Iterator[str]:
    with served(witness.answer) as url:
        yield url


def size_of(jury: CommandLine) -> int:
    return read_checkpoint(jury("seal", "show").out.encode()).tree_size


def grown(jury: CommandLine, run: str) -> int:
    """A run more, and a seal."""
    jury.run("cases.jsonl", "--run", run, "--max-rounds", "0")
    assert jury("seal", "now", "--key", "k").code == 0
    return size_of(jury)


def change(jury: CommandLine, *statements: str) -> None:
    """Change the store behind its back."""
    with unguarded(jury.folder / "jury.db") as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_witness_cosigns_and_the_note_contains_it(sealed, witness, url):
    size = size_of(sealed)

    asked = sealed("seal", "witness", url, "--key", "w")
    verified = sealed("verify", "--witness", "w", "--key", "k.pub")

    checkpoint = read_checkpoint(asked.out.encode())
    assert ["example.com/jury", "witness.example/w1"] == [one.name for one in checkpoint.signatures]
    assert asked.out == sealed("seal", "show").out
    assert f"cosigned by witness.example/w1 over {size} events" in asked.err
    assert verified.code == 0
    assert f"cosigned by enough witnesses over {size} events" in verified.out


def test_a_witness_follows_a_log_that_grows(sealed, witness, url):
    sealed("seal", "witness", url, "--key", "w")
    first = size_of(sealed)
    sizes = [grown(sealed, "r2"), grown(sealed, "r3")]

    asked = sealed("seal", "witness", url, "--key", "w")
    report = sealed("verify", "--witness", "w", "--json").json

    assert asked.code == 0
    assert ["old 0", f"old {first}"] == witness.asked
    assert (True, sizes[-1]) == (report["ok"], report["witnessed"])


def test_events_beyond_the_cosigned_seal_are_counted(sealed, witness, url):
    first = size_of(sealed)
    sealed("seal", "witness", url, "--key", "w")
    grown(sealed, "r2")

    report = sealed("verify", "--witness", "w", "--json").json

    assert (True, first) == (report["ok"], report["witnessed"])


def test_a_log_that_was_rewritten_is_not_cosigned(sealed, witness, url):
    sealed("seal", "witness", url, "--key", "w")
    grown(sealed, "r2")
    change(sealed, "UPDATE events SET hash = zeroblob(32) WHERE position = 2", "DELETE FROM seals")
    (sealed.folder / "k.last").unlink()
    sealed("seal", "now", "--key", "k")

    asked = sealed("seal", "witness", url, "--key", "w")

    assert (asked.code, asked.out) == (5, "")
    assert "events that this log does not begin with: the log was rewritten, cut or restored" in asked.err


def test_a_log_that_was_cut_is_not_cosigned(sealed, witness, url):
    witness.seen["example.com/jury"] = (10**6, bytes(32))

    asked = sealed("seal", "witness", url, "--key", "w")

    assert asked.code == 5
    assert "cosigned 1000000 events of example.com/jury, the seal is over" in asked.err


def test_a_log_that_the_witness_does_not_know_gets_a_remedy(sealed, witness, url):
    known = witness.logs.pop("example.com/jury")
    unknown_log = sealed("seal", "witness", url, "--key", "w")
    witness.logs["example.com/jury"] = [bytes([3]) * 32]
    unknown_key = sealed("seal", "witness", url, "--key", "w")
    witness.logs["example.com/jury"] = known

    assert (4, 4) == (unknown_log.code, unknown_key.code)
    assert "does not know the log example.com/jury: give its operator the log's public key" in unknown_log.err
    assert "does not know the key that signed for example.com/jury" in unknown_key.err
    assert sealed("seal", "witness", url, "--key", "w").code == 0


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        (Reply(500, b"\x1b[31mno"), "answered with status 500"),
        (Reply(200, b"hello\n"), "answered with no signature lines"),
        (Reply(200, b""), "no cosignature by the keys given"),
        (Reply(200, b"x" * 100_000), "more than 64 KiB"),
        (Reply(409, b"soon\n", "text/x.tlog.size"), "cosigned 0 events that this log does not begin with"),
        (Reply(302, b""), "answered with status 302"),
    ],
)
def test_odd_answers_are_named_and_nothing_is_kept(sealed, witness, reply, named):
    with served(lambda *_: reply) as url:
        asked = sealed("seal", "witness", url, "--key", "w")

    assert asked.code in {4, 5}
    assert named in asked.err
    assert "\x1b" not in asked.err
    assert len(asked.err.splitlines()) == 1
    assert (sealed.folder / "note").read_text() == sealed("seal", "show").out


def test_a_cosignature_over_something_else_is_refused(sealed, witness):
    with served(lambda *_: Reply(200, witness.cosign("example.com/jury\n1\nx\n").encode())) as url:
        asked = sealed("seal", "witness", url, "--key", "w")

    assert (asked.code, "a cosignature that is not over the seal" in asked.err) == (4, True)


def test_as_many_witnesses_as_are_required_are_needed(sealed, witness, url):
    other = Witness("witness.example/w2", 8, (sealed.folder / "k.pub").read_text().strip())
    sealed.write("both", f"{witness.vkey}\n{other.vkey}\n")
    sealed("seal", "witness", url, "--key", "w")

    all_of_them = sealed("verify", "--witness", "both")
    one = sealed("verify", "--witness", "both", "--witnesses-required", "1")
    three = sealed("verify", "--witness", "both", "--witnesses-required", "3")
    with served(other.answer) as second:
        sealed("seal", "witness", second, "--key", "both")

    assert (5, 0, 2) == (all_of_them.code, one.code, three.code)
    assert "cosigned by 2 of the witnesses given" in all_of_them.out
    assert "witness.example/w2: none" in all_of_them.out
    assert sealed("verify", "--witness", "both").code == 0


def test_attestations_of_no_seal_are_reported_without_an_option(sealed, witness, url):
    sealed("seal", "witness", url, "--key", "w")
    size = size_of(sealed)
    line = witness.cosign("another text\n")
    change(
        sealed,
        f"INSERT INTO attestations VALUES (x'01', {size}, 'cosignature', x'00', 1)",
        f"INSERT INTO attestations VALUES (x'02', {size}, 'cosignature', 'text', 1)",
        f"INSERT INTO attestations VALUES (x'03', {size}, 'timestamp', x'3000', 1)",
        f"INSERT INTO attestations VALUES (x'04', {size}, 'oracle', x'00', 1)",
        "INSERT INTO attestations VALUES (x'05', 3, 'cosignature', x'00', 1)",
        f"INSERT INTO attestations VALUES (x'06', {size}, 'cosignature', CAST('{line}' AS BLOB), 1)",
    )

    unasked = sealed("verify", "--all")
    asked = sealed("verify", "--witness", "w")
    shown = sealed("seal", "show")

    assert (5, 5) == (unasked.code, asked.code)
    assert 5 == unasked.out.count("what is kept as a")
    assert "the seal over 3 events: no such seal is stored" in unasked.out
    assert "a cosignature of witness.example/w1 over" in asked.out
    assert shown.code == 0
    assert "\x00" not in shown.out


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority") / "one")


def test_a_seal_is_time_stamped_and_verified(sealed, authority):
    size = size_of(sealed)
    with served(authority.answer) as url:
        asked = sealed("seal", "timestamp", url, "--tsa-cert", str(authority.issuer))
    report = sealed("verify", "--tsa-cert", str(authority.issuer), "--json").json
    outcome = sealed("verify", "--tsa-cert", str(authority.issuer), "--key", "k.pub")

    assert (asked.code, authority.kind) == (0, "application/timestamp-query")
    assert (True, size, asked.out.strip()) == (report["ok"], report["stamped"], report["stamped_at"])
    assert f"time-stamped over {size} events, {asked.out.strip()}" in outcome.out
    assert sealed("verify", "--all").code == 0


def test_a_time_stamp_under_another_certificate_is_none(sealed, authority, tmp_path):
    other = Authority(tmp_path / "other")
    with served(authority.answer) as url:
        refused = sealed("seal", "timestamp", url, "--tsa-cert", str(other.issuer))
        unchecked = sealed("seal", "timestamp", url)

    outcome = sealed("verify", "--tsa-cert", str(other.issuer))

    assert (refused.code, unchecked.code) == (4, 0)
    assert "signed by no authority whose certificate was given" in refused.err
    assert "its signature was not checked" in unchecked.err
    assert outcome.code == 5
    assert "no seal that fits the log is time-stamped under the certificates given, though" in outcome.out


def test_a_time_stamp_of_another_seal_is_reported_without_an_option(sealed, authority):
    with served(authority.answer) as url:
        sealed("seal", "timestamp", url)
    change(sealed, f"UPDATE attestations SET tree_size = {grown(sealed, 'r2')}")

    outcome = sealed("verify", "--all")

    assert outcome.code == 5
    assert "it is over another digest" in outcome.out


def test_an_answer_to_another_query_is_refused(sealed, authority):
    first: list[Reply] = []

    def again(path: str, kind: str, body: bytes) -> Reply:
        first.append(authority.answer(path, kind, body))
        return first[0]

    with served(again) as url:
        sealed("seal", "timestamp", url)
        outcome = sealed("seal", "timestamp", url)

    assert (outcome.code, "it repeats another nonce" in outcome.err) == (4, True)


def test_a_log_without_a_seal_has_nothing_to_be_attested(jury: CommandLine, tmp_path: Path):
    jury("db", "upgrade")
    jury.write("w", Witness("witness.example/w1", 7).vkey)

    for call in (("seal", "witness", "http://127.0.0.1:9", "--key", "w"), ("seal", "timestamp", "http://127.0.0.1:9")):
        assert "the log has no seal yet" in jury(*call).err
