"""Ladders: the panels of the stages, under the certificate by which they accept, and the audited share."""

from collections.abc import Callable, Collection, Sequence
from hashlib import sha256

from jury_debate.calibrated import panel_digest, prompts_digest
from jury_debate.prompts_registry import PROMPTS
from jury_events.canonical import canonical_json
from jury_events.ladder import CertifiedStage, LadderCertificate
from jury_judge.errors import PanelFileError
from jury_judge.panels.files import Ladder, LoadedPanel
from jury_providers.endpoints import Endpoints

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

    Raises:
        PanelFileError: the certificate is of other panels.
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
    panels = [
        [
            panel_digest(one.panel),
            prompts_digest(one.resolved.role_prompts, one.resolved.judge_prompt, one.resolved.prompts),
        ]
        for one in stages
    ]
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
            prompts_digest(resolved.role_prompts, resolved.judge_prompt, resolved.prompts),
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
