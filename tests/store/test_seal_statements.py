"""Signed statements: no other text, kind or key passes, and none is a checkpoint."""

import pytest

from jury_store import (
    CALIBRATION,
    STREAMS,
    BadNote,
    SealKey,
    read_checkpoint,
    read_statement,
    sign_checkpoint,
    sign_statement,
    statement_fault,
)

KEY, OTHER = SealKey("example.com/jury", b"\x01" * 32), SealKey("example.com/jury", b"\x02" * 32)
DIGEST = "9a" * 32


def test_a_signed_statement_is_read_back() -> None:
    found = read_statement(sign_statement(STREAMS, DIGEST, KEY), STREAMS)

    assert ("example.com/jury", DIGEST) == (found.signer, found.digest)
    assert statement_fault(found, [OTHER.public, KEY.public]) is None


def test_every_changed_character_is_found() -> None:
    note = sign_statement(CALIBRATION, DIGEST, KEY)
    passed = []
    for place, character in enumerate(note):
        for other in {"0", "\n", " ", "A"} - {character}:
            changed = note[:place] + other + note[place + 1 :]
            try:
                fault = statement_fault(read_statement(changed, CALIBRATION), [KEY.public])
            except BadNote:
                continue
            passed += [changed] if fault is None else []

    assert [] == passed


def test_a_cut_or_longer_note_is_none(subtests: pytest.Subtests) -> None:
    for cut in range(1, 12):
        with subtests.test(cut=cut):
            note = sign_statement(STREAMS, DIGEST, KEY)
            for other in (note[:-cut], note[cut:], note + "x" * cut, note + note, "\n" * cut + note):
                with pytest.raises(BadNote):
                    read_statement(other, STREAMS)


def test_another_key_of_the_name_is_not_the_key() -> None:
    found = read_statement(sign_statement(STREAMS, DIGEST, OTHER), STREAMS)

    assert "which is none of the keys given" in (statement_fault(found, [KEY.public]) or "")


def test_a_statement_is_of_its_kind_alone_and_no_checkpoint() -> None:
    note = sign_statement(STREAMS, DIGEST, KEY)
    with pytest.raises(BadNote):
        read_statement(note, CALIBRATION)
    with pytest.raises(BadNote):
        read_checkpoint(note.encode())
    with pytest.raises(BadNote):
        read_statement(sign_checkpoint(7, b"\x00" * 32, KEY).decode(), STREAMS)
