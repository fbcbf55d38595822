"""Loads the panel: a preset or a panel file (YAML or JSON), changed by the environment and explicit arguments."""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from pydantic import ValidationError

from jury_debate.decision_seats import DECISION_PROTOCOLS
from jury_debate.errors import PanelError
from jury_debate.panel_spec import PanelSpec, ResolvedPanel, read_spec, resolve
from jury_debate.presets import PRESETS
from jury_events.panel import Panel
from jury_events.text import visible_line
from jury_events.unknown_fields import first_error
from jury_judge.errors import PanelFileError
from jury_judge.panels import endpoints, redaction_rules
from jury_judge.panels.asking_order import with_asking_order
from jury_judge.panels.document import BUNDLED_PANELS, PanelDocument, read_document, readable_message
from jury_judge.panels.prompt_files import with_prompts
from jury_judge.panels.redaction import NO_REDACTION, Redaction
from jury_judge.panels.variables import Overrides, apply, read_variables, with_discussion, without_discussion
from jury_providers.endpoints import Endpoints, with_carriage
from jury_providers.model_limits import with_windows
from jury_providers.registry import NO_ENDPOINTS
from jury_store.seals.keys import PublicKey

STAGES = "stages"
"""The field that a ladder file has, and a panel file has not."""

_NO_OVERRIDES = Overrides()
_FIELD = re.compile(r"([a-z_]+(?:\.[a-z0-9_]+)*)[:,]")


class LoadedPanel(NamedTuple):
    """A loaded panel file: the resolved panel, its providers' endpoints, its redaction rules."""

    resolved: ResolvedPanel
    endpoints: Endpoints = NO_ENDPOINTS
    redaction: Redaction = NO_REDACTION
    signed_by: str | None = None
    """The trusted key that signed its calibration; None: there is none, or no key was to be trusted."""
    ladder: "Ladder | None" = None
    """The ladder whose first stage this is; None: it is of none."""
    outside: tuple[str, ...] = ()
    """A line for each file that its file names and that is elsewhere; of a ladder's first stage the ladder's too."""

    @property
    def panel(self) -> Panel:
        """The panel itself."""
        return self.resolved.panel

    @property
    def stages(self) -> "tuple[LoadedPanel, ...]":
        """The panels of the ladder, from the first; without one, this panel alone."""
        return (self,) if self.ladder is None else self.ladder.stages

    @property
    def panels(self) -> tuple[Panel, ...]:
        """Those of `stages`."""
        return tuple(stage.panel for stage in self.stages)

    @property
    def models(self) -> tuple[str, ...]:
        """The models of all stages, each once."""
        return tuple(dict.fromkeys(model for panel in self.panels for model in panel.models))


class Ladder(NamedTuple):
    """A ladder that can be applied (`jury_judge.panels.ladders`).

    Args:
        digest: of its certificate, its panels and its audited share: equal ladders judge alike.
        stages: its panels, from the first; all but the last with the calibration of the certificate.
        audit: the share of early exits that is audited.
        certificate: the digest of what its stages accept; None: nothing, so that every case goes through every stage.
        coverage: for each stage the share of the certified cases that ends there; (): not known.
    """

    digest: str
    stages: tuple[LoadedPanel, ...]
    audit: float
    certificate: str | None
    coverage: tuple[float, ...] = ()


def load_panel(
    name_or_path: str | None,
    environ: Mapping[str, str],
    overrides: Overrides = _NO_OVERRIDES,
    trust: Collection[PublicKey] = (),
) -> LoadedPanel:
    """The panel with every default filled in.

    Precedence: explicit arguments, environment, file. A preset named here is explicit: `JURY_USE_COLLABORATIVE` does
    not change it, the other variables change its rules. If that variable is false, the other variables, which set up
    a discussion and its judge, are ignored.

    Args:
        name_or_path: a preset of rules, one of the `BUNDLED_PANELS`, or a file; None: the default preset. A panel
            without seats gets simulated jurors.
        environ: the environment, as `os.environ`.
        overrides: explicit arguments.
        trust: one of these keys must have signed the calibration of the panel, if it has one.

    Raises:
        CalibrationUntrusted: none did, or the calibration is signed for other content.
        PanelFileError: the file, a field, a variable or an argument is invalid.
    """
    document: PanelDocument | None = None
    reached = NO_ENDPOINTS
    signed_by: str | None = None
    if name_or_path is None or name_or_path in PRESETS:
        spec = PanelSpec() if name_or_path is None else PanelSpec(preset=name_or_path)
    else:
        written = with_prompts(read_document(name_or_path, (*PRESETS, *BUNDLED_PANELS)))
        if STAGES in written.data:
            raise written.refused(
                (STAGES,),
                "stages: this is a ladder of stages, by which jury run, jury serve and Jury judge; give one of its "
                "panels here",
            )
        from jury_judge.panels.calibration_files import with_calibration

        document, signed_by = with_calibration(written, trust)
        spec = written_spec(document)
        reached = endpoints.read_endpoints(document)
    if overrides.preset is not None:
        spec = spec.model_copy(update={"preset": overrides.preset})
    spec = _by_environment(spec, environ, explicit=name_or_path in PRESETS or overrides.preset is not None)
    try:
        spec = apply(spec, overrides)
        resolved = resolve(
            spec,
            [name for name, endpoint in reached.items() if endpoint.base_url is not None],
            deciding=[name for name, endpoint in reached.items() if endpoint.protocol in DECISION_PROTOCOLS],
        )
    except (PanelError, PanelFileError) as error:
        message = readable_message(str(error))
        if document is None:
            raise PanelFileError(f"the panel: {message}") from error
        raise document.refused(field_in(message), message) from error
    check_judge(resolved.panel, overrides)
    resolved = resolved._replace(panel=with_carriage(resolved.panel, reached))
    if document is None:
        return windowed(LoadedPanel(resolved))
    redaction = redaction_rules.read_redaction(document)
    return windowed(LoadedPanel(resolved, reached, redaction, signed_by, outside=document.outside))


def windowed(loaded: LoadedPanel) -> LoadedPanel:
    """The panel with what the catalogue knows of its models written out: their windows, and the order by their prices.

    Raises:
        PanelFileError: the order needs a price that is not known.
    """
    resolved = loaded.resolved
    panel = with_asking_order(with_windows(resolved.panel, loaded.endpoints), loaded.endpoints)
    return loaded._replace(resolved=resolved._replace(panel=panel))


def check_judge(panel: Panel, overrides: Overrides) -> None:
    """Refuse an override of the judge's model without effect.

    Raises:
        PanelFileError: the panel has no final judge.
    """
    if overrides.judge_model is not None and panel.final.judge is None:
        raise PanelFileError(
            f"the judge model {visible_line(overrides.judge_model)!r} has no effect with the method "
            f"{panel.final.method}; ask for the method final_judge too"
        )


def _by_environment(spec: PanelSpec, environ: Mapping[str, str], *, explicit: bool) -> PanelSpec:
    variables = read_variables(environ)
    if variables.collaborative is False and not explicit:
        return without_discussion(spec)
    if variables.collaborative is True and not explicit:
        spec = with_discussion(spec)
    return apply(spec, variables.overrides)


def field_in(message: str) -> tuple[str | int, ...]:
    """The path of the field that a message of `resolve` begins with; () where it names none."""
    found = _FIELD.match(message)
    return () if found is None else tuple(int(part) if part.isdigit() else part for part in found[1].split("."))


def written_spec(document: PanelDocument) -> PanelSpec:
    """The panel as written, without what no rule of a debate reads.

    Raises:
        PanelFileError: a field is unknown or its value invalid; the message names it and its line.
    """
    try:
        return read_spec(document.without(endpoints.FIELD, redaction_rules.FIELD))
    except PanelError as error:
        cause = error.__cause__
        field = first_error(cause.errors())["loc"] if isinstance(cause, ValidationError) else ()
        raise document.refused(field, readable_message(str(error))) from error
