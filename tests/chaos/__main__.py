"""The long campaign: hundreds of strikes of every kind, drawn by a seed; a report as JSON and as a Markdown table.

`uv run --group test python -m chaos --help`, from the folder `tests`.
"""

import json
import os
import platform
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path

import click

from chaos.ground import CannotStrike, Ground, shared_ground
from chaos.playing import play
from chaos.report import table
from chaos.scenario import Scenario, ScenarioReport
from chaos.strikes import KINDS
from support.postgres import NoPostgres

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

ON_RAY = ("ray", "nodes")
ON_RAY_EVERY = 6
"""A scenario on Ray takes ten times the CPU of one in a process: in every so many rounds each kind on Ray has one."""


@click.command()
@click.option("--strikes", default=300, show_default=True, help="Ends once so many faults were made.")
@click.option("--seed", default=1, show_default=True, help="Draws the moments.")
@click.option("--minutes", type=float, help="Begins no scenario after so long.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), help="Only these. Repeatable.")
@click.option(
    "--cold", is_flag=True, help="Start every command anew; else it is forked from a process with its modules."
)
@click.option("--report", type=click.Path(path_type=Path), required=True, help="The JSON report, written as it grows.")
def campaign(
    *, strikes: int, seed: int, minutes: float | None, kinds: tuple[str, ...], cold: bool, report: Path
) -> None:
    """Strike runs of the real command line until so many faults were made; prints the table."""
    began = datetime.now(UTC)
    until = time.monotonic() + 60 * (minutes or 10**6)
    found: list[ScenarioReport] = []
    impossible: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="chaos-", dir="/tmp") as folder, shared_ground(Path(folder)) as ground:
        for number, kind in enumerate(_order(kinds or tuple(KINDS))):
            if sum(one.struck for one in found) >= strikes or time.monotonic() > until:
                break
            if kind in impossible:
                if len(impossible) == len(kinds or KINDS):
                    break
                continue
            played = _played(ground, _scenario(kind, seed, number, warm=not cold), impossible)
            if played is None:
                continue
            found.append(played)
            click.echo(f"{number}: {kind}: {played.struck} strikes {' | '.join(played.violations)}", err=True)
            _write(report, began, found, impossible)
    click.echo(table(found))
    for kind, reason in impossible.items():
        click.echo(f"not made: {kind}: {reason}", err=True)
    sys.exit(any(one.violations for one in found))


def _order(kinds: tuple[str, ...]):
    """Kinds without end: in one process in every round, on Ray in every sixth, beginning with the second."""
    for round_ in cycle(range(ON_RAY_EVERY)):
        yield from (kind for kind in kinds if KINDS[kind].where not in ON_RAY)
        yield from (kind for kind in kinds if KINDS[kind].where in ON_RAY and round_ == 1)


def _scenario(kind: str, seed: int, number: int, *, warm: bool) -> Scenario:
    """Few strikes where each costs a start of Ray. Ten deaths of an actor within two minutes end a call with 4."""
    scenario = Scenario(kind, seed * 100_000 + number, number, cases=12, strikes=8, warm=warm)
    if KINDS[kind].where == "ray":
        return replace(scenario, strikes=5, cases=12)
    if KINDS[kind].where == "served":
        return replace(scenario, strikes=6, cases=20)
    return replace(scenario, strikes=10, cases=24) if KINDS[kind].where == "nodes" else scenario


def _played(ground: Ground, scenario: Scenario, impossible: dict[str, str]) -> ScenarioReport | None:
    try:
        return play(ground, scenario)
    except (CannotStrike, NoPostgres) as error:
        impossible[scenario.kind] = str(error)
        return None
    except Exception as error:  # noqa: BLE001  (a scenario that breaks is a finding; the others go on)
        return ScenarioReport(scenario, violations=[f"the scenario broke: {error!r}"])


def _write(path: Path, began: datetime, found: list[ScenarioReport], impossible: dict[str, str]) -> None:
    path.write_text(
        json.dumps(
            {
                "began": began.isoformat(timespec="seconds"),
                "ended": datetime.now(UTC).isoformat(timespec="seconds"),
                "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
                "python": platform.python_version(),
                "strikes": sum(one.struck for one in found),
                "violations": sum(len(one.violations) for one in found),
                "not_made": impossible,
                "scenarios": [one.as_json() for one in found],
            },
            indent=1,
        )
        + "\n"
    )


if __name__ == "__main__":
    campaign()
