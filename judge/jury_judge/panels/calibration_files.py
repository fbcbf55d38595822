"""Files of `jury calibrate`: JSON with what was found, a digest of it, and a signed note where one was asked for.

A calibration is of one panel, a ladder (`panels.ladders`) of several stages; both are files of a `FileKind`.
"""

import json
import os
from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from jury_analysis.certificate_check import Contradiction, RecordedCalibration, contradiction
from jury_events.calibration import Calibration
from jury_events.canonical import canonical_json
from jury_events.strict_json import JsonRefused, decode_text
from jury_events.text import condensed, visible_line
from jury_judge.errors import CalibrationUntrusted, PanelFileError
from jury_judge.panels.document import PanelDocument, read_text
from jury_store.errors import BadNote
from jury_store.seals.keys import PublicKey, SealKey
from jury_store.seals.note import CALIBRATION, read_statement, sign_statement, statement_fault

M = TypeVar("M", bound=BaseModel)

FORMAT = 1
DIGEST = "digest"
NOTE = "note"


class RecordedFile(NamedTuple, Generic[M]):
    """What a file says, its digest, and the trusted key that signed it, by name; None: none was checked."""

    content: M
    digest: str
    signed_by: str | None


class FileKind(NamedTuple, Generic[M]):
    """A kind of such files.

    Attributes:
        field: has the number of the format; only files of this kind have it.
        name: in messages.
        written_by: the command that writes one.
        model: of what it says.
    """

    field: str
    name: str
    written_by: str
    model: type[M]

    def file_bytes(self, content: Mapping[str, Any]) -> bytes:
        """The bytes of a file with this content: canonical JSON with the number of the format and `digest`."""
        document = {**content, self.field: FORMAT}
        return canonical_json({**document, DIGEST: _digest(document)}) + b"\n"

    def document(self, path: Path, name: str) -> dict[str, Any]:
        """A file as JSON values; its digest is that of the rest without the note."""
        text = read_text(
            path, name, lambda: f"{name}: there is no such {self.name} file; {self.written_by} -o writes one"
        )
        try:
            document = decode_text(text)
        except JsonRefused as error:
            raise PanelFileError(f"{name}: not a {self.name} file: {error}") from error
        if not isinstance(document, dict) or self.field not in document or DIGEST not in document:
            raise PanelFileError(f"{name}: not a {self.name} file; {self.written_by} -o writes one")
        if document[self.field] != FORMAT or isinstance(document[self.field], bool):
            raise PanelFileError(
                f"{name}: a {self.name} file of format {document[self.field]!r:.20} is not known; upgrade jury-judge"
            )
        found = _digest({key: value for key, value in document.items() if key not in {DIGEST, NOTE}})
        if document[DIGEST] != found:
            raise PanelFileError(
                f"{name}: was changed after {self.written_by} wrote it (its digest is {str(document[DIGEST])[:16]}, "
                f"that of its content {found[:16]}): restore the file, or calibrate again"
            )
        return document

    def read(self, path: Path, name: str, trust: Collection[PublicKey]) -> RecordedFile[M]:
        """What a file says.

        Args:
            path: of the file.
            name: of the file in messages.
            trust: one of these keys must have signed it; (): the signature is not verified, only its digest.
        """
        document = self.document(path, name)
        digest, note = document.pop(DIGEST), document.pop(NOTE, None)
        signed_by = _signer_of(name, digest, note, trust)
        try:
            # As JSON: strict values take arrays for tuples there alone.
            said = canonical_json({key: value for key, value in document.items() if key != self.field})
            return RecordedFile(self.model.model_validate_json(said), digest, signed_by)
        except ValidationError as error:
            raise PanelFileError(f"{name}: not a {self.name} file: {condensed(error)}") from error


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


def _signer_of(name: str, digest: str, note: Any, trust: Collection[PublicKey]) -> str | None:
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


FIELD = "calibration"
CALIBRATIONS = FileKind(FIELD, "calibration", "jury calibrate", RecordedCalibration)


class ReadCalibration(NamedTuple):
    """The numbers that a panel applies, and the trusted key that signed them, by name; None: none was checked."""

    calibration: Calibration
    signed_by: str | None


def calibration_bytes(content: Mapping[str, Any]) -> bytes:
    """The bytes of a calibration file with this content."""
    return CALIBRATIONS.file_bytes(content)


def read_calibration(path: Path, name: str | None = None, trust: Collection[PublicKey] = ()) -> ReadCalibration:
    """The numbers that a panel applies; arguments as of `FileKind.read`."""
    name = name or visible_line(str(path), 1000)
    found = CALIBRATIONS.read(path, name, trust)
    try:
        return ReadCalibration(_applied(name, found.content, found.digest), found.signed_by)
    except ValidationError as error:
        raise PanelFileError(f"{name}: not a calibration file: {condensed(error)}") from error


def _applied(name: str, recorded: RecordedCalibration, digest: Any) -> Calibration:
    """What the counts of the certificate certify, where nothing in the file contradicts them."""
    certificate = recorded.certificate
    if recorded.panel is None:
        raise PanelFileError(
            f"{name}: was made from votes of files, which name no panel: calibrate on debates of a store"
        )
    if certificate.clusters < certificate.units and not any(one.by_cluster for one in certificate.candidates):
        raise PanelFileError(f"{name}: has no counts by cluster, from which its bounds follow: calibrate again")
    if (other := contradiction(recorded)) is not None:
        raise PanelFileError(f"{name}: {contradicted(other)}")
    if certificate.threshold is None:
        raise PanelFileError(f"{name}: certifies no threshold: calibrate again, with more labels or a higher risk")
    return Calibration(
        digest=digest,
        panel=recorded.panel.panel,
        prompts=recorded.panel.prompts,
        on=recorded.on,
        risk=certificate.risk,
        confidence=certificate.confidence,
        signal=recorded.signal,
        threshold=certificate.threshold,
        made_on=recorded.made_on,
    )


def with_calibration(document: PanelDocument, trust: Collection[PublicKey] = ()) -> tuple[PanelDocument, str | None]:
    """The panel document with the numbers of its calibration file in place of the file's path, and who signed them.

    Args:
        document: of the panel file.
        trust: see `read_calibration`.
    """
    final = document.data.get("final")
    if not isinstance(final, dict) or final.get(FIELD) is None:
        return document, None
    path = final[FIELD]
    if not isinstance(path, str) or not path:
        raise document.refused(
            ("final", FIELD), "final.calibration: must be the path of a calibration file, from the panel file's folder"
        )
    try:
        found = read_calibration(Path(document.folder, path), trust=trust)
    except PanelFileError as error:
        raise type(error)(str(document.refused(("final", FIELD), f"final.calibration: {error}"))) from error
    data = {**document.data, "final": {**final, FIELD: found.calibration}}
    read = document.naming(("final", FIELD), Path(document.folder, path))
    return read._replace(data=data), found.signed_by
