"""Simulated models behind the providers' own HTTP protocols, to rehearse a run without a key."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import Field

from jury_events.errors import SettingError
from jury_events.regular_files import FileTooLarge, read_failure, read_text
from jury_events.text import visible_line
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.panels.strict_yaml import InvalidYaml, YamlDocument, read_yaml
from jury_judge.settings_model import Option, SettingsModel
from jury_providers.simulated.http.batches.jobs import BatchJobs
from jury_providers.simulated.http.server import Simulation, simulation_server
from jury_providers.simulated.script import BadScript, Script, WireScript, parse_script

_MAX_BYTES = 1 << 20
_NO_FAULTS = {"latency": "{latency}", "sigma": "{sigma}", "seed": "{seed}", "answers": "{scripted}"}
"""Settings of a script that are fields of their own, in the words of a front door."""


class SimulationSettings(SettingsModel):
    """How simulated models behave."""

    seed: Annotated[int, Field(ge=0, lt=2**31), Option(help="Chance, and the jurors' temper.")] = 0
    latency: Annotated[float, Field(allow_inf_nan=True), Option(help="Mean seconds of a call.")] = 0.0
    sigma: Annotated[float, Field(allow_inf_nan=True), Option(help="Spread of the lognormal latency.")] = 0.5
    faults: Annotated[
        Mapping[str, str],
        Option(
            help="How often a fault strikes: an outcome such as rate_limited=0.1, unparseable, wrong_ballot, or a "
            "fault of the wire such as html, truncated_json, slow_drip. Repeatable.",
            name="--fault",
            metavar="NAME=RATE",
        ),
    ] = {}
    scripted: Annotated[
        bool,
        Option(
            help="Fixed valid answers without reading the case, to measure a client at any rate. Not with --script."
        ),
    ] = False
    script_file: Annotated[
        str | None,
        Option(
            help="YAML: for a pattern such as initial/A, round-2/* or final, the faults of its calls, in order.",
            name="--script",
            metavar="FILE",
        ),
    ] = None
    window: Annotated[
        Annotated[int, Field(ge=1)] | None,
        Option(
            help="What a prompt and its answer may have together: a longer prompt is refused as too long. Default: "
            "unlimited.",
            metavar="TOKENS",
        ),
    ] = None
    batch_seconds: Annotated[
        float,
        Field(ge=0, le=1_000_000),
        Option(help="From the submission of a batch to its end."),
    ] = 0.0

    def model_post_init(self, context: object) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.scripted and self.script_file is not None:
            raise SettingsRefused(
                "{scripted} reads no prompt, so no fault can be drawn by its step: leave out {script_file}",
                usage=False,
            )

    def script(self) -> Script:
        """The latency and the faults of every call."""
        script = self._struck()
        answers = "scripted" if self.scripted else "read"
        try:
            script = replace(script, latency=self.latency, sigma=self.sigma, seed=self.seed, answers=answers)
        except BadScript as error:
            field, colon, said = str(error).partition(":")
            raise SettingsRefused(f"{{{field}}}{colon}{escaped(said)}", usage=False) from error
        return script if self.script_file is None else _scripted_by(self.script_file, script)

    def _struck(self) -> Script:
        for name, field in _NO_FAULTS.items():
            if name in self.faults:
                raise SettingsRefused(f"{{faults}} {name}: that is no fault; use {field}", usage=False)
        try:
            return parse_script(self.faults, WireScript)
        except BadScript as error:
            raise SettingsRefused(f"{{faults}} {escaped(str(error))}", usage=False) from error


@asynccontextmanager
async def simulated_models(
    settings: SimulationSettings, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[Simulation]:
    """Serve simulated models in this event loop while the context lasts: OpenAI, Anthropic and Google protocols."""
    script, seed, window = settings.script(), settings.seed, settings.window
    batches = partial(BatchJobs, seconds=settings.batch_seconds)
    async with simulation_server(script, seed, host=host, port=port, window=window, batches=batches) as simulation:
        yield simulation


def _scripted_by(path: str, script: Script) -> Script:
    """With the faults of a file, pattern by pattern."""
    name = visible_line(path, 1000)
    document = _document(name, _text(path, name, "script_file"))
    if not isinstance(document.data, dict):
        raise SettingError(f"{name}: must be a table of patterns, each with a list of faults, as in final: [timeout]")
    scripted: dict[str, tuple[str, ...]] = {}
    for pattern, faults in document.data.items():
        place = f"{name}:{document.line([pattern])}"
        if (
            not isinstance(pattern, str)
            or not isinstance(faults, list)
            or not all(isinstance(one, str) for one in faults)
        ):
            raise SettingError(f"{place}: a pattern has a list of faults, as in final: [timeout, html]")
        scripted[pattern] = tuple(faults)
        try:
            script = replace(script, scripted=scripted)
        except BadScript as error:
            raise SettingError(f"{place}: {error}") from error
    return script


def _document(name: str, text: str) -> YamlDocument:
    try:
        return read_yaml(text)
    except InvalidYaml as error:
        raise SettingError(f"{name}:{error.line}: {error}" if error.line else f"{name}: {error}") from error


def _text(path: str, name: str, setting: str) -> str:
    shown = escaped(name)
    try:
        return read_text(Path(path), _MAX_BYTES)
    except FileTooLarge as error:
        why = f"{error.strerror}; is this a table of faults?"
        raise SettingsRefused(f"{{{setting}}} {shown}: {escaped(why)}", usage=False) from error
    except UnicodeDecodeError as error:
        raise SettingsRefused(f"{{{setting}}} {shown}: not UTF-8; save the file as UTF-8", usage=False) from error
    except (OSError, ValueError) as error:
        why = escaped(read_failure(error))
        raise SettingsRefused(f"{{{setting}}} {shown}: cannot be read: {why}", usage=False) from error
