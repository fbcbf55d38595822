"""`jury doctor`: what is installed, reachable and configured."""

from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, aclosing
from typing import TYPE_CHECKING

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE

if TYPE_CHECKING:
    from jury_judge import DiagnosisFinding


@click.command("doctor")
@options(STORE)
@click.option("--panel", "panel_name", metavar="FILE|NAME", help="Look at this panel, as `jury run` takes it.")
@click.option(
    "--probe", is_flag=True, help="Call each model of the panel once, for real, with a tiny question: it may cost."
)
@click.option(
    "--write",
    is_flag=True,
    help="With --probe: write into the panel file how its servers of Chat Completions take calls.",
)
@click.option(
    "--ray-address",
    metavar="HOST:PORT",
    help="Look whether this Ray cluster can be joined (it must ask for a token, and accept yours), and whether each of "
    "its nodes can run jurors: releases, keys, the store.",
)
def command(store_url: str | None, panel_name: str | None, ray_address: str | None, *, probe: bool, write: bool) -> int:
    """Check what is installed, reachable and configured. Keys are named, never shown.

    Exits with 2 on a problem, with 4 when a seat's model, or the final judge's, does not answer a probe.
    """
    from jury_cli.event_loops import run_interruptibly
    from jury_judge import Diagnosis
    from jury_judge.settings.judging import ClusterSettings

    if write and not probe:
        raise click.UsageError("--write needs --probe: it writes what the calls find out")

    ClusterSettings.of(ray_address=ray_address)
    diagnosis = Diagnosis(store_url, panel=panel_name, ray_address=ray_address, joined=_joined, threads=False)
    call(_print_findings(diagnosis.findings()))
    if probe and diagnosis.ready and not run_interruptibly(lambda: _print_findings(diagnosis.probe(write=write))):
        return Exit.STOPPED
    return Exit.DONE if diagnosis.sound else Exit.USAGE


def _joined(address: str) -> AbstractContextManager[None]:
    from jury_cli.event_loops import ray_started

    return ray_started(address, open_cluster=False)


async def _print_findings(findings: "AsyncGenerator[DiagnosisFinding, None]") -> bool:
    """Print each finding at once; returns whether none is a problem."""
    marks = set()
    async with aclosing(findings) as found:
        async for mark, line in found:
            marks.add(mark)
            print(f"{mark:<8} {line}", flush=True)
    return "problem" not in marks
