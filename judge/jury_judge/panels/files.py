"""Panel files, with the endpoints, prompts and warnings that belong to them."""

import re
from collections.abc import Collection, Mapping
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from jury_debate.decision_seats import DECISION_PROTOCOLS
from jury_debate.errors import PanelError
from jury_debate.panel_spec import PanelSpec, read_spec
from jury_debate.presets import PRESETS
from jury_debate.resolved_panel import ResolvedPanel, resolve
from jury_events.exchange import Usage
from jury_events.panel import MOST_SEATS, Panel, Seat
from jury_events.text import visible_line
from jury_events.unknown_fields import first_error
from jury_judge.errors import PanelFileError
from jury_judge.panels.document import BUNDLED_PANELS, PanelDocument, read_document, read_text
from jury_judge.panels.redaction import FIELD as REDACT
from jury_judge.panels.redaction import NO_REDACTION, Redaction, read_redaction
from jury_judge.panels.variables import (
    NO_OVERRIDES,
    Overrides,
    apply,
    read_variables,
    with_discussion,
    without_discussion,
)
from jury_judge.settings_model import readable_message
from jury_providers.catalogue import retirement_warnings, with_windows
from jury_providers.dialects import profiles
from jury_providers.endpoints import ApiProtocol, Endpoint, Endpoints, ProviderName, completed, with_carriage
from jury_providers.prices import Prices, list_prices_date, load_prices
from jury_providers.registry import (
    NO_ENDPOINTS,
    SIMULATED,
    key_destinations,
    known_providers,
    recipients,
    same_model_warning,
    setting_warnings,
)
from jury_store.seals.keys import PublicKey

PROVIDERS = "providers"

_SECRETS = frozenset(
    {"key", "api_key", "apikey", "token", "api_token", "access_token", "auth_token", "secret", "password", "headers"}
)


def read_endpoints(document: PanelDocument) -> Endpoints:
    """The endpoints by provider."""
    written = document.data.get(PROVIDERS)
    if written is None:
        return NO_ENDPOINTS
    if isinstance(written, Mapping):
        _refuse_keys(document, written)
    said: dict[str, Endpoint] = document.validated([PROVIDERS], dict[ProviderName, Endpoint], written)
    endpoints = {name: completed(name, endpoint) for name, endpoint in said.items()}
    for name, endpoint in endpoints.items():
        if name == SIMULATED:
            raise document.refused(
                [PROVIDERS, name], f"{PROVIDERS}.{name}: simulated jurors have no endpoint; remove it"
            )
        if endpoint.protocol is None and name not in known_providers():
            raise document.refused(
                [PROVIDERS, name],
                f"{PROVIDERS}.{name}: write its protocol: {', '.join(get_args(ApiProtocol))}",
            )
        led = endpoint.base_url is not None or endpoint.key_env is not None or endpoint.cloud is not None
        if not led and (name not in known_providers() or name in profiles()):
            raise document.refused(
                [PROVIDERS, name],
                f"{PROVIDERS}.{name}: write its base_url or cloud, or, for another key at the protocol's own provider, "
                "its key_env",
            )
    return MappingProxyType(endpoints)


def _refuse_keys(document: PanelDocument, written: Mapping[Any, Any]) -> None:
    for name, endpoint in written.items():
        for field in endpoint if isinstance(endpoint, Mapping) else ():
            if str(field).lower().replace("-", "_") in _SECRETS:
                raise document.refused(
                    [PROVIDERS, name, field],
                    f"{PROVIDERS}.{visible_line(str(name), 50)}.{field}: a panel file must not contain a key; "
                    "put it into an environment variable and name that in key_env",
                )


_CALL = Usage(input_tokens=10_000, output_tokens=500)
"""A usual call, by whose cost seats are compared."""


def _cost(seat: Seat, prices: Prices, on: date) -> float:
    cost = prices.cost(seat.model, _CALL, on)
    if cost is None:
        raise PanelFileError(
            f"stop.last: price needs a list price of {seat.model} (seat {seat.juror_id}), and there is none; "
            "write the order of asking: stop: {order: [...]}"
        )
    return cost


PROMPT_FILE = "prompt_file"


def with_prompts(document: PanelDocument) -> PanelDocument:
    """The document with every `prompt_file` replaced by a `prompt` with the file's text."""
    data, read = dict(document.data), document
    # Too many seats are refused later; their files are not read.
    if isinstance(data.get("seats"), list) and len(data["seats"]) <= MOST_SEATS:
        seats = list(data["seats"])
        for index, seat in enumerate(seats):
            if _names_prompt(seat):
                seats[index], read = _prompted(read, ("seats", index), seat)
        data["seats"] = seats
    final = data.get("final")
    if isinstance(final, dict) and _names_prompt(final.get("judge")):
        judge, read = _prompted(read, ("final", "judge"), final["judge"])
        data["final"] = {**final, "judge": judge}
    return read._replace(data=data)


def _names_prompt(written: Any) -> bool:
    return isinstance(written, dict) and PROMPT_FILE in written


def _prompted(
    document: PanelDocument, place: tuple[str | int, ...], written: dict[str, Any]
) -> tuple[dict[str, Any], PanelDocument]:
    field = (*place, PROMPT_FILE)
    path_of_field = ".".join(map(str, field))
    path = written[PROMPT_FILE]
    if not isinstance(path, str) or not path:
        raise document.refused(field, f"{path_of_field}: must be the path of a text file, from the panel file's folder")
    if written.get("prompt") is not None:
        raise document.refused(field, f"{path_of_field}: prompt is written too; keep one of them")
    name = visible_line(str(Path(document.folder, path)), 1000)
    try:
        text = read_text(Path(document.folder, path), name, lambda: f"no file {name}")
    except PanelFileError as error:
        raise document.refused(field, f"{path_of_field}: {error}") from error
    if not text.strip():
        raise document.refused(field, f"{path_of_field}: {name} is empty")
    prompted = {key: value for key, value in written.items() if key != PROMPT_FILE} | {"prompt": text.strip()}
    return prompted, document.naming(field, Path(document.folder, path))


STAGES = "stages"
"""The field that a ladder file has, and a panel file has not."""

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
        return (self.panel,) if self.ladder is None else tuple(stage.panel for stage in self.stages)

    @property
    def models(self) -> tuple[str, ...]:
        """The models of all stages, each once."""
        if self.ladder is None:
            return self.panel.models
        return tuple(dict.fromkeys(model for panel in self.panels for model in panel.models))

    @property
    def is_simulated(self) -> bool:
        """Whether no model is called: every juror is simulated."""
        return all(model.startswith(f"{SIMULATED}/") for model in self.models)


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
    overrides: Overrides = NO_OVERRIDES,
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
        reached = read_endpoints(document)
    if overrides.preset is not None:
        spec = spec.model_copy(update={"preset": overrides.preset})
    spec = _by_environment(spec, environ, explicit=name_or_path in PRESETS or overrides.preset is not None)
    try:
        spec = spec if overrides.change_nothing else apply(spec, overrides)
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
    redaction = read_redaction(document)
    return windowed(LoadedPanel(resolved, reached, redaction, signed_by, outside=document.outside))


def windowed(loaded: LoadedPanel) -> LoadedPanel:
    """The panel with what the catalogue knows of its models written out.

    These are their windows, and by their list prices the order of asking, where the stop rule says so.
    """
    panel, endpoints = with_windows(loaded.panel, loaded.endpoints), loaded.endpoints
    if panel.stop is not None and panel.stop.last == "price":
        prices, on = load_prices().at_clouds(endpoints), list_prices_date()
        costs = {seat.juror_id: _cost(seat, prices, on) for seat in panel.seats}
        # Sorting keeps the order of seats that cost the same.
        order = tuple(sorted(panel.juror_ids, key=costs.__getitem__))
        panel = panel.model_copy(update={"stop": panel.stop.model_copy(update={"order": order})})
    return loaded._replace(resolved=loaded.resolved._replace(panel=panel))


def check_judge(panel: Panel, overrides: Overrides) -> None:
    """Refuse an override of the judge's model without effect."""
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
    return spec if variables.overrides is NO_OVERRIDES else apply(spec, variables.overrides)


def field_in(message: str) -> tuple[str | int, ...]:
    """The path of the field that a message of `resolve` begins with; () where it names none."""
    found = _FIELD.match(message)
    return () if found is None else tuple(int(part) if part.isdigit() else part for part in found[1].split("."))


def written_spec(document: PanelDocument) -> PanelSpec:
    """The panel as written, without what no rule of a debate reads."""
    try:
        return read_spec(document.without(PROVIDERS, REDACT))
    except PanelError as error:
        cause = error.__cause__
        field = first_error(cause.errors())["loc"] if isinstance(cause, ValidationError) else ()
        raise document.refused(field, readable_message(str(error))) from error


def recipient_lines(loaded: LoadedPanel, environ: Mapping[str, str] | None) -> tuple[str, ...]:
    """Who receives the cases (`recipients`)."""
    lines = (line for panel in loaded.panels for line in recipients(panel, loaded.endpoints, environ))
    return tuple(dict.fromkeys(lines))


class PanelRemarks(NamedTuple):
    """What is to be said of a panel before it judges, each line once.

    `notes`: which keys go where. `warnings`: which models end, which settings change nothing, which seats are alike.
    """

    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def panel_remarks(loaded: LoadedPanel, environ: Mapping[str, str], on: date) -> PanelRemarks:
    """The remarks, on this day. Of simulated jurors there are none: nothing leaves this machine."""
    if loaded.is_simulated:
        return PanelRemarks()
    notes, warnings = list[str](), retirement_warnings(loaded.models, on)
    for panel in loaded.panels:
        notes += key_destinations(panel, loaded.endpoints, environ)
        warnings += setting_warnings(panel, loaded.endpoints)
    alike = filter(None, map(same_model_warning, loaded.panels))
    return PanelRemarks(tuple(dict.fromkeys(notes)), tuple(dict.fromkeys([*warnings, *alike])))
