"""Ladder files: the panels of the stages, the certificate by which they accept, and the audited share.

```yaml
stages: [{panel: cheap.yaml}, {panel: strong.yaml}, {panel: current}]
certificate: ladder.json
audit: 0.02
```
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from jury_debate.presets import PRESETS
from jury_events.ladder import FEWEST_STAGES, MOST_STAGES
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line
from jury_judge.errors import PanelFileError
from jury_judge.panels.document import BUNDLED_PANELS, PanelDocument, read_document
from jury_judge.panels.files import STAGES, LoadedPanel, load_panel
from jury_judge.panels.variables import Overrides
from jury_store.seals.keys import PublicKey

_PANEL, _CERTIFICATE, _AUDIT = "panel", "certificate", "audit"
_FIELDS = (STAGES, _CERTIFICATE, _AUDIT)
_NO_CERTIFICATE = "none"
"""Of a ladder that is judged to be calibrated on: every case goes through every stage."""

_NO_OVERRIDES = Overrides()
_Share = Annotated[float, Field(ge=0, le=1)]


def load_panel_or_ladder(
    name_or_path: str | None,
    environ: Mapping[str, str],
    overrides: Overrides = _NO_OVERRIDES,
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
    from jury_judge.panels.ladder_files import read_ladder
    from jury_judge.panels.ladders import AUDIT, applied, first_of, uncertified

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
