"""Calibration files: JSON with everything that `jury calibrate` found, and a digest of it."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from jury_analysis.certificate_check import RecordedCalibration, contradiction
from jury_events.calibration import Calibration
from jury_events.canonical import canonical_json
from jury_events.text import condensed, visible_line
from jury_judge.errors import PanelFileError
from jury_judge.panels.digest_files import (
    DIGEST,
    NOTE,
    FileKind,
    check_digest,
    contradicted,
    digest_bytes,
    read_digest_file,
    signer_of,
)
from jury_judge.panels.document import PanelDocument
from jury_store.seals.keys import PublicKey

FORMAT = 1
FIELD = "calibration"
KIND = FileKind(FIELD, (FORMAT,), "calibration", "jury calibrate")


def calibration_bytes(content: Mapping[str, Any]) -> bytes:
    """The bytes of a file with this content: canonical JSON with `calibration` (the format) and `digest`."""
    return digest_bytes(content, KIND, FORMAT)


class ReadCalibration(NamedTuple):
    """The numbers that a panel applies, and the trusted key that signed them, by name; None: none was checked."""

    calibration: Calibration
    signed_by: str | None


def read_calibration(path: Path, name: str | None = None, trust: Collection[PublicKey] = ()) -> ReadCalibration:
    """The numbers that a panel applies.

    Args:
        path: of the file.
        name: of the file in messages.
        trust: one of these keys must have signed it; (): the signature is not verified, only its digest.
    """
    name = name or visible_line(str(path), 1000)
    document = read_content(path, name)
    digest, note = document.pop(DIGEST), document.pop(NOTE, None)
    signed_by = signer_of(name, digest, note, trust)
    try:
        # As JSON: strict values take arrays for tuples there alone.
        recorded = RecordedCalibration.model_validate_json(
            canonical_json({key: value for key, value in document.items() if key != FIELD})
        )
        return ReadCalibration(_applied(name, recorded, digest), signed_by)
    except ValidationError as error:
        raise PanelFileError(f"{name}: not a calibration file: {condensed(error)}") from error


def read_content(path: Path, name: str) -> dict[str, Any]:
    """A calibration file as JSON values; its digest is that of the rest without the note."""
    document = read_digest_file(path, name, KIND)
    check_digest(document, name, KIND)
    return document


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
