"""Calibration files: JSON with everything that `jury calibrate` found, and a digest of it."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jury_analysis.certificate_check import Contradiction, RecordedCalibration, contradiction
from jury_events.calibration import Calibration
from jury_events.canonical import canonical_json
from jury_events.text.strict_json import JsonRefused, decode_text
from jury_events.text.validation import condensed
from jury_events.text.visible_text import visible_line
from jury_judge.errors import PanelFileError
from jury_judge.panels.document import PanelDocument, read_text

FORMAT = 1
FIELD = "calibration"


def calibration_bytes(content: Mapping[str, Any]) -> bytes:
    """The bytes of a file with this content: canonical JSON with `calibration` (the format) and `digest`."""
    document = {**content, FIELD: FORMAT}
    return canonical_json({**document, "digest": _digest(document)}) + b"\n"


def read_calibration(path: Path, name: str | None = None) -> Calibration:
    """The numbers that a panel applies.

    Args:
        path: of the file.
        name: of the file in messages.

    Raises:
        PanelFileError: it cannot be read, is no calibration, was changed after it was written, contradicts its own
            counts, or is of no panel.
    """
    name = name or visible_line(str(path), 1000)
    text = read_text(path, name, lambda: f"{name}: there is no such calibration file; jury calibrate -o writes one")
    try:
        document = decode_text(text)
    except JsonRefused as error:
        raise PanelFileError(f"{name}: not a calibration file: {error}") from error
    if not isinstance(document, dict) or FIELD not in document or "digest" not in document:
        raise PanelFileError(f"{name}: not a calibration file; jury calibrate -o writes one")
    if document[FIELD] != FORMAT:
        raise PanelFileError(
            f"{name}: a calibration file of format {document[FIELD]!r:.20} is not known; upgrade jury-judge"
        )
    digest = document.pop("digest")
    found = _digest(document)
    if digest != found:
        raise PanelFileError(
            f"{name}: was changed after jury calibrate wrote it (its digest is {str(digest)[:16]}, that of its content "
            f"{found[:16]}): restore the file, or calibrate again"
        )
    try:
        # As JSON: strict values take arrays for tuples there alone.
        recorded = RecordedCalibration.model_validate_json(
            canonical_json({key: value for key, value in document.items() if key != FIELD})
        )
        return _applied(name, recorded, digest)
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
        raise PanelFileError(
            f"{name}: has no counts by cluster, from which its bounds would follow; an earlier version wrote it: "
            "calibrate again"
        )
    if (other := contradiction(recorded)) is not None:
        raise PanelFileError(f"{name}: {_contradicted(other)}")
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
    )


def with_calibration(document: PanelDocument) -> PanelDocument:
    """The panel document with the numbers of its calibration file in place of the file's path.

    Raises:
        PanelFileError: the file cannot be used; see `read_calibration`.
    """
    final = document.data.get("final")
    if not isinstance(final, dict) or final.get(FIELD) is None:
        return document
    path = final[FIELD]
    if not isinstance(path, str) or not path:
        raise document.refused(
            ("final", FIELD), "final.calibration: must be the path of a calibration file, from the panel file's folder"
        )
    try:
        found = read_calibration(Path(document.folder, path))
    except PanelFileError as error:
        raise document.refused(("final", FIELD), f"final.calibration: {error}") from error
    return document._replace(data={**document.data, "final": {**final, FIELD: found}})


def _contradicted(found: Contradiction) -> str:
    said, recomputed = (visible_line(json.dumps(one, ensure_ascii=False), 200) for one in found[1:])
    return (
        f"{found.field} is {said}, and by the counts of its certificate it is {recomputed}: a calibration that "
        "contradicts itself is not applied; restore the file, or calibrate again"
    )


def _digest(document: Mapping[str, Any]) -> str:
    return sha256(canonical_json(dict(document))).hexdigest()
