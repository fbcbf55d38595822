"""JSON files that say a digest of their content, and may have a signed note over it: calibrations and ladders."""

import json
import os
from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from jury_analysis.certificate_check import Contradiction
from jury_events.canonical import canonical_json
from jury_events.strict_json import JsonRefused, decode_text
from jury_events.text import visible_line
from jury_judge.errors import CalibrationUntrusted, PanelFileError
from jury_judge.panels.document import read_text
from jury_store.errors import BadNote
from jury_store.seals.keys import PublicKey, SealKey
from jury_store.seals.statement import CALIBRATION, read_statement, sign_statement, statement_fault

DIGEST = "digest"
NOTE = "note"


class FileKind(NamedTuple):
    """A kind of such files.

    Attributes:
        field: has the number of the format; only files of this kind have it.
        formats: that are known.
        name: in messages.
        written_by: the command that writes one.
    """

    field: str
    formats: tuple[int, ...]
    name: str
    written_by: str


def digest_bytes(content: Mapping[str, Any], kind: FileKind, number: int) -> bytes:
    """The bytes of a file with this content: canonical JSON with the number of the format and `digest`."""
    document = {**content, kind.field: number}
    return canonical_json({**document, DIGEST: _digest(document)}) + b"\n"


def read_digest_file(path: Path, name: str, kind: FileKind) -> dict[str, Any]:
    """Such a file as JSON values; its digest is that of the rest without the note."""
    text = read_text(path, name, lambda: f"{name}: there is no such {kind.name} file; {kind.written_by} -o writes one")
    try:
        document = decode_text(text)
    except JsonRefused as error:
        raise PanelFileError(f"{name}: not a {kind.name} file: {error}") from error
    if not isinstance(document, dict) or kind.field not in document or DIGEST not in document:
        raise PanelFileError(f"{name}: not a {kind.name} file; {kind.written_by} -o writes one")
    if document[kind.field] not in kind.formats or isinstance(document[kind.field], bool):
        raise PanelFileError(
            f"{name}: a {kind.name} file of format {document[kind.field]!r:.20} is not known; upgrade jury-judge"
        )
    return document


def check_digest(document: Mapping[str, Any], name: str, kind: FileKind) -> None:
    """Refuse a file that was changed after it was written."""
    digest = document[DIGEST]
    found = _digest({key: value for key, value in document.items() if key not in {DIGEST, NOTE}})
    if digest != found:
        raise PanelFileError(
            f"{name}: was changed after {kind.written_by} wrote it (its digest is {str(digest)[:16]}, that of its "
            f"content {found[:16]}): restore the file, or calibrate again"
        )


def signed_bytes(document: Mapping[str, Any], key: SealKey) -> bytes:
    """The bytes of such a file (`read_digest_file`) with the key's signed note over its digest."""
    note = sign_statement(CALIBRATION, document[DIGEST], key)
    return canonical_json({**document, NOTE: note}) + b"\n"


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole, or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def signer_of(name: str, digest: str, note: Any, trust: Collection[PublicKey]) -> str | None:
    """The trusted key that signed the digest; None where none is asked for."""
    if note is None:
        if trust:
            raise CalibrationUntrusted(
                f"{name}: is not signed, and only calibrations by a trusted key are taken: sign it with: "
                "jury seal calibration FILE --key KEY"
            )
        return None
    again = "restore the file, or sign it again with: jury seal calibration FILE --key KEY"
    try:
        statement = read_statement(str(note), CALIBRATION)
    except BadNote as error:
        raise CalibrationUntrusted(f"{name}: its note: {error}; {again}") from None
    if statement.digest != digest:
        raise CalibrationUntrusted(
            f"{name}: its note by {visible_line(statement.key, 200)} is over the content {statement.digest[:16]}, its "
            f"content is {digest[:16]}: {again}"
        )
    if not trust:
        return None
    if (fault := statement_fault(statement, trust)) is not None:
        raise CalibrationUntrusted(f"{name}: its note: {visible_line(fault, 400)}; {again}")
    return statement.key


def contradicted(found: Contradiction) -> str:
    """What a file says against its own counts, in words."""
    said, recomputed = (visible_line(json.dumps(one, ensure_ascii=False), 200) for one in found[1:])
    return (
        f"{found.field} is {said}, and by the counts of its certificate it is {recomputed}: a calibration that "
        "contradicts itself is not applied; restore the file, or calibrate again"
    )


def _digest(document: Mapping[str, Any]) -> str:
    return sha256(canonical_json(dict(document))).hexdigest()
