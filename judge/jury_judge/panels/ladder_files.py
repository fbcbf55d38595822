"""Ladder files: JSON with everything that `jury calibrate --stages` found, and a digest of it."""

from collections.abc import Collection, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from jury_analysis.ladders.ladder_check import RecordedLadder, RecordedStage, ladder_contradiction
from jury_events.calibration import OutcomeThreshold, ShareSignal
from jury_events.canonical import canonical_json
from jury_events.ladder import CertifiedStage, LadderCertificate
from jury_events.strict_json import JsonRefused, decode_text
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
from jury_judge.panels.document import read_text
from jury_store.seals.keys import PublicKey

FIELD = "ladder"
FORMAT = 1
KIND = FileKind(FIELD, (FORMAT,), "ladder", "jury calibrate --stages")


def ladder_bytes(content: Mapping[str, Any]) -> bytes:
    """The bytes of a file with this content: canonical JSON with `ladder` (the format) and `digest`."""
    return digest_bytes(content, KIND, FORMAT)


class ReadLadder(NamedTuple):
    """What a ladder applies.

    Attributes:
        certificate: the thresholds of its stages.
        coverage: for each stage the share of the cases that end there, of those that the file reports on.
        signed_by: the trusted key that signed it, by name; None: none was checked.
    """

    certificate: LadderCertificate
    coverage: tuple[float, ...]
    signed_by: str | None


def read_ladder(path: Path, name: str | None = None, trust: Collection[PublicKey] = ()) -> ReadLadder:
    """What a ladder applies: thresholds that follow from the counts of the file.

    Args:
        path: of the file.
        name: of the file in messages.
        trust: one of these keys must have signed it; (): the signature is not verified, only its digest.
    """
    name = name or visible_line(str(path), 1000)
    document = read_ladder_content(path, name)
    digest, note = document.pop(DIGEST), document.pop(NOTE, None)
    signed_by = signer_of(name, digest, note, trust)
    try:
        # As JSON: strict values take arrays for tuples there alone.
        recorded = RecordedLadder.model_validate_json(
            canonical_json({key: value for key, value in document.items() if key != FIELD})
        )
    except ValidationError as error:
        raise PanelFileError(f"{name}: not a ladder file: {condensed(error)}") from error
    certificate = _applied(name, recorded, digest)
    return ReadLadder(certificate, _coverage(recorded), signed_by)


def read_ladder_content(path: Path, name: str) -> dict[str, Any]:
    """A ladder file as JSON values."""
    document = read_digest_file(path, name, KIND)
    check_digest(document, name, KIND)
    return document


def is_ladder(path: Path) -> bool:
    """Whether a file says that it is a ladder; not whether it is a usable one."""
    name = visible_line(str(path), 1000)
    try:
        document = decode_text(read_text(path, name, lambda: name))
    except (JsonRefused, PanelFileError):
        return False
    return isinstance(document, dict) and FIELD in document


def _applied(name: str, recorded: RecordedLadder, digest: Any) -> LadderCertificate:
    if (found := ladder_contradiction(recorded)) is not None:
        raise PanelFileError(f"{name}: {contradicted(found)}")
    if any(stage.panel is None for stage in recorded.stages):
        raise PanelFileError(
            f"{name}: was made from votes of files, which name no panel: calibrate on runs of a store, one a stage"
        )
    stages = tuple(_stage(stage, recorded) for stage in recorded.stages)
    if not any(stage.thresholds for stage in stages):
        raise PanelFileError(f"{name}: certifies no stage: calibrate again, with more labels or higher risks")
    return LadderCertificate(
        digest=digest,
        stages=stages,
        missed=recorded.promises.missed,
        confidence=recorded.promises.confidence,
    )


def _stage(stage: RecordedStage, recorded: RecordedLadder) -> CertifiedStage:
    assert stage.panel is not None, "a file without panels was refused"
    of, promises = stage.certificate, recorded.promises
    thresholds = []
    if of is not None and of.pass_threshold is not None and promises.passes is not None:
        thresholds.append(OutcomeThreshold(outcome="pass", threshold=of.pass_threshold, risk=promises.passes))
    if of is not None and of.fail_threshold is not None and promises.fails is not None:
        thresholds.append(OutcomeThreshold(outcome="fail", threshold=of.fail_threshold, risk=promises.fails))
    return CertifiedStage(
        panel=stage.panel.panel, prompts=stage.panel.prompts, signal=ShareSignal(), thresholds=tuple(thresholds)
    )


def _coverage(recorded: RecordedLadder) -> tuple[float, ...]:
    """By what is reached: what ends at a stage does not reach the next."""
    reached = [*(stage.reached for stage in recorded.use.stages), 0]
    return tuple((here - after) / max(1, recorded.use.units) for here, after in pairwise(reached))
