"""Panels in any form in which they are named, and ladders of them: their files, certificates and stages."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from jury_analysis.ladder_promises import RecordedLadder, RecordedStage, ladder_contradiction
from jury_debate.calibrated import panel_digest, prompts_digest
from jury_debate.errors import PanelError
from jury_debate.panel_spec import PanelSpec
from jury_debate.presets import PRESETS
from jury_debate.prompts_registry import PROMPTS
from jury_debate.recorded_panel import spec_of
from jury_debate.resolved_panel import ResolvedPanel, resolve
from jury_events.calibration import OutcomeThreshold, ShareSignal
from jury_events.canonical import canonical_json
from jury_events.ladder import FEWEST_STAGES, MOST_STAGES, CertifiedStage, LadderCertificate
from jury_events.nearest import did_you_mean
from jury_events.strict_json import JsonRefused, decode_text
from jury_events.text import visible_line
from jury_judge.errors import PanelFileError
from jury_judge.panels.calibration_files import FileKind, contradicted
from jury_judge.panels.document import BUNDLED_PANELS, PanelDocument, read_document, read_text
from jury_judge.panels.files import STAGES, Ladder, LoadedPanel, check_judge, load_panel, windowed
from jury_judge.panels.variables import NO_OVERRIDES, Overrides, apply
from jury_judge.settings_model import readable_message
from jury_providers.endpoints import Endpoints
from jury_store.seals.keys import PublicKey

AUDIT = 0.02
"""The share of early exits that the last stage judges too, where the ladder names none."""


def applied(
    stages: Collection[LoadedPanel],
    certificate: LadderCertificate,
    audit: float = AUDIT,
    refused: Callable[[str], PanelFileError] = PanelFileError,
    *,
    coverage: tuple[float, ...] = (),
) -> Ladder:
    """The ladder of these panels under a certificate.

    Args:
        stages: the panels, from the first.
        certificate: of the ladder.
        audit: the share of early exits that is audited.
        refused: makes the error of a message.
        coverage: for each stage the share of the certified cases that ends there; (): not known.
    """
    if len(stages) != len(certificate.stages):
        raise refused(
            f"certificate: it is of {len(certificate.stages)} stages, and this ladder has {len(stages)}; calibrate "
            "this ladder with jury calibrate --stages"
        )
    made = tuple(
        _certified(number, one, of, certificate, refused)
        for number, (one, of) in enumerate(zip(stages, certificate.stages, strict=True), start=1)
    )
    digest = _digest(certificate.digest, audit, [[of.panel, of.prompts] for of in certificate.stages])
    return Ladder(digest, made, audit, certificate.digest, coverage)


def uncertified(stages: Sequence[LoadedPanel]) -> Ladder:
    """The ladder of these panels without a certificate: every case goes through every stage, to be calibrated on."""
    panels = [[panel_digest(one.panel), one.resolved.custom] for one in stages]
    return Ladder(_digest(None, 0.0, panels), tuple(stages), 0.0, None)


def _digest(certificate: str | None, audit: float, panels: list[list[str]]) -> str:
    content = {"certificate": certificate, "audit": audit, "stages": panels}
    return sha256(canonical_json(content)).hexdigest()


def first_of(ladder: Ladder, signed_by: str | None = None, outside: tuple[str, ...] = ()) -> LoadedPanel:
    """The first stage, with the ladder; its endpoints are those of all stages, and so is what it names `outside`.

    Raises:
        PanelFileError: a stage would leave out seats.
    """
    if any(stage.resolved.panel.own_family == "leave-out" for stage in ladder.stages):
        raise PanelFileError(
            "own_family: leave-out: the stages of a ladder judge as one panel, whose certificate holds for all of its "
            "seats; write warn or refuse"
        )
    reached: Endpoints = {name: one for stage in ladder.stages for name, one in stage.endpoints.items()}
    stages = tuple(stage._replace(endpoints=reached) for stage in ladder.stages)
    named = (*outside, *(line for stage in stages for line in stage.outside))
    return stages[0]._replace(ladder=ladder._replace(stages=stages), signed_by=signed_by, outside=named)


def _certified(
    number: int,
    loaded: LoadedPanel,
    of: CertifiedStage,
    certificate: LadderCertificate,
    refused: Callable[[str], PanelFileError],
) -> LoadedPanel:
    """The stage under the prompts and with the calibration that were certified."""
    resolved = loaded.resolved
    for version in PROMPTS:
        if prompts_digest(resolved.role_prompts, resolved.judge_prompt, version) == of.prompts:
            resolved = resolved._replace(prompts=version)
    found = (
        ("panel", of.panel, panel_digest(resolved.panel), "seats, models, scale, rules or settings differ"),
        (
            "prompts",
            of.prompts,
            resolved.custom,
            "custom prompts, or the version of the others, differ",
        ),
    )
    for what, certified, own, why in found:
        if certified != own:
            raise refused(
                f"certificate: stage {number} was certified with another {what} ({certified[:16]}, this one is "
                f"{own[:16]}): {why}; calibrate this ladder with jury calibrate --stages"
            )
    calibration = certificate.calibration_of(number)
    if calibration is None:
        return loaded._replace(resolved=resolved)
    final = resolved.panel.final.changed(calibration=calibration)
    return loaded._replace(resolved=resolved._replace(panel=resolved.panel.changed(final=final)))


FIELD = "ladder"
LADDERS = FileKind(FIELD, "ladder", "jury calibrate --stages", RecordedLadder)


def ladder_bytes(content: Mapping[str, Any]) -> bytes:
    """The bytes of a ladder file with this content."""
    return LADDERS.file_bytes(content)


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
    """What a ladder applies: thresholds that follow from the counts of the file; arguments as of `FileKind.read`."""
    name = name or visible_line(str(path), 1000)
    found = LADDERS.read(path, name, trust)
    return ReadLadder(_applied(name, found.content, found.digest), _coverage(found.content), found.signed_by)


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


_PANEL, _CERTIFICATE, _AUDIT = "panel", "certificate", "audit"
_FIELDS = (STAGES, _CERTIFICATE, _AUDIT)
_NO_CERTIFICATE = "none"
"""Of a ladder that is judged to be calibrated on: every case goes through every stage."""

_Share = Annotated[float, Field(ge=0, le=1)]


def load_panel_or_ladder(
    name_or_path: str | None,
    environ: Mapping[str, str],
    overrides: Overrides = NO_OVERRIDES,
    trust: Collection[PublicKey] = (),
) -> LoadedPanel:
    """As `load_panel`; of a ladder file the first stage, with the `ladder`, whose endpoints are those of all stages."""
    if name_or_path is None or name_or_path in (*PRESETS, *BUNDLED_PANELS):
        return load_panel(name_or_path, environ, overrides, trust)
    document = read_document(name_or_path, (*PRESETS, *BUNDLED_PANELS))
    if STAGES not in document.data:
        return load_panel(name_or_path, environ, overrides, trust)
    return _load_ladder(document, lambda path: load_panel(path, environ, overrides, trust), trust)


def stage_panels(document: PanelDocument) -> tuple[str, ...]:
    """The panels that a ladder file names: bundled ones, or files, from the working directory."""
    for field in map(str, document.data):
        if field not in _FIELDS:
            raise document.refused(
                (field,),
                f"{visible_line(field, 60)}: there is no such field of a ladder{did_you_mean(field, _FIELDS)}; its "
                f"fields are {', '.join(_FIELDS)}",
            )
    stages = document.data[STAGES]
    if not isinstance(stages, list) or not FEWEST_STAGES <= len(stages) <= MOST_STAGES:
        raise document.refused(
            (STAGES,),
            f"stages: must be a list of {FEWEST_STAGES} to {MOST_STAGES} panels, as in [{{panel: cheap.yaml}}, "
            "{panel: current}]",
        )
    return tuple(_panel_of(document, place, stage) for place, stage in enumerate(stages))


def _panel_of(document: PanelDocument, place: int, stage: Any) -> str:
    if not isinstance(stage, dict) or set(stage) != {_PANEL} or not isinstance(stage[_PANEL], str) or not stage[_PANEL]:
        raise document.refused(
            (STAGES, place), f"stages.{place}: must be {{panel: FILE}}, or {{panel: NAME}} of a bundled panel"
        )
    name: str = stage[_PANEL]
    return name if name in (*PRESETS, *BUNDLED_PANELS) else str(Path(document.folder, name))


def _load_ladder(
    document: PanelDocument, load: Callable[[str], LoadedPanel], trust: Collection[PublicKey]
) -> LoadedPanel:

    stages = []
    for place, panel in enumerate(stage_panels(document)):
        try:
            stages.append(load(panel))
        except PanelFileError as error:
            raise type(error)(str(document.refused((STAGES, place), f"stages.{place}: {error}"))) from error
        if panel not in (*PRESETS, *BUNDLED_PANELS):
            document = document.naming((STAGES, place, _PANEL), panel)
    _check_alike(document, stages)
    audit = document.validated((_AUDIT,), _Share, document.data.get(_AUDIT, AUDIT))
    path: Any = document.data.get(_CERTIFICATE)
    if path == _NO_CERTIFICATE:
        if _AUDIT in document.data:
            raise document.refused((_AUDIT,), "audit: without a certificate nothing ends early: leave it out")
        return first_of(uncertified(stages), outside=document.outside)
    if not isinstance(path, str) or not path:
        raise document.refused(
            (_CERTIFICATE,),
            "certificate: must be the path of the file that jury calibrate --stages wrote, or none, so that no verdict "
            "is accepted early and every case goes through every stage, to calibrate on",
        )
    try:
        found = read_ladder(Path(document.folder, path), trust=trust)
    except PanelFileError as error:
        raise type(error)(str(document.refused((_CERTIFICATE,), f"certificate: {error}"))) from error
    ladder = applied(
        stages,
        found.certificate,
        audit,
        lambda message: document.refused((_CERTIFICATE,), message),
        coverage=found.coverage,
    )
    return first_of(ladder, found.signed_by, document.naming((_CERTIFICATE,), Path(document.folder, path)).outside)


def _check_alike(document: PanelDocument, stages: list[LoadedPanel]) -> None:
    """What belongs to the cases, or to a provider's name, is the same in every stage."""
    first = stages[0]
    reached: dict[str, Any] = {}
    for place, stage in enumerate(stages):

        def differs(what: str, place: int = place) -> PanelFileError:
            return document.refused((STAGES, place), f"stages.{place}: {what}")

        if stage.panel.final.calibration is not None and place < len(stages) - 1:
            raise differs("has a calibration of its own; the certificate says what is accepted: leave it out")
        if stage.panel.scale != first.panel.scale:
            raise differs("has another scale than stages.0: the verdicts of a ladder have the same words")
        if stage.redaction != first.redaction:
            raise differs("redacts otherwise than stages.0: all stages judge the same text")
        for name, endpoint in stage.endpoints.items():
            if reached.setdefault(name, endpoint) != endpoint:
                raise differs(f"reaches the provider {visible_line(name, 60)} otherwise than an earlier stage")


def changed_panel(
    resolved: ResolvedPanel, overrides: Overrides = NO_OVERRIDES, models: Mapping[str, str] | None = None
) -> ResolvedPanel:
    """The panel with `overrides` applied, and other models in some seats.

    A display name derived from the model changes with it, and its window is not known; a chosen name and the fallbacks
    stay. A preset replaces the
    rules of the discussion and the final method; speakers, bands and quorum stay.

    Args:
        resolved: the recorded panel.
        overrides: explicit arguments.
        models: `provider/model` by juror id.
    """
    try:
        spec = spec_of(resolved)
        if overrides.preset is not None:
            spec = _with_preset(spec, overrides.preset)
        changed = resolve(apply(_with_models(spec, models or {}), overrides), prompts=resolved.prompts)
    except PanelError as error:
        raise PanelFileError(f"the panel: {readable_message(str(error))}") from error
    check_judge(changed.panel, overrides)
    return changed


def _with_preset(spec: PanelSpec, preset: str) -> PanelSpec:
    discussion = type(spec.discussion)(speakers=spec.discussion.speakers)
    final = spec.final.model_copy(update={"method": None})
    return spec.model_copy(update={"preset": preset, "discussion": discussion, "final": final})


def _with_models(spec: PanelSpec, models: Mapping[str, str]) -> PanelSpec:
    seats = {str(seat.juror_id): seat for seat in spec.seats}
    for juror, model in models.items():
        if juror not in seats:
            known = ", ".join(visible_line(one) for one in seats)
            raise PanelFileError(f"the panel has no seat {visible_line(juror)!r}; its seats are {known}")
        if seats[juror].model != model:
            seats[juror] = seats[juror].model_copy(update={"model": model, "window": None})
    return spec.model_copy(update={"seats": tuple(seats.values())})


AnyPanel = str | os.PathLike[str] | PanelSpec | ResolvedPanel | LoadedPanel
"""A preset, the name of a bundled jury, a panel file, a ladder file, or a panel object."""


def any_panel(
    panel: AnyPanel | None, environ: Mapping[str, str], overrides: Overrides, trust: Collection[PublicKey] = ()
) -> LoadedPanel:
    """A named panel is loaded as by the command; the environment does not change a panel object.

    `trust` is of `load_panel`; a panel object is its caller's.
    """
    if panel is None or isinstance(panel, str | os.PathLike):
        return load_panel_or_ladder(None if panel is None else os.fspath(panel), environ, overrides, trust)
    loaded = (
        panel
        if isinstance(panel, LoadedPanel)
        else LoadedPanel(resolve(panel) if isinstance(panel, PanelSpec) else panel)
    )
    if loaded.ladder is not None:
        if not overrides.change_nothing:
            raise PanelFileError("the panels of a ladder are certified as they are: leave overrides out")
        return loaded
    if not overrides.change_nothing:
        loaded = loaded._replace(resolved=changed_panel(loaded.resolved, overrides))
    return windowed(loaded)
