"""`jury simulate`: simulated models behind the providers' own HTTP protocols, to rehearse a run without a key."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import fields
from jury_cli.terminal import note
from jury_events.text import pluralize

if TYPE_CHECKING:
    from jury_judge import Simulation
    from jury_judge.simulation import SimulationSettings

_EVERY = 10.0
"""Seconds between lines of counts, while there is something new to count."""


@click.command("simulate")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="0 takes a free one.", show_default=True)
@click.option("--host", default="127.0.0.1", help="The address to listen at.", show_default=True)
@options(fields("SimulationSettings"))
def command(*, host: str, port: int, **given: Any) -> int:
    """Serve simulated models over HTTP, for the providers' own SDKs: OpenAI (chat and responses), Anthropic, Google.

    Prints the variables that lead them here, and serves until Ctrl-C. No model is called, whatever name is asked for;
    every response says so in the header x-jury-simulated.
    """
    from jury_cli.event_loops import event_loop, until_interrupted
    from jury_judge.simulation import SimulationSettings

    settings = SimulationSettings.of(**given)
    with event_loop() as loop:
        loop.run(until_interrupted(partial(_serve, settings, host, port), says="jury: stopping"))
    return Exit.DONE


async def _serve(settings: "SimulationSettings", host: str, port: int, stopping: asyncio.Event) -> None:
    from jury_judge.simulation import simulated_models

    async with simulated_models(settings, host=host, port=port) as simulation:
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
                    note(_line(simulation))
    note(_line(simulation))


def _line(simulation: "Simulation") -> str:
    served = simulation.served
    faults = ", ".join(f"{name} {count}" for name, count in sorted(served.by_fault.items())) or "none"
    return (
        f"simulated: {pluralize(served.requests, 'request')}, at most {served.in_flight_peak} at once, "
        f"{served.refused} refused; faults: {faults}"
    )
