"""Signed checkpoints and their keys: the published examples, and malformed ones."""

import stat
from base64 import b64encode
from pathlib import Path

import pytest

from jury_store import (
    CALIBRATION,
    STREAMS,
    BadNote,
    BadSealKey,
    PublicKey,
    SealKey,
    SealKeyFileError,
    make_key_files,
    read_checkpoint,
    read_public_keys,
    read_seal_key,
    read_statement,
    sign_checkpoint,
    sign_statement,
    signature_fault,
    statement_fault,
)
from support.weak_keys import vkey, weak_keys

# The example key pair and note of Go's golang.org/x/mod/sumdb/note.
PRIVATE = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
PUBLIC = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
OTHER = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
TEXT = b"If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
SIGNATURE = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="

ROOT = bytes(range(32))
KEY = SealKey("example.com/jury", bytes(32))
NOTE = sign_checkpoint(42, ROOT, KEY)
BODY, _, SIGNED = NOTE.rpartition(b"\n\n")


def test_the_published_key_signs_as_published() -> None:
    key = SealKey.parse(PRIVATE)

    assert SIGNATURE == b64encode(key.public.key_id + key.sign(TEXT)).decode()
    assert (PUBLIC, PRIVATE) == (key.public.line, key.secret_line)
    assert PublicKey.parse(PUBLIC) == key.public


def test_a_note_contains_name_size_and_root_and_is_signed() -> None:
    checkpoint = read_checkpoint(NOTE)

    assert f"example.com/jury\n42\n{b64encode(ROOT).decode()}\n".encode() == checkpoint.text
    assert ("example.com/jury", 42, ROOT) == checkpoint[:3]
    assert signature_fault(checkpoint, [KEY.public]) is None


def test_the_checkpoint_of_the_specification_is_read() -> None:
    note = (
        "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
        "\u2014 example.com/behind-the-sofa "
        "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
    )

    checkpoint = read_checkpoint(note.encode())

    assert ("example.com/behind-the-sofa", 20852163) == (checkpoint.origin, checkpoint.tree_size)
    assert "033de0ae" == checkpoint.signatures[0].key_id.hex()


def test_signatures_of_unknown_keys_are_ignored() -> None:
    witness = SealKey("witness.example/w", bytes([1]) * 32)
    line = b64encode(witness.public.key_id + witness.sign(BODY + b"\n")).decode()
    checkpoint = read_checkpoint(NOTE + f"\u2014 witness.example/w {line}\n".encode())

    assert len(checkpoint.signatures) == 2
    assert signature_fault(checkpoint, [KEY.public]) is None
    assert signature_fault(checkpoint, [witness.public, KEY.public]) is None
    assert "none of the keys given" in str(signature_fault(checkpoint, [PublicKey.parse(OTHER)]))


def _signed_by(*keys: SealKey) -> bytes:
    text = BODY + b"\n"
    lines = [(key.public.name, b64encode(key.public.key_id + key.sign(text)).decode()) for key in keys]
    return text + b"\n" + "".join(f"\u2014 {name} {one}\n" for name, one in lines).encode()


def test_a_note_without_a_signature_named_as_its_log_is_refused() -> None:
    other = SealKey("example.com/other", bytes([1]) * 32)

    with pytest.raises(BadNote, match=r"of the log example.com/jury and has only signatures named example.com/other"):
        read_checkpoint(_signed_by(other))


def test_a_key_signs_for_the_log_of_its_own_name_alone() -> None:
    other = SealKey("example.com/other", bytes([1]) * 32)
    checkpoint = read_checkpoint(_signed_by(KEY, other))

    assert signature_fault(checkpoint, [KEY.public, other.public]) is None
    assert "only example.com/other signed it" in str(signature_fault(checkpoint, [other.public]))


def test_points_of_small_order_are_refused_as_keys(subtests: pytest.Subtests) -> None:
    for raw in weak_keys():
        with subtests.test(raw=raw), pytest.raises(BadSealKey, match=r"the key example\.com/jury is refused"):
            PublicKey.parse(vkey("example.com/jury", raw))


def test_an_invalid_signature_makes_the_note_invalid() -> None:
    changed = read_checkpoint(NOTE.replace(b"\n42\n", b"\n43\n"))

    assert "example.com/jury+" in str(signature_fault(changed, [KEY.public]))
    assert "not valid for this text" in str(signature_fault(changed, [KEY.public, PublicKey.parse(OTHER)]))


def test_every_flipped_bit_of_a_note_is_found() -> None:
    accepted = []
    for at in range(len(NOTE) * 8):
        changed = bytearray(NOTE)
        changed[at // 8] ^= 1 << at % 8
        try:
            fault = signature_fault(read_checkpoint(bytes(changed)), [KEY.public])
        except BadNote:
            continue
        if fault is None:
            accepted.append(at)

    assert [] == accepted


def test_every_cut_note_is_refused() -> None:
    for length in range(len(NOTE)):
        with pytest.raises(BadNote):
            read_checkpoint(NOTE[:length])


MALFORMED = [
    b"",
    b"\n\n",
    b"\xff" + NOTE,
    b"\xef\xbb\xbf" + NOTE[:-1],
    NOTE.replace(b"\n", b"\r\n"),
    NOTE + b"\n",
    NOTE + b"more\n",
    NOTE.replace(b"\n42\n", b"\n042\n"),
    NOTE.replace(b"\n42\n", b"\n-42\n"),
    NOTE.replace(b"\n42\n", "\n\u0664\u0662\n".encode()),
    NOTE.replace(b"\n42\n", b"\n9223372036854775808\n"),
    NOTE.replace(b"\n42\n", b"\n" + b"9" * 5000 + b"\n"),
    NOTE.replace(b"\n42\n", b"\n\n42\n"),
    NOTE.replace(b"\n42\n", b"\n"),
    NOTE.replace(b64encode(ROOT), b64encode(ROOT[:31])),
    NOTE.replace(b64encode(ROOT), b64encode(ROOT).rstrip(b"=")),
    NOTE.replace(b64encode(ROOT), b64encode(ROOT)[:-2] + b"9="),
    BODY + b"\n\n" + SIGNED.replace("\u2014".encode(), b"-"),
    BODY + b"\n\n" + SIGNED.replace(b"example.com/jury", b"exam ple"),
    BODY + b"\n\n" + SIGNED.replace(b"example.com/jury", b"a+b"),
    BODY + b"\n\n" + "\u2014 name AAAA\n".encode(),
    BODY + b"\n\n" + SIGNED * 101,
    BODY + b"\n" + b"x" * 70_000 + b"\n\n" + SIGNED,
    TEXT + f"\n\u2014 PeterNeumann {SIGNATURE}\n".encode(),
]


def test_malformed_checkpoints_are_refused(subtests: pytest.Subtests) -> None:
    for note in MALFORMED:
        with subtests.test(note=note), pytest.raises(BadNote, match="not a checkpoint"):
            read_checkpoint(note)


def test_extension_lines_belong_to_the_signed_text() -> None:
    text = BODY + b"\nmore to come\n"
    signed = b64encode(KEY.public.key_id + KEY.sign(text)).decode()

    checkpoint = read_checkpoint(text + f"\n\u2014 example.com/jury {signed}\n".encode())

    assert 42 == checkpoint.tree_size
    assert signature_fault(checkpoint, [KEY.public]) is None


@pytest.mark.parametrize("line", [PUBLIC, PRIVATE], ids=["public", "private"])
def test_a_mangled_key_is_refused_and_not_repeated(line: str) -> None:
    parse = PublicKey.parse if line == PUBLIC else SealKey.parse
    mangled = [line[:at] for at in range(len(line))]
    mangled += [line[:at] + chr(ord(line[at]) + 1) + line[at + 1 :] for at in range(len(line))]
    mangled += ["PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", line + "\n", "\u2028" + line]

    for one in mangled:
        with pytest.raises(BadSealKey) as caught:
            parse(one)
        assert one[30:] not in str(caught.value) or not one[30:]


def test_a_private_key_as_public_key_is_refused_without_printing_it() -> None:
    with pytest.raises(BadSealKey, match=r"private key.*\.pub") as caught:
        PublicKey.parse(PRIVATE)

    assert PRIVATE[-20:] not in str(caught.value)
    assert PRIVATE[-20:] not in repr(SealKey.parse(PRIVATE))


NO_NAMES = ["", "a b", "a+b", "a\n", "a\u00a0b", "a\u200bb", "x" * 201]


def test_invalid_key_names_are_refused(subtests: pytest.Subtests) -> None:
    for name in NO_NAMES:
        with subtests.test(name=name), pytest.raises(BadSealKey, match="cannot name a key"):
            SealKey.generate(name)


def test_key_files_are_written_once_and_read(tmp_path: Path) -> None:
    key = make_key_files(tmp_path / "seal.key", "example.com/jury")

    assert read_seal_key(tmp_path / "seal.key").public == key.public
    assert (key.public,) == read_public_keys(tmp_path / "seal.key.pub")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("seal.key", "seal.key.pub")]
    assert 0o600 == modes[0]
    assert 0o600 == modes[1] & 0o600
    with pytest.raises(SealKeyFileError, match="never overwritten"):
        make_key_files(tmp_path / "seal.key", "example.com/jury")
    assert read_seal_key(tmp_path / "seal.key").public == key.public


def test_no_single_file_of_a_pair_remains(tmp_path: Path) -> None:
    (tmp_path / "seal.key.pub").write_text(PUBLIC)

    with pytest.raises(SealKeyFileError, match="never overwritten"):
        make_key_files(tmp_path / "seal.key", "example.com/jury")
    with pytest.raises(SealKeyFileError, match="cannot be written"):
        make_key_files(tmp_path / "none" / "seal.key", "example.com/jury")

    assert ["seal.key.pub"] == [path.name for path in tmp_path.iterdir()]


def test_a_file_may_contain_several_public_keys(tmp_path: Path) -> None:
    (tmp_path / "keys.pub").write_text(f"{PUBLIC}\n\n  {OTHER}\r\n")

    assert [PUBLIC, OTHER] == [key.line for key in read_public_keys(tmp_path / "keys.pub")]


NO_PUBLIC_KEYS = [
    (b"", "contains no key"),
    (b"\xff\xfe", "not UTF-8"),
    (b"x" * 70_000, "larger than 64 KiB"),
    (PUBLIC.encode() + b"\nnonsense\n", "key 2: this is not a key"),
    (PRIVATE.encode(), "key 1: this is a private key"),
]


def test_a_file_without_keys_is_reported(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for content, named in NO_PUBLIC_KEYS:
        with subtests.test(content=content):
            (tmp_path / "keys.pub").write_bytes(content)

            with pytest.raises(BadSealKey, match=named) as caught:
                read_public_keys(tmp_path / "keys.pub")

            assert str(tmp_path / "keys.pub") in str(caught.value)


NO_PRIVATE_KEY = [("", "this file has 0"), (PUBLIC, "not a private key"), ("a\nb", "has 2")]


def test_a_file_without_a_private_key_is_reported(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for content, named in NO_PRIVATE_KEY:
        with subtests.test(content=content):
            (tmp_path / "seal.key").write_text(content)

            with pytest.raises(BadSealKey, match=named):
                read_seal_key(tmp_path / "seal.key")
            with pytest.raises(SealKeyFileError, match="cannot be read"):
                read_seal_key(tmp_path / "none")


ONE, ANOTHER = SealKey("example.com/jury", b"\x01" * 32), SealKey("example.com/jury", b"\x02" * 32)
DIGEST = "9a" * 32


def test_a_signed_statement_is_read_back() -> None:
    found = read_statement(sign_statement(STREAMS, DIGEST, ONE), STREAMS)

    assert ("example.com/jury", DIGEST) == (found.signer, found.digest)
    assert statement_fault(found, [ANOTHER.public, ONE.public]) is None


def test_every_changed_character_is_found() -> None:
    note = sign_statement(CALIBRATION, DIGEST, ONE)
    passed = []
    for place, character in enumerate(note):
        for other in {"0", "\n", " ", "A"} - {character}:
            changed = note[:place] + other + note[place + 1 :]
            try:
                fault = statement_fault(read_statement(changed, CALIBRATION), [ONE.public])
            except BadNote:
                continue
            passed += [changed] if fault is None else []

    assert [] == passed


def test_a_cut_or_longer_note_is_none(subtests: pytest.Subtests) -> None:
    for cut in range(1, 12):
        with subtests.test(cut=cut):
            note = sign_statement(STREAMS, DIGEST, ONE)
            for other in (note[:-cut], note[cut:], note + "x" * cut, note + note, "\n" * cut + note):
                with pytest.raises(BadNote):
                    read_statement(other, STREAMS)


def test_another_key_of_the_name_is_not_the_key() -> None:
    found = read_statement(sign_statement(STREAMS, DIGEST, ANOTHER), STREAMS)

    assert "which is none of the keys given" in (statement_fault(found, [ONE.public]) or "")


def test_a_statement_is_of_its_kind_alone_and_no_checkpoint() -> None:
    note = sign_statement(STREAMS, DIGEST, ONE)
    with pytest.raises(BadNote):
        read_statement(note, CALIBRATION)
    with pytest.raises(BadNote):
        read_checkpoint(note.encode())
    with pytest.raises(BadNote):
        read_statement(sign_checkpoint(7, b"\x00" * 32, ONE).decode(), STREAMS)
