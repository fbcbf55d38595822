"""`jury simulate`: simulated models behind the providers' own HTTP protocols, to rehearse a run without a key."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.options import pairs
from jury_events.errors import SettingError
from jury_events.text.visible_text import visible_line

if TYPE_CHECKING:
    from jury_providers.simulated.http.counters import ServerCounters
    from jury_providers.simulated.script import Script

_EVERY = 10.0
"""Seconds between lines of counts, while there is something new to count."""

_MAX_BYTES = 1 << 20


@click.command("simulate")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="0 takes a free one.", show_default=True)
@click.option("--host", default="127.0.0.1", help="The address to listen at.", show_default=True)
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Chance, and the jurors' temper."
)
@click.option("--latency", type=float, default=0.0, show_default=True, help="Mean seconds of a call.")
@click.option("--sigma", type=float, default=0.5, show_default=True, help="Spread of the lognormal latency.")
@click.option(
    "--fault",
    "faults",
    metavar="NAME=RATE",
    multiple=True,
    callback=pairs,
    help="How often a fault strikes: an outcome such as rate_limited=0.1, unparseable, wrong_ballot, or a fault of the "
    "wire such as html, truncated_json, slow_drip. Repeatable.",
)
@click.option(
    "--scripted",
    is_flag=True,
    help="Fixed valid answers without reading the case, to measure a client at any rate. Not with --script.",
)
@click.option(
    "--script",
    "script_file",
    metavar="FILE",
    help="YAML: for a pattern such as initial/A, round-2/* or final, the faults of its calls, in order.",
)
def command(**options: Any) -> int:
    """Serve simulated models over HTTP, for the providers' own SDKs: OpenAI (chat and responses), Anthropic, Google.

    Prints the variables that lead them here, and serves until Ctrl-C. No model is called, whatever name is asked for;
    every response says so in the header x-jury-simulated.
    """
    return _simulate(**options)


def _simulate(
    *,
    port: int,
    host: str,
    seed: int,
    latency: float,
    sigma: float,
    faults: dict[str, str],
    script_file: str | None,
    scripted: bool,
) -> int:
    from jury_cli.interrupts import event_loop, until_interrupted
    from jury_providers.simulated.script import BadScript

    if scripted and script_file is not None:
        raise SettingError("--scripted reads no prompt, so no fault can be drawn by its step: leave out --script")
    script = _struck_by(faults)
    try:
        script = replace(script, latency=latency, sigma=sigma, seed=seed, answers="scripted" if scripted else "read")
    except BadScript as error:
        raise SettingError(f"--{error}") from error
    if script_file is not None:
        script = _scripted_by(script_file, script)

    async def work(stopping: asyncio.Event) -> None:
        await _serve(script, seed, host, port, stopping)

    with event_loop() as loop:
        loop.run(until_interrupted(work, says="jury: stopping"))
    return Exit.DONE


async def _serve(script: "Script", seed: int, host: str, port: int, stopping: asyncio.Event) -> None:
    from jury_cli.terminal import note
    from jury_providers.simulated.http.server import simulation_server

    async with simulation_server(script, seed, host=host, port=port) as simulation:
        for name, value in simulation.variables.items():
            print(f"export {name}={value}", flush=True)
        note(f"simulated: no model is called, whatever name is asked for; serving at {simulation.url} until Ctrl-C")
        if not simulation.loopback:
            note(f"{host} is no loopback address: anyone who reaches this machine can use the server")
        noted = 0
        while not stopping.is_set():
            try:
                await asyncio.wait_for(stopping.wait(), _EVERY)
            except TimeoutError:
                if simulation.served.requests != noted:
                    noted = simulation.served.requests
                    note(_line(simulation.served))
    note(_line(simulation.served))


def _line(served: "ServerCounters") -> str:
    from jury_events.text.pluralize import pluralize

    faults = ", ".join(f"{name} {count}" for name, count in sorted(served.by_fault.items())) or "none"
    return (
        f"simulated: {pluralize(served.requests, 'request')}, at most {served.in_flight_peak} at once, "
        f"{served.refused} refused; faults: {faults}"
    )


def _struck_by(faults: dict[str, str]) -> "Script":
    from jury_providers.simulated.script import BadScript, WireScript, parse_script

    for name in ("latency", "sigma", "seed", "answers"):
        if name in faults:
            raise SettingError(f"--fault {name}: that is no fault; use --{'scripted' if name == 'answers' else name}")
    try:
        return parse_script(faults, WireScript)
    except BadScript as error:
        raise SettingError(f"--fault {error}") from error


def _scripted_by(path: str, script: "Script") -> "Script":
    """With the faults of a file, pattern by pattern."""
    from jury_judge.panels.strict_yaml import InvalidYaml, read_yaml
    from jury_providers.simulated.script import BadScript

    name = visible_line(path, 1000)
    try:
        document = read_yaml(_text(path, name))
    except InvalidYaml as error:
        raise SettingError(f"{name}:{error.line}: {error}" if error.line else f"{name}: {error}") from error
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


def _text(path: str, name: str) -> str:
    from jury_events.regular_files import FileTooLarge, read_failure, read_text

    try:
        return read_text(Path(path), _MAX_BYTES)
    except FileTooLarge as error:
        raise SettingError(f"--script {name}: {error.strerror}; is this a table of faults?") from error
    except UnicodeDecodeError as error:
        raise SettingError(f"--script {name}: not UTF-8; save the file as UTF-8") from error
    except (OSError, ValueError) as error:
        raise SettingError(f"--script {name}: cannot be read: {read_failure(error)}") from error
